#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "hw/program/program.h"

namespace accsim::hw::contract {

/// The machine contract in numbers: occupancy and latency of every command, in cycles.
/// rtl/README.md states the same in prose; co-simulation compares the two command by command.

/// From the cycle a command is done with a slot to the cycle another queue may act on the token.
inline constexpr int64_t kTokenLatency = 1;
/// Registers on the way of a result besides the systolic skew: operand read, skew in, accumulator
/// read, accumulator write.
inline constexpr int64_t kArrayLatency = 4;
/// Accumulator read, bias, multiply, round and shift, clip, table, residual, slot write.
inline constexpr int64_t kPostLatency = 8;
/// Slot read, operand, zero point, taps, multiply, put together, round and shift, clip, table, slot
/// write.
inline constexpr int64_t kVectorLatency = 9;
/// From the start of a gathered load to its first beat: index read, limit, product, address.
inline constexpr int64_t kGatherLatency = 4;
/// Bytes of a table that a unit takes in a cycle.
inline constexpr int64_t kTableBeat = 8;
/// Kernel lines that one activation word may be gathered from: the activation SRAM interleaves tile
/// lines over this many banks, so that many lines are read in one cycle.
inline constexpr int64_t kWindowLines = 4;

/// Cycles a load or store occupies the slot port: one beat moves at most `width` bytes of one run.
constexpr int64_t port_beats(int64_t runs, int64_t run_bytes, int64_t width) {
  return runs * ceil_div(run_bytes, width);
}

/// A transposed load: its matrices of `rows` x `cols` elements go through the transposer in blocks
/// of `side` x `side`, or what is left of it.
struct Transposition {
  int64_t matrices = 1, rows = 1, cols = 1, side = 1;

