#include "hw/area/area.h"

#include <algorithm>

namespace accsim::hw {
namespace {

struct Arithmetic {
  double multiply, add;  ///< um2
};

Arithmetic arithmetic(DType operand) {
  switch (operand) {
    case DType::int16:
      return {4 * 282.0, 137};
    case DType::float16:
    case DType::bfloat16:
      return {1640, 4184};  // products of two bytes, sums of four
    case DType::float32:
      return {7700, 4184};
    default:
      return {282, 137};
  }
}

constexpr double kFlipFlop = 4.52, kBitCell = 0.346, kEfficiency = 0.5;  // um2
constexpr double kLane = 3495 + 137;                                     // um2
constexpr double kInterface = 2 * 0.03 * 331 / 34;                       // mm2 for a GB/s

double real(int64_t v) { return static_cast<double>(v); }

}  // namespace

int64_t sram_bytes(const HwConfig& hw) {
  int64_t kib = hw.shared.kib;
  for (const BufferConfig& b : hw.buffers) kib += b.kib;
  return kib * 1024;
}

double area_mm2(const HwConfig& hw) {
  const Arithmetic a = arithmetic(hw.types.activation), w = arithmetic(hw.types.weight);
  const int64_t operand = std::max(hw.activation_bytes(), hw.weight_bytes());
  const double registers = real(8 * (3 * operand + hw.accumulator_bytes())) * kFlipFlop;
  const double element = std::max(a.multiply, w.multiply) + std::max(a.add, w.add) + registers;
  int64_t lanes = 0;
  for (const int64_t n : hw.vector.lanes) lanes = std::max(lanes, n);  // classes share the lanes
  const double um2 = real(hw.array.rows * hw.array.cols) * element + real(lanes) * kLane +
                     real(8 * sram_bytes(hw)) * (kBitCell / kEfficiency);
  const double gigabytes = (hw.dram.read.value() + hw.dram.write.value()) * hw.clock_mhz / 1000;
  return um2 / 1e6 + gigabytes * kInterface;
}

}  // namespace accsim::hw
