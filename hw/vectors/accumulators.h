#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hw/golden/golden.h"

namespace accsim::hw {

/// The accumulators of a program as its commands leave them: what a post reads.
class Accumulators {
 public:
  explicit Accumulators(const HwConfig& hw);

  /// A command that golden has retired.
  void take_command(const RetiredCommand& r);
  /// `columns` sums of a row of a slot.
  std::span<const int32_t> sums_of_row(int64_t slot, int64_t row, int64_t columns) const;

 private:
  const int64_t rows_, columns_;
  std::vector<int32_t> sums_;
};

}  // namespace accsim::hw
