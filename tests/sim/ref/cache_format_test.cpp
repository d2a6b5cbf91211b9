#include "sim/ref/cache_format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace accsim::sim::ref {
namespace {

using Numbers = std::vector<double>;

TEST(CacheFormat, LeavesNumbersAsTheyAre) {
  const CacheFormat plain;
  const Numbers numbers = {0.3, -7.5, 1e9};
  Numbers rounded = numbers;
  plain.quantise_numbers(3, rounded);
  EXPECT_EQ(rounded, numbers);
  EXPECT_EQ(plain.pack_numbers(numbers), numbers);
  EXPECT_EQ(plain.unpack_numbers(numbers), numbers);
  EXPECT_EQ(plain.real_numbers(3, numbers), numbers);
}

/// The first of two in the low half of a byte, 8 above itself; the odd one has a 0 beside it.
TEST(CacheFormat, PutsTwoNumbersOfFourBitsIntoAByte) {
  for (const int64_t head : {1, 2, 3, 4}) {
    const CacheFormat format(4, head, {1});
    Numbers rows, bytes;
    for (int row = 0; row < 2; ++row) {
      for (int64_t i = 0; i < head; ++i)
        rows.push_back(static_cast<double>((5 * row + 3 * i) % 16 - 8));
      const double* from = rows.data() + row * head;
      for (int64_t i = 0; i < head; i += 2)
        bytes.push_back(from[i] + 8 + 16 * ((i + 1 < head ? from[i + 1] : 0) + 8));
    }
    EXPECT_EQ(format.pack_numbers(rows), bytes) << head;
    EXPECT_EQ(format.unpack_numbers(bytes), rows) << head;
  }
}

TEST(CacheFormat, RoundsToMultiplesWithinItsBits) {
  for (const int64_t bits : {4, 8}) {
    const double most = std::exp2(bits - 1) - 1;
    Numbers numbers = {0.24, 0.26, -0.76, 1000, -1000};
    CacheFormat(bits, 5, {0.5}).quantise_numbers(1, numbers);
    EXPECT_EQ(numbers, (Numbers{0, 1, -2, most, -most - 1})) << bits;
  }
}

/// batch 2 x heads 2 x length 3 x head 2: a scale is of a head and an element, whatever the token.
TEST(CacheFormat, HasAScaleForEachElementOfEachHead) {
  const Numbers scales = {1, 2, 4, 8};
  const CacheFormat format(8, 2, scales);
  const Numbers reals = format.real_numbers(3, Numbers(24, 1));
  for (size_t i = 0; i < reals.size(); ++i)
    EXPECT_EQ(reals[i], scales[i / (3 * 2) % 2 * 2 + i % 2]) << i;
  Numbers back = reals;
  format.quantise_numbers(3, back);
  EXPECT_EQ(back, Numbers(24, 1));
}

}  // namespace
}  // namespace accsim::sim::ref
