#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/report/report.h"

namespace accsim::sim {

/// Where cycles go. Every cycle of a run has exactly one cause, so differences of causes add up to
/// the difference of cycles. The first are a layer's; the last three are between layers or sides.
enum class Cause : uint8_t {
  array,
  array_idle,
  weight_load,
  array_fill,
  vector,
  vector_idle,
  moves,
  dram_read,
  dram_write,
  shared,
  post,
  slots,
  tail,
  overlap,
  only_a,
  only_b,
};
inline constexpr size_t kCauses = 16;
inline constexpr size_t kLayerCauses = 13;  ///< Cause::array to Cause::tail

/// The part of a machine that would have to be faster for a cause to become smaller.
enum class Unit : uint8_t { array, vector, mover, dram, shared, slots, tail, none };
inline constexpr size_t kUnits = 8;
/// "the array", "the vector unit", ...
std::string_view name(Unit u);
/// As JSON spells it: "array", "vector", ...
std::string_view unit_key(Unit u);

/// What is said of a cause, the same in help and JSON; docs/compare.md has its keys and labels.
struct CauseInfo {
  std::string_view key, label;
  Unit unit;
  std::string_view definition;
};
/// What is said of each cause, by Cause.
std::span<const CauseInfo, kCauses> cause_table();

/// How many cycles each cause has, by Cause.
using CauseCycles = std::array<int64_t, kCauses>;
/// The cycles of one cause.
inline int64_t& cycles_by(CauseCycles& c, Cause cause) { return c[static_cast<size_t>(cause)]; }
/// The cycles of one cause.
inline int64_t cycles_by(const CauseCycles& c, Cause cause) {
  return c[static_cast<size_t>(cause)];
}
/// The cycles of all causes together. Precondition: the sum fits 64 bits.
int64_t sum_causes(const CauseCycles& c);

/// A layer's cycles by cause: busy cycles at full rate and beyond it by unit, waits, tail. Sums
/// to costs.cycles exactly.
CauseCycles causes_of(const Costs& costs);

}  // namespace accsim::sim
