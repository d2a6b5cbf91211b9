#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "sim/map/objective.h"
#include "sim/map/pin.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/map/search_limit.h"

namespace accsim::sim {

/// A tiling that fits, with what is known of it before its program is timed.
struct Candidate {
  Tiling tiling;
  int64_t bound = 0;       ///< never more than the cycles of its program
  int64_t sharp = 0;       ///< the same, sharper (Bounds)
  double score_bound = 0;  ///< never more than its primary score
  double energy_traffic =
      0;                ///< never more than its energy_traffic(), where the objective has slack
  int64_t traffic = 0;  ///< bytes loaded and stored
};

/// The tile sizes of a length L that are worth a look: ceil(L / j) for every number of tiles j,
/// without repetition, descending. Of all sizes that cut L into j tiles this is the smallest, so it
/// needs the least of every buffer; every divisor is among them. Where the array has `unit` lanes,
/// the multiples of it that ceil(ceil(L / unit) / j) units make are added: they waste no lanes.
/// Those beyond `most` (>= 1) are left out, which is most of them where a length is vast.
std::vector<int64_t> tile_sizes(int64_t length, int64_t unit = 1,
                                int64_t most = std::numeric_limits<int64_t>::max());

/// What the enumeration of tilings runs over, and what its bounds are of.
struct SpaceOptions {
  std::vector<hw::Dataflow> dataflows;
  ObjectiveFunction objective{};
  /// The fewest cycles have been found: only less energy_traffic() is looked for, by tilings that
  /// move fewer bytes from and to DRAM than these. 0: not so.
  int64_t below_dram_bytes = 0;
  SearchLimit* limit = nullptr;  ///< with none all of them are looked at
};

/// Every tiling that fits, with its bounds; sorted by (score_bound, bound, traffic), then by
/// enumeration order. The enumeration doesn't look at capacities or rates: a larger buffer only
/// adds candidates, so the best of them can only get better.
std::vector<Candidate> tiling_candidates(const GemmProblem& p, const hw::HwConfig& hw,
                                         const SpaceOptions& options, const MappingPin& pin);

/// Branch and bound over the same tilings. Calls `evaluate` for each candidate that its bounds
/// don't exclude, the most promising first: by the objective, and then by energy_traffic() if it
/// has slack. `evaluate` returns what has been found so far. Starts from `found`. Returns the
/// number of candidates that were bounded.
int64_t search_space(const GemmProblem& p, const hw::HwConfig& hw, const SpaceOptions& options,
                     const MappingPin& pin, const Found& found,
                     const std::function<Found(const Candidate&)>& evaluate);

}  // namespace accsim::sim
