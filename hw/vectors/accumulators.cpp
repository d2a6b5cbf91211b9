#include "hw/vectors/accumulators.h"

#include <algorithm>

namespace accsim::hw {

Accumulators::Accumulators(const HwConfig& hw)
    : rows_(hw.accumulator_rows()),
      columns_(hw.array.cols),
      sums_(static_cast<size_t>(hw.buffer(Buffer::accumulator).slots * rows_ * columns_)) {}

void Accumulators::take_command(const RetiredCommand& r) {
  if (r.in_array) return;
  int64_t to = (r.slot * rows_ + r.address) * columns_;
  for (size_t at = 0; at < r.sums.size(); at += static_cast<size_t>(r.row), to += columns_)
    std::ranges::copy(std::span(r.sums).subspan(at, static_cast<size_t>(r.row)),
                      sums_.begin() + to);
}

std::span<const int32_t> Accumulators::sums_of_row(int64_t slot, int64_t row,
                                                   int64_t columns) const {
  const auto first = static_cast<size_t>((slot * rows_ + row) * columns_);
  return std::span(sums_).subspan(first, static_cast<size_t>(columns));
}

}  // namespace accsim::hw
