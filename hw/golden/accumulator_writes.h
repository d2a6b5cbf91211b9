#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hw/golden/golden.h"

namespace accsim::hw {

/// What one command left in the accumulators: a gemm, or on an output stationary machine a drain.
struct AccumulatorWrite {
  int64_t ordinal = 0;            ///< among the commands of the execute queue
  int64_t first_row = 0;          ///< of the memory with all slots
  int64_t rows = 0, columns = 0;  ///< sums of a row
  uint64_t digest = 0;            ///< digest_of() its sums
  friend bool operator==(const AccumulatorWrite&, const AccumulatorWrite&) = default;
};

/// 64 bits of sums, row by row.
uint64_t digest_of(std::span<const int32_t> sums);

/// Takes commands as golden retires them.
class AccumulatorWrites {
 public:
  explicit AccumulatorWrites(const HwConfig& hw) : hw_(hw) {}
  void take_command(const RetiredCommand& r);
  /// In text order, which is that of the execute queue.
  std::vector<AccumulatorWrite>& writes() { return writes_; }

 private:
  const HwConfig& hw_;
  int64_t ordinal_ = -1;  ///< of the execute queue's latest command
  std::vector<AccumulatorWrite> writes_;
};

/// What golden makes of a program: the memory in the end and all that its accumulators took.
struct GoldenRun {
  MemoryImage image;
  std::vector<AccumulatorWrite> writes;
};
/// As run_golden(), from `image` on.
Result<GoldenRun> golden_run(const Program& program, const HwConfig& hw, MemoryImage image);

/// The sums that the execute queue's command `ordinal` left in the accumulators, row by row; empty
/// for one that leaves none.
Result<std::vector<int32_t>> golden_sums(const Program& program, const HwConfig& hw,
                                         MemoryImage image, int64_t ordinal);

}  // namespace accsim::hw
