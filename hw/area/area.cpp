#include "hw/area/area.h"

#include <algorithm>
#include <utility>

#include "hw/config/buffer_memory.h"
#include "hw/config/type_modes.h"
#include "hw/program/contract.h"

namespace accsim::hw {
namespace {

struct Arithmetic {
  double multiply, add;  ///< um2
};

Arithmetic arithmetic_um2(DType operand) {
  switch (operand) {
    case DType::int16:
      return {4 * 282.0, 137};
    case DType::float16:
    case DType::bfloat16:
      return {1640, 4184};  // products of two bytes, sums of four
    case DType::float8e4m3fn:
    case DType::float8e5m2:
      return {282, 4184};  // significands of 4 or 3 bits, exponents to add
    case DType::float32:
      return {7700, 4184};
    default:
      return {282, 137};
  }
}

constexpr double kFlipFlop = 4.52, kBitCell = 0.346, kEfficiency = 0.5;    // um2
constexpr double kMultiplyBit = 3495.0 / (32 * 32), kAddBit = 137.0 / 32;  // um2
constexpr double kInterface = 2 * 0.03 * 331 / 34;                         // mm2 for a GB/s

// Of rtl/, as Yosys counts them: registers, adders, multipliers (scripts/rtl_cells).
constexpr CoreCells kVectorLane{1358, 873, 512 + 144 + 768 + 136 + 81 + 144 + 2 * 1024};
constexpr CoreCells kExponential{106, 145, 0};  // of a vector lane that has them
constexpr CoreCells kRowLane{226, 132, 0};      // a division and a root
// Of a vector lane that weighs taps, with its scale; then the walk over scales.
constexpr CoreCells kMac{212, 62, 9 * 9 + 32 * 16 + 16 * 16};
constexpr CoreCells kScaleWalk{448, 1088, 0};
constexpr CoreCells kPostLane{535, 291, 1024 + 144};
constexpr CoreCells kColumn{45, 32, 0};  // its accumulator
constexpr CoreCells kRow{45, 0, 0};
// The products of a row's length, sums and root; then those of its logarithm.
constexpr CoreCells kOnce{35208, 19917,
                          144 + 17 * 32 + 25 * 25 + 1024 + 25 * 32 + 21 * 31 + 17 * 10};
constexpr int64_t kAlign = 50;  // adders for a lane of the weight operand
constexpr int64_t kTables =
    8 * (2 * 256 + 512 + 560);  // of posts, lanes, exponentials; rows' state

// Gate equivalents of tests/hw/area/gates.txt (scripts/synthesize).
constexpr double kArrayGates = 83973.0 / 64, kOutputStationaryGates = 138146.0 / 64;  // of 8 x 8
constexpr double kPostGates = 19636 + 4141, kVectorGates = 32283, kRowGates = 39550;  // a lane
constexpr double kExponentialGates = 43193 - kRowGates;
constexpr double kMacGates = 41307 - 32283 + 1164;
// Of the cells that scripts/synthesize maps to, by its NAND2: a flip-flop with the multiplexer of
// its enable, two exclusive ors and three gates, and such an adder with an AND.
constexpr double kFlipFlopGates = (96.0 + 48) / 24, kAdderGates = (2 * 56.0 + 3 * 32) / 24;
constexpr double kProductGates = 32.0 / 24 + kAdderGates;
constexpr double kUtilisation = 0.7;

double real(int64_t v) { return static_cast<double>(v); }

void add_cells(CoreCells& to, const CoreCells& from, int64_t times) {
  to.registers += from.registers * times;
  to.adders += from.adders * times;
  to.multipliers += from.multipliers * times;
}

/// Bits of two memories' transposers, two blocks each of the widest of their buffers.
int64_t transposer_bits(const HwConfig& hw) {
  int64_t most = 0;
  for (const auto& [b, element] : {std::pair{Buffer::activation, hw.activation_bytes()},
                                   std::pair{Buffer::weight, hw.weight_bytes()},
                                   std::pair{Buffer::output, hw.activation_bytes()}}) {
    const int64_t side = std::min(hw.array.cols, hw.buffer(b).width / element);
    most = std::max(most, side * side * element * 8);
  }
  return 2 * 2 * most;
}

/// A processing element: what the mode that takes the most of each part takes.
double element_um2(const HwConfig& hw) {
  double multiply = 0, add = 0, operand_bits = 0;
  for (int i = 0; i < mode_count(hw); ++i) {
    const TypeMode m = type_mode(hw, i - 1);
    const Arithmetic a = arithmetic_um2(m.activation), w = arithmetic_um2(m.weight);
    // Of a rate below 1, elements share one multiplier and one adder.
    multiply = std::max(multiply, m.rate * std::max(a.multiply, w.multiply));
    add = std::max(add, m.rate * std::max(a.add, w.add));
    // Weights of int4 are widened in front of the array.
    const int bits = std::max({accsim::bits(m.activation), accsim::bits(m.weight), 8});
    operand_bits = std::max(operand_bits, m.rate * bits);
  }
  // Products of a dot product meet in a tree, which has one sum.
  const double sums = hw.has_dot_products() ? 1 / real(hw.array.rows) : 1;
  return multiply + add + (3 * operand_bits + sums * real(8 * hw.accumulator_bytes())) * kFlipFlop;
}

double interface_mm2(const HwConfig& hw) {
  const double reads = hw.dram.read.value(), writes = hw.dram.write.value();
  const double both = hw.one_bus() ? std::max(reads, writes) : reads + writes;
  return both * hw.clock_mhz / 1000 * kInterface;
}

/// An element that does int8 by int8 alone.
double int8_element_um2() {
  HwConfig hw;
  return element_um2(hw);
}

int64_t post_lanes(const HwConfig& hw) {
  return std::min(hw.array.cols, hw.buffer(Buffer::output).width);
}

int64_t vector_lanes(const HwConfig& hw) {  // classes share the lanes
  return std::max(*std::max_element(hw.vector.lanes.begin(), hw.vector.lanes.end()),
                  hw.vector.mac_lanes);
}

int64_t exponential_lanes(const HwConfig& hw) {
  return std::min(hw.vector.lanes[1], vector_lanes(hw));
}

/// Vector lanes that something feeds. Those of int8 that have commands are as many as bytes that
/// the port of their operands brings (rtl_parameters() in hw/cosim).
int64_t fed_lanes(const HwConfig& hw) {
  const auto& l = hw.vector.lanes;
  if (!hw.computes_int8()) return vector_lanes(hw);
  const int64_t with_commands = std::max({l[0], l[2], l[3], hw.vector.mac_lanes});
  return std::max(
      {std::min(with_commands, hw.buffer(Buffer::activation).width), l[1], l[4], l[5], l[6]});
}

/// Those of them through which rows pass: as many as the first pass of a row has elements a cycle
/// (contract::row_beat()).
int64_t normalising_lanes(const HwConfig& hw) {
  const int64_t lanes = std::min(hw.vector.lanes[0], fed_lanes(hw));
  if (!hw.computes_int8()) return lanes;
  return std::min({lanes, hw.buffer(Buffer::activation).width, hw.buffer(Buffer::output).width});
}

/// Gate equivalents of all but the memories. The array's have its skews.
double core_gates(const HwConfig& hw) {
  const auto& flows = hw.array.dataflows;
  const bool outputs = std::ranges::count(flows, Dataflow::output_stationary) > 0;
  const double element =
      (outputs ? kOutputStationaryGates : kArrayGates) * element_um2(hw) / int8_element_um2();
  const int64_t normalising = normalising_lanes(hw);
  CoreCells rest = kOnce;
  add_cells(rest, kColumn, hw.array.cols);
  add_cells(rest, kRowLane, contract::row_lanes(hw));
  rest.registers += kTables + transposer_bits(hw);
  rest.adders += kAlign * std::max(hw.array.rows, hw.array.cols);
  if (hw.vector.mac_lanes > 0) add_cells(rest, kScaleWalk, 1);
  return real(hw.array.rows * hw.array.cols) * element + real(post_lanes(hw)) * kPostGates +
         real(fed_lanes(hw)) * kVectorGates + real(normalising) * kRowGates +
         real(std::min(hw.vector.lanes[1], normalising)) * kExponentialGates +
         real(hw.vector.mac_lanes) * kMacGates + real(rest.registers) * kFlipFlopGates +
         real(rest.adders) * kAdderGates + real(rest.multipliers) * kProductGates;
}

/// Of buffers and shared memory. A slot is a memory of its own, as wide as its ports: of macros of
/// 64 bits.
double memories_um2(const HwConfig& hw) {
  const auto um2 = [&](int64_t bytes, int64_t memories, double width) {
    return sram_um2(hw.energy.technology, bytes, real(memories) * std::max(1.0, width / 8));
  };
  const MemoryShape shared = shared_memory(hw);
  double out = um2(shared.bytes, 1, shared.width);
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto b = static_cast<Buffer>(i);
    const int64_t copies = buffer_copies(hw, b);
    out += um2(copies * buffer_bytes(hw, b), copies * hw.buffer(b).slots, slot_memory(hw, b).width);
  }
  return out;
}

}  // namespace

