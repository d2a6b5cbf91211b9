#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace accsim::sim::ref {

/// How a cache of keys or values holds its numbers, batch x heads x length x `head`: as they are,
/// or as whole multiples of scales, one a byte or, of 4 bits, two a byte.
class CacheFormat {
 public:
  /// Numbers as they are.
  CacheFormat() = default;
  /// Whole numbers of 8 or 4 bits; `scales`: one, or one for each element of each head.
  CacheFormat(int64_t bits, int64_t head, std::vector<double> scales);

  /// What a cache's elements stand for, still without its scales.
  std::vector<double> unpack_numbers(std::vector<double> stored) const;
  /// The inverse of unpack_numbers().
  std::vector<double> pack_numbers(const std::vector<double>& numbers) const;
  /// Rounds rows of `length` tokens of every head.
  void quantise_numbers(int64_t length, std::vector<double>& numbers) const;
  /// Whole numbers of rows of `length` tokens times their scales.
  std::vector<double> real_numbers(int64_t length, std::vector<double> numbers) const;

 private:
  static constexpr int kMiddle = 8;  ///< of numbers of 4 bits, which are stored without a sign

  double scale_at(size_t i, int64_t length) const;

  int64_t bits_ = 0;
  size_t head_ = 0;
  std::vector<double> scales_;
};

}  // namespace accsim::sim::ref
