#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "hw/cosim/rtl_abi.h"
#include "hw/golden/accumulator_writes.h"

namespace accsim::hw {

/// Compares what a core's accumulators take with what golden's took, command by command. Stores
/// show sums only after the post unit has scaled, rounded and clipped them.
class SumCheck {
 public:
  /// `writes`: golden's, which live as long as this. `upwards`: rows of a command come from its
  /// last to its first, as drains bring them.
  SumCheck(const std::vector<AccumulatorWrite>& writes, int64_t columns, bool upwards);

  /// The first difference.
  struct Difference {
    int64_t ordinal = 0;        ///< of the command in the execute queue
    std::string text;           ///< empty: `sums` differ
    std::vector<int32_t> sums;  ///< the core's, row by row
    int64_t columns = 0;        ///< sums of a row
  };
  /// What a cycle of the core shows. Nothing more once there is a difference.
  void take_sums(const rtl::Cycle& cycle);
  /// When the program has ended: sums that are missing are a difference.
  void finish();
  const std::optional<Difference>& difference() const { return difference_; }

 private:
  /// Which row of which command a column takes next.
  struct Column {
    size_t write = 0;
    int64_t rows = 0;  ///< of it that have come
  };
  struct Open {
    std::vector<int32_t> sums;
    int64_t columns = 0;  ///< that haven't all of their rows
  };
  void take_sums(size_t column, const rtl::Cycle& cycle);
  Open& open_write(size_t write);
  void close_writes();
  void note_difference(size_t write, std::string text, std::vector<int32_t> sums = {});

  const std::vector<AccumulatorWrite>& writes_;
  const bool upwards_;
  std::vector<Column> columns_;
  std::deque<Open> open_;  ///< commands whose sums are coming, from `first_` on
  size_t first_ = 0;
  std::optional<Difference> difference_;
};

}  // namespace accsim::hw
