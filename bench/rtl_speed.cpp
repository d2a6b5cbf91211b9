// How fast a Verilated core runs: cycles per CPU second on layers of different kinds, without the
// golden.
//   rtl_speed HW.yaml ws|is|os [--assertions] [TREE]
// --assertions: with those of rtl/ bound, as `accsim verify --assertions` has them.
// TREE: where rtl/ and hw/cosim/ lie, to compare two versions of the core.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <optional>
#include <random>
#include <string_view>

#include "hw/config/load.h"
#include "hw/cosim/cosim.h"
#include "sim/map/product/gemm_space.h"
#include "tests/support/gemms.h"

namespace accsim::sim {
namespace {

int fail(const Errors& errors) {
  for (const Error& e : errors) fmt::print(stderr, "rtl_speed: error: {}\n", e.text());
  return 2;
}

std::optional<hw::Dataflow> dataflow(std::string_view name) {
  if (name == "ws") return hw::Dataflow::weight_stationary;
  if (name == "is") return hw::Dataflow::input_stationary;
  if (name == "os") return hw::Dataflow::output_stationary;
  return std::nullopt;
}

hw::Program program(const GemmOp& op, const hw::HwConfig& hw, hw::Dataflow flow) {
  GemmProblem p = make_problem(op, hw);
  p.a = {"a", hw::MemoryId::dram, false};
  p.b = {"b", hw::MemoryId::dram, true};
  p.parameters = {"parameters", hw::MemoryId::dram, true};
  p.out = {"out", hw::MemoryId::dram, false};
  p.has_parameters = true;
  hw::Program out = emit(p, hw, tiling_candidates(p, hw, {.dataflows = {flow}}, {}).at(0).tiling);
  out.name = fmt::format("{}x{}x{} k{}", op.m(), op.channels, op.outputs, op.kernel[1]);
  return out;
}

int run(int argc, char** argv) {
  const bool assertions = argc > 3 && std::string_view(argv[3]) == "--assertions";
  const int words = argc - assertions;
  const std::optional<hw::Dataflow> flow =
      words == 3 || words == 4 ? dataflow(argv[2]) : std::nullopt;
  if (!flow) {
    fmt::print(stderr, "usage: rtl_speed HW.yaml ws|is|os [--assertions] [TREE]\n");
    return 2;
  }
  const auto hw = hw::load_hw(argv[1]);
  if (!hw) return fail(hw.errors());
  const hw::VerilatedCoreOptions options{
      .source_dir = words == 4 ? argv[argc - 1] : ACCSIM_SOURCE_DIR,
      .cache_dir = ACCSIM_VARIANTS,
      .compiler = ACCSIM_RTL_COMPILER,
      .assertions = assertions};
  const auto core = hw::VerilatedCore::load(*hw, *flow, options);
  if (!core) return fail(core.errors());
  int64_t cycles = 0;
  double seconds = 0;
  for (const GemmOp& op :
       {test::convolution({.channels = 64, .size = 56, .outputs = 64, .kernel = 3, .pad = 1}),
        test::product(256, 1024, 512),
        test::convolution({.channels = 256, .size = 14, .outputs = 512})}) {
    const hw::Program one = program(op, *hw, *flow);
    std::mt19937 random(1);
    hw::MemoryImage image;
    for (const hw::ProgramTensor& t : one.tensors) {
      image.emplace_back(static_cast<size_t>(t.bytes));
      for (uint8_t& b : image.back()) b = static_cast<uint8_t>(random());
    }
    const std::clock_t start = std::clock();
    const auto result = hw::cosim(one, *hw, **core, image, {.waveform = {}, .check_golden = false});
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
}  // namespace accsim::sim

int main(int argc, char** argv) { return accsim::sim::run(argc, argv); }