  /// Cycles until the last block is asked for: as many for each block as its longer side has
  /// elements, or that of the first block where it is larger.
  constexpr int64_t input_cycles() const {
    const int64_t first_rows = rows < side ? rows : side, first_cols = cols < side ? cols : side;
    const int64_t blocks = matrices * ceil_div(rows, side) * ceil_div(cols, side);
    return (blocks - 1) * (first_rows > first_cols ? first_rows : first_cols) + first_rows;
  }
  /// Cycles in which the last block is written.
  constexpr int64_t output_cycles() const { return cols - (ceil_div(cols, side) - 1) * side; }
};

/// Elements of a side of the transposer's blocks: a row of them, and a column, is one beat of a
/// port of `width` bytes; 0 where an element is wider than the port.
constexpr int64_t transposer_side(const ArrayConfig& a, int64_t width, int64_t element) {
  return a.cols < width / element ? a.cols : width / element;
}

/// What an array of a template takes for a pass, in cycles: a row of the table of templates.
struct ArrayTemplate {
  std::string_view name;
  /// The stationary operand's way into the shadow registers, weights or (input stationary)
  /// activations, however few of them there are; output stationary none.
  int64_t (*preload_cycles)(const ArrayConfig& a, Dataflow d);
  /// From the start of the preload until all of the stationary operand has been read. Ports beyond
  /// the first read while the next preload is under way.
  int64_t (*held_read_cycles)(const ArrayConfig& a, Dataflow d);
  /// Of a gemm, the time that it occupies the stream.
  int64_t (*stream_cycles)(Dataflow d, int64_t m, int64_t k, int64_t n);
  /// The sums' way out, where they stay.
  int64_t (*drain_cycles)(const ArrayConfig& a, Dataflow d);
  /// From the end of the stream, or of the drain, to the last sum in the accumulator.
  int64_t (*exit_cycles)(const ArrayConfig& a);
};

/// Weight stationary streams the m activation rows, input stationary the n weight columns; output
/// stationary streams k, but no faster than the transposer takes in the m activation rows. One row
/// a cycle is drained. The skew is that from the first operand in to the last column of the same
/// row out.
inline constexpr ArrayTemplate kSystolic = {
    "systolic",
    [](const ArrayConfig& a, Dataflow d) {
      if (sums_stay(d)) return int64_t{0};
      return d == Dataflow::input_stationary ? a.cols : ceil_div(a.rows, a.fill_rows);
    },
    [](const ArrayConfig& a, Dataflow d) {
      if (sums_stay(d)) return int64_t{0};
      return d == Dataflow::input_stationary ? a.cols : a.rows;
    },
    [](Dataflow d, int64_t m, int64_t k, int64_t n) {
      if (sums_stay(d)) return std::max(m, k);
      return d == Dataflow::input_stationary ? n : m;
    },
    [](const ArrayConfig& a, Dataflow d) { return sums_stay(d) ? a.rows : 0; },
    [](const ArrayConfig& a) { return a.rows + a.cols - 1 + kArrayLatency; },
};
/// The row of an array.
constexpr const ArrayTemplate& template_of(const ArrayConfig&) { return kSystolic; }

/// Bytes of a beat between DRAM and the shared buffer: the widest port of a slot.
inline int64_t stage_port(const HwConfig& hw) {
  return std::max({hw.buffer(Buffer::activation).width, hw.buffer(Buffer::weight).width,
                   hw.buffer(Buffer::parameter).width, hw.buffer(Buffer::output).width});
}

/// Bytes of a run that a LaneCommand takes in a cycle: as many as its lanes, or as pass through the
/// ports of the buffers; operands in activation slots share that port. 0: they can't.
inline int64_t lane_beat(const LaneCommand& c, const HwConfig& hw) {
  const bool both = c.b && c.b->buffer == Buffer::activation;
  int64_t beat = std::min(lanes_of(c, hw), hw.buffer(Buffer::activation).width / (both ? 2 : 1));
  if (c.b && !both) beat = std::min(beat, hw.buffer(Buffer::parameter).width);
  return c.across ? beat : std::min(beat, hw.buffer(Buffer::output).width);
}

/// Cycles a LaneCommand occupies the vector unit: one a beat and tap that is taken.
inline int64_t lane_cycles(const LaneCommand& c, const HwConfig& hw) {
  return c.taps_taken() * ceil_div(c.run, lane_beat(c, hw));
}

/// Bytes of a row that a RowCommand's first pass takes in a cycle: as a LaneCommand of elements
/// would, with the mask as its second operand. 0: they can't.
inline int64_t row_beat(const RowCommand& c, const HwConfig& hw) {
  return std::min({hw.vector.lanes[0], hw.buffer(Buffer::activation).width / (c.mask ? 2 : 1),
                   hw.buffer(Buffer::output).width});
}

/// The same of the passes behind it: a softmax' need the exponential of each element.
inline int64_t row_late_beat(const RowCommand& c, const HwConfig& hw) {
  const int64_t beat = row_beat(c, hw);
  return c.op == RowOp::softmax ? std::min(beat, hw.vector.lanes[1]) : beat;
}

/// Cycles of a row's division, or root, two bits in each: as long as a step lasts at least.
inline constexpr int64_t kRowStep = 16;
/// Rows that have their division, and root, at a time at most: a row has two passes at least.
inline constexpr int64_t kRowLanes = kRowStep / 2;
/// Bytes of a softmax' tables that are read in a cycle.
inline constexpr int64_t kRowTableBeat = 16;

/// Passes of a RowCommand over groups of its rows, side by side: in step t the first, of maxima or
/// sums, takes group t, each other one group t - (its own).
struct RowPasses {
  int64_t sum;  ///< of a softmax: exponentials; -1: there is none
  int64_t write;
};
/// Those of an operation.
constexpr RowPasses row_passes(RowOp op) {
  return op == RowOp::softmax ? RowPasses{2, 5} : RowPasses{-1, 4};
}

/// Beats of each pass over a row; of the one that writes it, its logarithm has one of its own.
struct RowBeats {
  int64_t first = 0, sum = 0, write = 0;
  constexpr int64_t total_beats() const { return first + sum + write; }
};
/// Those of a command.
inline RowBeats row_beats(const RowCommand& c, const HwConfig& hw) {
  const auto pass = [&](int64_t beat) {
    return c.length() / c.contiguous_elements() * ceil_div(c.contiguous_elements(), beat);
  };
  const int64_t late = pass(row_late_beat(c, hw));
  return {pass(row_beat(c, hw)), row_passes(c.op).sum < 0 ? 0 : late, late + (c.logarithm ? 1 : 0)};
}

/// Lanes for roots, and as many for divisions, each of which has a row for kRowStep cycles.
inline int64_t row_lanes(const HwConfig& hw) { return std::min(hw.vector.lanes[1], kRowLanes); }

/// Rows that a pass has in a step: those whose passes fill kRowStep, as far as there are lanes for
/// their roots and divisions.
inline int64_t row_group(const RowCommand& c, const HwConfig& hw) {
  return std::min(ceil_div(kRowStep, row_beats(c, hw).total_beats()), row_lanes(hw));
}

/// Cycles a RowCommand occupies the vector unit: as many steps as its last group of rows needs,
/// each as long as the beats of its passes, at least kRowStep.
inline int64_t row_cycles(const RowCommand& c, const HwConfig& hw) {
  const RowBeats beats = row_beats(c, hw);
  const int64_t rows = c.row_count(), group = row_group(c, hw);
  const int64_t last = ceil_div(rows, group) - 1;  // group, of the rows that are left
  const RowPasses passes = row_passes(c.op);
  const auto step = [&](int64_t t) {
    const auto in = [&](int64_t from) {
      if (from < 0 || t < from || t > last + from) return int64_t{0};
      return t == last + from ? rows - last * group : group;
    };
    return std::max(kRowStep, in(0) * beats.first + in(passes.sum) * beats.sum +
                                  in(passes.write) * beats.write);
  };
  int64_t cycles = 0;
  for (int64_t t = 0; t < std::min(last, passes.write); ++t) cycles += step(t);
  for (int64_t t = 0; t <= passes.write; ++t) cycles += step(last + t);
  return cycles + std::max<int64_t>(0, last - passes.write) * step(passes.write);
}

}  // namespace accsim::hw::contract
