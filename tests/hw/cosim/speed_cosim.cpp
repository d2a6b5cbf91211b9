// Run by hand: cycles per second of a variant on a convolution layer, golden left out.
//   speed_cosim SOURCE_DIR CACHE_DIR ROWSxCOLS ws|is|os [COMPILER]
#include <cstdio>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include "hw/cosim/cosim.h"
#include "sim/map/gemm_space.h"
#include "tests/support/cosim_cases.h"

namespace accsim {
namespace {

/// The shape of configs/64x64.yaml.
HwConfig machine(int64_t rows, int64_t cols, Dataflow dataflow) {
  HwConfig hw = test::small_machine(rows, cols);
  hw.array.dataflows = {dataflow};
  constexpr std::array<int64_t, kBuffers> kKib = {256, 256, 16, 256, 128};
  constexpr std::array<int64_t, kBuffers> kWidth = {128, 128, 64, 0, 128};
  for (size_t b = 0; b < kBuffers; ++b) hw.buffers[b] = {kKib[b], 2, kWidth[b]};
  hw.dram = {{102400}, {51200}, 100};
  return hw;
}

int run(int argc, char** argv) {
  if (argc < 5) {
    fmt::print("usage: speed_cosim SOURCE_DIR CACHE_DIR ROWSxCOLS ws|is|os [COMPILER]\n");
    return 2;
  }
  int rows = 64, cols = 64;
  std::sscanf(argv[3], "%dx%d", &rows, &cols);
  const std::string_view flow = argv[4];
  const Dataflow dataflow = flow == "ws"   ? Dataflow::weight_stationary
                            : flow == "is" ? Dataflow::input_stationary
                                           : Dataflow::output_stationary;
  VariantOptions options{.source_dir = argv[1], .cache_dir = argv[2]};
  if (argc > 5) options.compiler = argv[5];
  const HwConfig hw = machine(rows, cols, dataflow);
  const auto variant = Variant::load(hw, dataflow, options);
  if (!variant) return fmt::print("{}\n", variant.errors()[0].text()), 1;
  for (const GemmOp& op : {test::convolution(1, 64, 56, 64, 3, 1, 1), test::product(256, 1024, 512),
                           test::convolution(1, 256, 14, 512, 1, 1, 0)}) {
    GemmProblem p = make_problem(op, hw);
    p.a = {"a", Memory::dram, false};
    p.b = {"b", Memory::dram, true};
    p.parameters = {"parameters", Memory::dram, true};
    p.out = {"out", Memory::dram, false};
    p.has_parameters = true;
    p.parameter_bytes = hw.parameter_bytes();
    const auto all = candidates(p, hw, {.dataflows = {dataflow}}, {});
    const Program program = emit(p, hw, all.front().tiling);
    MemoryImage image;
    for (const ProgramTensor& t : program.tensors) {
      image.emplace_back(static_cast<size_t>(t.bytes));
      for (uint8_t& b : image.back()) b = static_cast<uint8_t>(std::rand());
    }
    const std::clock_t start = std::clock();
    const auto result = cosim(program, hw, **variant, image, {.trace = {}, .check_golden = false});
    const double seconds =
        static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
    if (!result) return fmt::print("{}\n", result.errors()[0].text()), 1;
    fmt::print("{}: {} commands, {} cycles, model {}; {:.0f} cycles a CPU second {}\n",
               to_string(all.front().tiling), result->commands, result->rtl_cycles,
               result->model_cycles, static_cast<double>(result->rtl_cycles) / seconds,
               result->first_difference);
  }
  return 0;
}

}  // namespace
}  // namespace accsim

int main(int argc, char** argv) { return accsim::run(argc, argv); }
