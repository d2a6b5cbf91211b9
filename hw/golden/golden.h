#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/program/program.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// The bytes of each ProgramTensor.
using MemoryImage = std::vector<std::vector<uint8_t>>;

/// What a post does to the sums of a channel, before its epilogue.
struct Requantise {
  int32_t bias = 0, multiplier = 0, shift = 0;  ///< shift: 0 .. 62
  friend bool operator==(const Requantise&, const Requantise&) = default;
};

/// A command that has just been executed, with what it was given and what it produced.
struct RetiredCommand {
  const Command* command = nullptr;
  int64_t ordinal = 0;                ///< commands before it, in text order
  std::vector<int64_t> loop_indices;  ///< by Loop::id; -1: the loop isn't around it
  /// Where the values went: accumulator row, byte offset in the slot, or in the tensor (store).
  int64_t address = 0;
  int64_t slot = 0;  ///< index in the ring of the buffer it wrote to (store: read)
  /// gemm and drain: the sums it wrote, after adding, one accumulator row (of `row` sums) after the
  /// other; an output stationary gemm: m rows of n sums in the array.
  std::vector<int32_t> sums;
  int64_t row = 0;
  bool in_array = false;  ///< the sums are those that an output stationary gemm leaves in the array
  Dataflow dataflow = Dataflow::weight_stationary;  ///< of its layer
  /// gemm: its operands, m rows of k and k rows of n, with padding and with the zeros of packed
  /// groups. They lie in the machine: a copy of this doesn't keep them.
  std::span<const int8_t> a, b;
  bool overwrites = false;         ///< gemm and drain: sums began anew, at 0
  std::vector<Requantise> scales;  ///< post: by output channel
  /// post of several groups: multipliers of the second, by channel, of the third ...
  std::vector<int32_t> group_multipliers;
  /// load: as they lie in the slot. post: row by row of the output slot. store: in walk order. lane
  /// and row command: row by row. table: its entries.
  std::vector<uint8_t> bytes;
};
/// Called after every command, in text order; what it is given lives until it returns.
using RetireHook = std::function<void(const RetiredCommand&)>;

/// Executes a program in text order on the memory image, bit by bit as the hardware does: int8 x
/// int8 products, int32 sums that wrap, int8 outputs. Slots are rings that only tokens advance.
/// Garbage is read without a token, after the slot was given back, from what was never written, and
/// from a table that no command has set. Errors: Errc::unsupported for a machine of other types, a
/// program with a VectorCommand or a post without parameters; Errc::invalid for an image that
/// doesn't match the tensors, an address outside its memory or a token that can't come. The image
/// then holds what was stored up to there.
Status run_golden(const Program& program, const HwConfig& hw, MemoryImage& image,
                  const RetireHook& retired = {});

/// round(value / 2^shift), halves away from zero. shift: 0 .. 62.
int64_t round_shift(int64_t value, int32_t shift);

/// What a post makes of one sum, without table and residual: the sum with the bias wraps at 32
/// bits, halves round away from zero. `others`: of the other groups, sums times multipliers, added
/// to the product in 64 bits.
int32_t requantise(int32_t sum, const Requantise& r, const Epilogue& e = {}, int64_t others = 0);

}  // namespace accsim::hw