int64_t sram_bytes(const HwConfig& hw) {
  int64_t out = shared_memory(hw).bytes;
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto b = static_cast<Buffer>(i);
    out += buffer_copies(hw, b) * buffer_bytes(hw, b);
  }
  return out;
}

CoreCells core_cells(const HwConfig& hw) {
  const int64_t rows = hw.array.rows, cols = hw.array.cols;
  CoreCells c = kOnce;
  add_cells(c, kVectorLane, vector_lanes(hw));
  add_cells(c, kExponential, exponential_lanes(hw));
  add_cells(c, kRowLane, contract::row_lanes(hw));
  add_cells(c, kMac, hw.vector.mac_lanes);
  if (hw.vector.mac_lanes > 0) add_cells(c, kScaleWalk, 1);
  add_cells(c, kPostLane, post_lanes(hw));
  add_cells(c, kColumn, cols);
  add_cells(c, kRow, rows);
  // Skews: byte i of a line waits for i cycles; streamed and stationary operands, rows to write.
  const int64_t ports = hw.array.fill_rows;
  c.registers += 8 * (2 * (rows * (rows - 1) / 2) + ports * (cols * (cols - 1) / 2));
  c.registers += kTables + transposer_bits(hw);
  c.adders += kAlign * std::max(rows, cols) * ports;
  return c;
}

Area textbook_area(const HwConfig& hw) {
  const CoreCells core = core_cells(hw);
  Area out;
  out.cells_um2 = real(hw.array.rows * hw.array.cols) * element_um2(hw) +
                  real(core.registers) * kFlipFlop + real(core.adders) * kAddBit +
                  real(core.multipliers) * kMultiplyBit;
  out.memories_um2 = real(8 * sram_bytes(hw)) * (kBitCell / kEfficiency);
  out.interface_mm2 = interface_mm2(hw);
  return out;
}

Area machine_area(const HwConfig& hw) {
  const Technology technology = hw.energy.technology;
  if (technology == Technology::custom) return textbook_area(hw);
  Area out;
  out.cells_um2 = core_gates(hw) * gate_um2(technology);
  out.memories_um2 = memories_um2(hw);
  out.interface_mm2 = interface_mm2(hw);
  out.utilisation = kUtilisation;
  return out;
}

double area_mm2(const HwConfig& hw) { return machine_area(hw).core_mm2(); }

}  // namespace accsim::hw
