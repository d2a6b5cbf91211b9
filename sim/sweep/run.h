#pragma once
#include <atomic>
#include <functional>
#include <string>

#include "sim/sweep/spec.h"
#include "sim/sweep/store.h"

namespace accsim::sim {

/// How far a running sweep is, in points.
struct SweepProgress {
  int64_t done = 0;  ///< points that are decided: stored, or excluded by a bound
  int64_t total = 0;
  int64_t evaluated = 0;  ///< by this run
};

/// How and where a sweep runs; nothing of it changes what is stored.
struct SweepRun {
  std::string store;    ///< path
  std::string version;  ///< of accsim
  int threads = 1;
  Shard shard;
  const std::atomic<bool>* stop = nullptr;  ///< ends the run after the points under way
  std::function<void(const SweepProgress&)> progress = nullptr;
};

/// How a sweep ended.
struct SweepOutcome {
  int64_t total = 0;      ///< points of the sweep, or of this shard
  int64_t stored = 0;     ///< points in the store now
  int64_t feasible = 0;   ///< of them
  int64_t evaluated = 0;  ///< points costed by this run
  int64_t bounds = 0;     ///< machines costed for bounds by this run (pareto)
  int64_t elsewhere = 0;  ///< of an interrupted run: points that other processes have claimed
  bool interrupted = false;
  bool lost = false;  ///< the store was deleted, moved or replaced meanwhile, which ended the run
};

/// Costs the points that the store doesn't have yet. What is stored depends on the spec alone: not
/// on threads, on how often the run was interrupted, or on other processes on the same store.
/// Everything that can be wrong beforehand is an error before the first point; a failing store ends
/// the run, and what was committed stays.
Result<SweepOutcome> run_sweep(const SweepSpec& spec, const SweepRun& run);

/// What the store of this run says of itself.
StoreMeta wanted_meta(const SweepSpec& spec, const SweepRun& run, int64_t points);

}  // namespace accsim::sim
