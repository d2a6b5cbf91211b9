#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/work/work.h"

namespace accsim::sim::ref {

/// Whole tensors of int8 by the contract's arithmetic (rtl/README.md, "Values"): what a quantised
/// network gives, whatever program computes it. Nothing here knows of tiles, slots or addresses.

/// Bias, multiplier and shift (0 .. 62) of an output channel.
struct IntegerChannel {
  int32_t bias = 0, multiplier = 1, shift = 0;
};

/// What is added to the results of a product, in their order.
struct IntegerAddend {
  std::span<const int8_t> values;
  int32_t zero = 0, multiplier = 1, shift = 0;
};

/// Operands of a GemmOp and what its results go through.
struct IntegerProduct {
  sim::GemmOp op;
  /// [images][depth][height][width][channels of all groups]; products: [batch][M][K], or
  /// [batch][K][M] where the op says transposed; without the batch where it is shared.
  std::span<const int8_t> a;
  /// [batch or groups][kernel][channel][output], without the batch where it is shared.
  std::span<const int8_t> weights;
  int32_t a_zero = 0;                        ///< what padding is
  std::span<const IntegerChannel> channels;  ///< by output channel, those of all groups
  /// Input channels that share a scale; 0: all. Of each other group than the first the multiplier
  /// of each output channel.
  int64_t scale_group = 0;
  std::span<const int16_t> scales;
  int32_t out_zero = 0;
  bool relu = false;              ///< clips at the zero point
  std::span<const int8_t> table;  ///< entry v + 128 of the int8 v; empty: none
  const IntegerAddend* addend = nullptr;
  bool clips_sum = false;  ///< and a clip at the zero point behind that
};

/// The results: [images][depth][height][width][outputs of all groups], or [batch][M][N].
std::vector<int8_t> integer_product(const IntegerProduct& p);

}  // namespace accsim::sim::ref
