#include "sim/cost/compare_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace accsim::sim {
namespace {

/// What the tables make of two integers of so many bytes: the sum of a byte and one of the other's
/// negative saturates, and a table's entry v + 128 is of v.
bool equal_by_tables(int64_t a, int64_t b, int bytes) {
  const auto byte = [](int64_t v, int i) {
    return static_cast<int>(static_cast<int8_t>(static_cast<uint64_t>(v) >> (8 * i)));
  };
  const auto entry = [](const auto& table, int v) -> int {
    return table[static_cast<size_t>(v) + 128];
  };
  int most = -128;
  for (int i = 0; i < bytes; ++i) {
    const int difference = std::clamp(byte(a, i) - byte(b, i), -128, 127);
    most = std::max(most, entry(difference_table(), difference));
  }
  return entry(equality_table(), most) == 1;
}

TEST(CompareBytes, IntegersAreEqualWhenAllTheirBytesAre) {
  std::mt19937_64 random(16);
  for (int round = 0; round < 20'000; ++round) {
    const auto a = static_cast<int64_t>(random());
    // The same, or other in one bit.
    const auto b = static_cast<int64_t>(static_cast<uint64_t>(a) ^
                                        (round % 3 == 0 ? 0 : uint64_t{1} << random() % 64));
    EXPECT_EQ(equal_by_tables(a, b, 8), a == b) << a << " " << b;
    EXPECT_EQ(equal_by_tables(a, b, 4), static_cast<int32_t>(a) == static_cast<int32_t>(b));
  }
  for (int a = -128; a < 128; ++a)
    for (int b = -128; b < 128; ++b) EXPECT_EQ(equal_by_tables(a, b, 1), a == b);
}

}  // namespace
}  // namespace accsim::sim
