#include "sim/ref/cache_format.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace accsim::sim::ref {

CacheFormat::CacheFormat(int64_t bits, int64_t head, std::vector<double> scales)
    : bits_(bits), head_(static_cast<size_t>(head)), scales_(std::move(scales)) {}

std::vector<double> CacheFormat::unpack_numbers(std::vector<double> stored) const {
  if (bits_ != 4) return stored;
  const size_t bytes = (head_ + 1) / 2;
  std::vector<double> out;
  for (size_t row = 0; row < stored.size(); row += bytes)
    for (size_t i = 0; i < head_; ++i) {
      const auto byte = static_cast<int64_t>(stored[row + i / 2]);
      out.push_back(static_cast<double>((i % 2 == 0 ? byte & 15 : byte >> 4) - kMiddle));
    }
  return out;
}

std::vector<double> CacheFormat::pack_numbers(const std::vector<double>& numbers) const {
  if (bits_ != 4) return numbers;
  std::vector<double> out;
  for (size_t row = 0; row < numbers.size(); row += head_)
    for (size_t i = 0; i < head_; i += 2) {
      const double high = i + 1 < head_ ? numbers[row + i + 1] : 0;
      out.push_back(numbers[row + i] + kMiddle + 16 * (high + kMiddle));
    }
  return out;
}

void CacheFormat::quantise_numbers(int64_t length, std::vector<double>& numbers) const {
  const double least = bits_ == 4 ? -kMiddle : -128;
  for (size_t i = 0; i < numbers.size() && !scales_.empty(); ++i)
    numbers[i] = std::clamp(std::nearbyint(numbers[i] / scale_at(i, length)), least, -least - 1);
}

std::vector<double> CacheFormat::real_numbers(int64_t length, std::vector<double> numbers) const {
  for (size_t i = 0; i < numbers.size() && !scales_.empty(); ++i) numbers[i] *= scale_at(i, length);
  return numbers;
}

double CacheFormat::scale_at(size_t i, int64_t length) const {
  if (scales_.size() == 1) return scales_[0];
  const size_t heads = scales_.size() / head_;
  const size_t of_head = i / (static_cast<size_t>(length) * head_) % heads;
  return scales_[of_head * head_ + i % head_];
}

}  // namespace accsim::sim::ref
