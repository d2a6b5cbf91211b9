#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/map/kind.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/work/lane_work.h"

namespace accsim::sim {

/// A multiplier of 16 bits and its shift, as LaneCommand has them.
struct LaneScale {
  int32_t multiplier = 1, shift = 0;
};

/// What the int8 values of a lane op mean, in the terms of LaneCommand. Costs don't depend on it.
struct LaneFactors {
  int32_t a_zero = 0, a_multiplier = 1;
  int32_t b_zero = 0, b_multiplier = 1;
  int32_t shift = 0;
  hw::Epilogue epilogue{};  ///< its table is the work's
  /// Of a mean of so many elements, instead of a_multiplier and shift; without one these, always.
  std::function<LaneScale(int64_t)> mean{};
};

/// A LaneWork on a machine of int8 elements: its tensors' places decided, tile sizes still open.
/// The program gives what the op gives.
struct LaneProblem {
  LaneWork work;
  Place a, b, out;
  LaneFactors factors{};
  /// An axis along which the second operand is the same, and its slot has it again for each index
  /// all the same (spread_lanes()).
  std::optional<size_t> repeated = std::nullopt;
  /// An axis of windows whose taps lie in the slot as planes, one for each (unroll_lanes()).
  std::optional<size_t> unrolled = std::nullopt;

  bool has_b() const { return work.has_b(); }
  /// Elements of a tensor as far as the op goes.
  int64_t a_elements() const;
  int64_t b_elements() const;
  int64_t out_elements() const;
};

/// How a lane op is cut.
struct LaneTiling {
  std::vector<int64_t> tile;  ///< of the result, by axis of as_cut()
  bool b_once = false;        ///< the second operand is loaded once, whole, into a parameter slot
  int64_t spread = 1;         ///< times that the second operand lies there one behind the other
  bool unrolled = false;  ///< windows along the axis before the last, as unroll_lanes() has them
  friend bool operator==(const LaneTiling&, const LaneTiling&) = default;
};
/// As reports spell it: "lanes 4x56x64, operand held, 2 times" or "lanes 4x56x24, unrolled".
std::string to_string(const LaneProblem& p, const LaneTiling& t);

/// A vector op of int8 elements by LaneCommands.
struct LaneSource : KindSource<LaneProblem, LaneTiling> {
  static std::optional<LaneProblem> of_request(const OpRequest& r, const hw::HwConfig& hw);
};

/// How the op is cut when the second operand lies `times` behind itself. It is the same for all
/// results of the axis before the last (channels of pixels). Runs then go on over so many results
/// and fill more of a beat. `times` divides the axis.
LaneProblem spread_lanes(const LaneProblem& p, int64_t times);
/// The fewest times for which beats are filled best; 1 where more is no use.
int64_t best_spread(const LaneProblem& p, const hw::HwConfig& hw);

/// Is unroll_lanes() of use?
bool can_unroll(const LaneProblem& p, const hw::HwConfig& hw);
/// How the op is cut when loads put side by side what a tap has of all results of the axis before
/// the last. Runs then go on over pixels, for windows several pixels apart, too. Elements that
/// several windows share are loaded for each.
LaneProblem unroll_lanes(const LaneProblem& p);
/// The op as a tiling cuts it.
LaneProblem as_cut(const LaneProblem& p, const LaneTiling& t);

/// The tile of which there are at least `chunks`, as long as it can be along the innermost axes.
std::vector<int64_t> lane_tile(const LaneProblem& p, const hw::HwConfig& hw, int64_t chunks);

/// Do the largest tiles fit into the slots, and the operands through their ports?
bool fits(const LaneProblem& p, const hw::HwConfig& hw, const LaneTiling& t);

/// Never more than the cycles of its program: each queue's own time, with the shortest way in
/// before it and out behind it.
int64_t lower_bound(const LaneProblem& p, const hw::HwConfig& hw, const LaneTiling& t);

/// As few tiles as let loads, work and stores overlap, with the second operand spread or not.
std::optional<LaneTiling> rule_tiling(const LaneProblem& p, const hw::HwConfig& hw);
/// Or else the next number of tiles up to four times as many.
std::vector<LaneTiling> chunked_tilings(const LaneProblem& p, const hw::HwConfig& hw,
                                        int64_t chunks);
/// Every tiling that is tried and fits, with its bound.
std::vector<std::pair<int64_t, LaneTiling>> tilings(const LaneProblem& p, const hw::HwConfig& hw);

}  // namespace accsim::sim
