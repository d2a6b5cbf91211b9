#pragma once
#include <cstdint>

#include "hw/program/program.h"

namespace accsim::hw::contract {

/// The machine contract in numbers: occupancy and latency of every command, in cycles.
/// rtl/README.md states the same in prose; co-simulation compares the two command by command.

/// From the cycle a command is done with a slot to the cycle another queue may act on the token.
inline constexpr int64_t kTokenLatency = 1;
/// Registers on the way of a result besides the systolic skew: operand read, skew in, accumulator
/// read, accumulator write.
inline constexpr int64_t kArrayLatency = 4;
/// Accumulator read, bias, multiply, round and shift, clip, slot write.
inline constexpr int64_t kPostLatency = 6;
/// Slot read, operand align, operation, slot write.
inline constexpr int64_t kVectorLatency = 6;
/// Kernel lines that one activation word may be gathered from: the activation SRAM interleaves tile
/// lines over this many banks, so that many lines are read in one cycle.
inline constexpr int64_t kWindowLines = 4;

/// Systolic skew: first operand in to last column of the same row out.
constexpr int64_t skew(const ArrayConfig& a) { return a.rows + a.cols - 1; }

/// Cycles a load or store occupies the slot port: one beat moves at most `width` bytes of one run.
constexpr int64_t port_beats(int64_t runs, int64_t run_bytes, int64_t width) {
  return runs * ceil_div(run_bytes, width);
}

/// Cycles of the stationary operand's way into the shadow registers.
constexpr int64_t preload(const ArrayConfig& a, Dataflow d) {
  return d == Dataflow::input_stationary ? a.cols : a.rows;
}

/// Cycles in which the weights of a gemm go into the array, a row or (input stationary) a column of
/// them in each. Weight stationary, every row of the array has its cycle, also when k is less.
constexpr int64_t weights_in(const ArrayConfig& a, Dataflow d, int64_t k, int64_t n) {
  if (d == Dataflow::weight_stationary) return preload(a, d);
  return d == Dataflow::input_stationary ? n : k;
}

/// Cycles a gemm occupies the stream. Weight stationary streams the m activation rows, input
/// stationary the n weight columns; output stationary streams k, but no faster than the transposer
/// takes in the m activation rows.
constexpr int64_t stream(Dataflow d, int64_t m, int64_t k, int64_t n) {
  if (d == Dataflow::weight_stationary) return m;
  if (d == Dataflow::input_stationary) return n;
  return m > k ? m : k;
}

}  // namespace accsim::hw::contract
