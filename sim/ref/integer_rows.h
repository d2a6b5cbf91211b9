#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/work/row_work.h"

namespace accsim::sim::ref {

/// Constants of a softmax (docs/vector-arithmetic.md): a and b multiply row and mask, q shifts
/// differences, c and k are the output scale's inverse.
struct IntegerSoftmax {
  int32_t a = 1, b = 0, q = 0, c = 1 << 30, k = 8;
  std::array<int32_t, 64> coarse{}, fine{};
};

/// Constants of the logarithm of a softmax' sums.
struct IntegerLogarithm {
  int64_t row = 0, sum = 0, addend = 0;
  int32_t shift = 0;
};

/// Constants of a normalisation, and those of a channel.
struct IntegerNorm {
  int32_t in_zero = 0;
  int64_t epsilon = 0;
  int32_t low = -128, high = 127;
  struct Channel {
    int32_t beta = 0, multiplier = 0, shift = 0;
  };
  std::vector<Channel> channels;
};

/// Operands of a RowWork and what their values mean.
struct IntegerRows {
  sim::RowWork work;
  std::span<const int8_t> in, mask;
  int32_t out_zero = 0;
  IntegerSoftmax softmax;  ///< of a softmax
  IntegerLogarithm logarithm;
  IntegerNorm norm;  ///< of a normalisation
};

/// What becomes of rows, which lie as the input does; and where the work has logarithms those,
/// densely.
struct RowResults {
  std::vector<int8_t> rows, logarithms;
};
/// The results by the contract's arithmetic.
RowResults integer_rows(const IntegerRows& p);

}  // namespace accsim::sim::ref
