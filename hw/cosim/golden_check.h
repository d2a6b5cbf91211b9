#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/cosim/queue_unroller.h"
#include "hw/cosim/sum_check.h"
#include "hw/golden/golden.h"

namespace accsim::hw {

/// Compares what a core computes with golden's values: sums as the accumulators take them, bytes as
/// stores write them, and what the memory holds in the end. The first difference is kept.
class GoldenCheck {
 public:
  /// `image`: the core's memory, which it hasn't changed yet. The first three live as long as this.
  GoldenCheck(const Program& program, const HwConfig& hw, const MemoryImage& image,
              GoldenRun golden);
  GoldenCheck(const GoldenCheck&) = delete;
  GoldenCheck& operator=(const GoldenCheck&) = delete;

  /// What a cycle of the core shows of its accumulators.
  void compare_sums(const rtl::Cycle& cycle);
  /// What store `ordinal` writes into a tensor from byte `at` of it on.
  void compare_store(int tensor, int64_t at, std::span<const uint8_t> data, int64_t ordinal);
  /// When the program has ended and all is in memory.
  void compare_ends();

  /// Its text is empty where there is none.
  const CommandPlace& difference() const { return difference_; }

 private:
  void note_sums();
  std::string wrong_sum(const SumCheck::Difference& d) const;

  const Program& program_;
  const HwConfig& hw_;
  const MemoryImage& image_;
  const GoldenRun golden_;
  SumCheck sums_;
  /// Tensors that the program changes, as they were.
  std::vector<std::pair<size_t, std::vector<uint8_t>>> before_;
  CommandPlace difference_;
};

}  // namespace accsim::hw
