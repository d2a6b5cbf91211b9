#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace accsim::hw {

/// What a post adds. r is the int8 that its output slot holds at the place of y. Loads have put it
/// there before the slot was primed. y = clip(v + round((r - zero) * multiplier / 2^shift), low,
/// high).
struct Residual {
  int32_t zero = 0;        ///< -128 .. 127
  int32_t multiplier = 1;  ///< -32768 .. 32767
  int32_t shift = 0;       ///< 0 .. 31
  int32_t low = -128, high = 127;
  friend bool operator==(const Residual&, const Residual&) = default;
};

/// How a command makes its int8 results of numbers in their scale:
///   v = clip(number + zero, low, high)
///   v = table[v] with `table`, that of the command's unit (SetTableCommand)
///   y = v, or what Residual says
/// Lane commands have neither relu nor residual, row commands no table either, and a softmax no
/// limits.
struct Epilogue {
  int32_t zero = 0;                ///< zero point of the results
  int32_t low = -128, high = 127;  ///< within +-highest_limit()
  bool relu = false;               ///< clips at `zero` too, if that is more than `low`
  bool table = false;
  std::optional<Residual> residual = std::nullopt;

  friend bool operator==(const Epilogue&, const Epilogue&) = default;

  int32_t lowest_result() const { return relu && zero > low ? zero : low; }
  /// Limits lie within int8, within int16 when a residual comes at once.
  int32_t highest_limit() const { return residual && !table ? INT16_MAX : INT8_MAX; }
  bool has_limits() const {
    return lowest_result() >= -highest_limit() - 1 && lowest_result() <= high &&
           high <= highest_limit();
  }
  /// v without table and residual. lowest_result() is `high` at most.
  int32_t clip_result(int64_t number) const {
    return static_cast<int32_t>(
        std::min<int64_t>(std::max<int64_t>(number + zero, lowest_result()), high));
  }
};

}  // namespace accsim::hw
