// How fast a Verilated core runs: cycles per CPU second on layers of different kinds, without the
// golden.
//   rtl_speed HW.yaml ws|is|os [TREE]
// TREE: where rtl/ and hw/cosim/ lie, to compare two versions of the core.
#include <cstdio>
#include <ctime>
#include <optional>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "hw/config/load.h"
#include "hw/cosim/cosim.h"
#include "sim/map/gemm_space.h"
#include "tests/support/gemms.h"

namespace accsim {
namespace {

int fail(const Errors& errors) {
  for (const Error& e : errors) fmt::print(stderr, "rtl_speed: error: {}\n", e.text());
  return 2;
}

std::optional<Dataflow> dataflow(std::string_view name) {
  if (name == "ws") return Dataflow::weight_stationary;
  if (name == "is") return Dataflow::input_stationary;
  if (name == "os") return Dataflow::output_stationary;
  return std::nullopt;
}

Program program(const GemmOp& op, const HwConfig& hw, Dataflow flow) {
  GemmProblem p = make_problem(op, hw);
  p.a = {"a", Memory::dram, false};
  p.b = {"b", Memory::dram, true};
  p.parameters = {"parameters", Memory::dram, true};
  p.out = {"out", Memory::dram, false};
  p.has_parameters = true;
  Program out = emit(p, hw, candidates(p, hw, {.dataflows = {flow}}, {}).at(0).tiling);
  out.name = fmt::format("{}x{}x{} k{}", op.m(), op.channels, op.outputs, op.kernel[1]);
  return out;
}

int run(int argc, char** argv) {
  const std::optional<Dataflow> flow = argc == 3 || argc == 4 ? dataflow(argv[2]) : std::nullopt;
  if (!flow) {
    fmt::print(stderr, "usage: rtl_speed HW.yaml ws|is|os [TREE]\n");
    return 2;
  }
  const auto hw = load_hw(argv[1]);
  if (!hw) return fail(hw.errors());
  const VariantOptions options{.source_dir = argc == 4 ? argv[3] : ACCSIM_SOURCE_DIR,
                               .cache_dir = ACCSIM_VARIANTS,
                               .compiler = ACCSIM_RTL_COMPILER};
  const auto core = Variant::load(*hw, *flow, options);
  if (!core) return fail(core.errors());
  int64_t cycles = 0;
  double seconds = 0;
  for (const GemmOp& op : {test::convolution(1, 64, 56, 64, 3, 1, 1), test::product(256, 1024, 512),
                           test::convolution(1, 256, 14, 512, 1, 1, 0)}) {
    const Program one = program(op, *hw, *flow);
    std::mt19937 random(1);
    MemoryImage image;
    for (const ProgramTensor& t : one.tensors) {
      image.emplace_back(static_cast<size_t>(t.bytes));
      for (uint8_t& b : image.back()) b = static_cast<uint8_t>(random());
    }
    const std::clock_t start = std::clock();
    const auto result = cosim(one, *hw, **core, image, {.trace = {}, .check_golden = false});
    const double passed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (!result) return fail(result.errors());
    fmt::print("{:<18} {:>10} cycles {:>10.0f} cycles a CPU second {}\n", one.name,
               result->rtl_cycles, static_cast<double>(result->rtl_cycles) / passed,
               result->first_difference);
    cycles += result->rtl_cycles;
    seconds += passed;
  }
  fmt::print("{:<18} {:>10} cycles {:>10.0f} cycles a CPU second\n", argv[2], cycles,
             static_cast<double>(cycles) / seconds);
  return 0;
}

}  // namespace
}  // namespace accsim

int main(int argc, char** argv) { return accsim::run(argc, argv); }
