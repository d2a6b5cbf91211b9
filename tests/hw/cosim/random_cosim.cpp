// Run by hand: N random programs on a variant of the core, values against the golden and cycles
// against the timing model.
//   random_cosim SOURCE_DIR CACHE_DIR VARIANT DATAFLOW COUNT SEED [COMPILER]
// VARIANT: ROWSxCOLS[:SLOTS[:WIDTH]], DATAFLOW: ws, is or os.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "hw/cosim/cosim.h"
#include "sim/map/gemm_space.h"
#include "tests/support/cosim_cases.h"

namespace accsim {
namespace {

int fail(const Errors& errors) {
  for (const Error& e : errors) fmt::print("error: {}\n", e.text());
  return 1;
}

int run(int argc, char** argv) {
  if (argc < 7) {
    fmt::print("usage: random_cosim SOURCE_DIR CACHE_DIR ROWSxCOLS[:SLOTS[:WIDTH]] ws|is|os COUNT "
               "SEED [COMPILER] [TRACE]\n");
    return 2;
  }
  int rows = 4, cols = 4, slots = 2, width = 16;
  std::sscanf(argv[3], "%dx%d:%d:%d", &rows, &cols, &slots, &width);
  const std::string_view flow = argv[4];
  const Dataflow dataflow = flow == "ws"   ? Dataflow::weight_stationary
                            : flow == "is" ? Dataflow::input_stationary
                                           : Dataflow::output_stationary;
  const int count = std::atoi(argv[5]);
  const auto seed = static_cast<unsigned>(std::atoi(argv[6]));
  VariantOptions options{.source_dir = argv[1], .cache_dir = argv[2]};
  if (argc > 7) options.compiler = argv[7];
  options.trace = argc > 8;
  HwConfig hw = test::cosim_machine(rows, cols, slots, width, dataflow);
  const auto variant = Variant::load(hw, dataflow, options);
  if (!variant) return fail(variant.errors());
  int64_t cycles = 0, commands = 0;
  int different = 0, done = 0;
  double seconds = 0;
  for (int i = 0; i < count; ++i) {
    std::mt19937 random(seed * 100003u + static_cast<unsigned>(i));
    test::CosimCase one = test::random_case(hw, dataflow, random);
    if (one.program.body.empty()) continue;
    if (const Status s = verify(one.program, one.hw); !s) return fail(s.errors());
    const auto start = std::chrono::steady_clock::now();
    const auto result = cosim(one.program, one.hw, **variant, one.image,
                              {.trace = argc > 8 ? argv[8] : ""});
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!result) {
      if (result.errors()[0].code == Errc::unsupported) continue;
      fmt::print("case {}: {}\n{}", i, one.text, print(one.program));
      return fail(result.errors());
    }
    ++done;
    cycles += result->rtl_cycles;
    commands += result->commands;
    if (result->equal()) continue;
    ++different;
    fmt::print("case {}: {}: rtl {} model {} values {}: {}\n", i, one.text, result->rtl_cycles,
               result->model_cycles, result->values_equal ? "equal" : "different",
               result->first_difference);
    if (different == 1 && argc > 8) {
      fmt::print("{}", print(one.program));
      return 1;
    }
  }
  fmt::print("{} {}: {} programs, {} commands, {} cycles, {} different; {:.0f} cycles/s with golden\n",
             argv[3], flow, done, commands, cycles, different,
             static_cast<double>(cycles) / seconds);
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace accsim

int main(int argc, char** argv) { return accsim::run(argc, argv); }
