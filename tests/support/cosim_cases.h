#pragma once
#include <cstring>
#include <random>
#include <string>

#include "hw/golden/golden.h"
#include "hw/random/scatter_loads.h"
#include "sim/map/product/gemm_space.h"
#include "sim/work/random_gemm.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::test {

/// A machine of a shape that is Verilated once; rates and latencies don't change the core.
inline hw::HwConfig cosim_machine(int64_t rows, int64_t cols, int64_t slots, int64_t width,
                                  hw::Dataflow dataflow) {
  hw::HwConfig hw = small_machine(rows, cols);
  hw.array.dataflows = {dataflow};
  hw.vector.lanes[1] = 3;  // fewer have exponentials than there are, and weigh taps
  hw.vector.mac_lanes = 5;
  for (hw::BufferConfig& b : hw.buffers) {
    const int64_t scale = (rows + cols + 15) / 16;
    b.kib = (b.kib * slots + 1) / 2 * scale;
    b.kib = (b.kib + slots - 1) / slots * slots;
    b.slots = slots;
    if (b.width > 0) b.width = width;
  }
  return hw;
}

struct CosimCase {
  hw::HwConfig hw;
  hw::Program program;
  hw::MemoryImage image;
  std::string text;
};

/// Random parameters of a channel: biases within the sums' range, scales that hit int8, now and
/// then extremes.
inline void random_parameters(std::vector<uint8_t>& table, std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return static_cast<int32_t>(std::uniform_int_distribution<int64_t>(low, high)(random));
  };
  for (size_t at = 0; at + 12 <= table.size(); at += 12) {
    const bool extreme = pick(0, 15) == 0;
    const int32_t words[3] = {extreme ? pick(INT32_MIN, INT32_MAX) : pick(-5000, 5000),
                              extreme ? pick(INT32_MIN, INT32_MAX) : pick(1 << 20, 1 << 24),
                              extreme ? pick(0, 62) : pick(26, 34)};
    std::memcpy(&table[at], words, sizeof words);
  }
}

/// A random product or convolution in a random tiling that fits, with random rates, latencies,
/// data; half of them with loads of both memories. The program is empty when nothing fits.
inline CosimCase random_case(const hw::HwConfig& machine, hw::Dataflow dataflow,
                             std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  CosimCase out;
  out.hw = machine;
  out.hw.dram = {{pick(200, 40000)}, {pick(200, 40000)}, pick(0, 3) == 0 ? 0 : pick(0, 200)};
  out.hw.shared = {16 * 1024, {{pick(2000, 40000)}, {pick(2000, 40000)}, pick(0, 20)}};
  GemmProblem p = make_problem(random_gemm(random), out.hw);
  const auto place = [&](const char* name, bool constant) {
    return Place{name, pick(0, 3) == 0 ? hw::MemoryId::shared : hw::MemoryId::dram, constant};
  };
  p.a = place("a", false);
  p.b = place("b", pick(0, 3) > 0);
  p.parameters = place("parameters", true);
  p.out = place("out", false);
  p.has_parameters = true;
  p.parameter_bytes = out.hw.parameter_bytes();
  p.epilogue.relu = pick(0, 1) == 0;
  p.a_zero = static_cast<int32_t>(pick(-128, 127));
  p.epilogue.zero = static_cast<int32_t>(pick(-128, 127));
  const auto all = tiling_candidates(p, out.hw, {.dataflows = {dataflow}}, {});
  if (all.empty()) return out;
  const Tiling& t = all[static_cast<size_t>(pick(0, static_cast<int64_t>(all.size()) - 1))].tiling;
  if (t.im2col) return out;
  out.program = emit(p, out.hw, t);
  out.program.name = "random";
  out.text = to_string(t);
  for (const hw::ProgramTensor& tensor : out.program.tensors) {
    std::vector<uint8_t>& bytes = out.image.emplace_back(static_cast<size_t>(tensor.bytes));
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    if (tensor.name == "parameters") random_parameters(bytes, random);
  }
  if (pick(0, 1) == 0) return out;
  hw::scatter_loads(out.program, out.image, random);
  out.text += ", loads of both memories";
  return out;
}

}  // namespace accsim::test
