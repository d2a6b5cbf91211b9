#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/sweep/evaluate.h"
#include "sim/sweep/run.h"

namespace accsim::sim {

/// Costs all points of a grid or random sweep. Threads take points from one lazy source, and one
/// writer commits their rows. Processes on one store share the points out in spans, each of which
/// keeps one busy for a moment. At the end each process waits for the others' spans.
class GridRun {
 public:
  GridRun(const SweepSpec& spec, const SweepRun& run, SweepStore& store,
          std::vector<Evaluator> evaluators, SweepOutcome& outcome);

  Status run();

 private:
  Status all_points();
  std::optional<PointRange> next_span();
  bool refill_pending();
  Status take_spans(std::vector<PointRange> spans);
  std::vector<int64_t> next_points();
  void try_work(Evaluator& evaluator);
  void cost_points(Evaluator& evaluator);
  void write_queue();
  bool is_stopped() const { return failed_ || (run_.stop != nullptr && *run_.stop); }
  void fail(const Status& status);
  void give_up();
  void run_pass();

  const SweepSpec& spec_;
  const SweepRun& run_;
  SweepStore& store_;
  std::vector<Evaluator> evaluators_;
  SweepOutcome& outcome_;
  const std::string owner_;

  int64_t machines_ = 0;  ///< of a workload, where the spec has several; else 0

  std::mutex source_mutex_;  ///< of the source and the points taken from it
  PointSource source_;
  int64_t position_ = 0;  ///< in the whole sweep
  int64_t span_ = 0;
  std::vector<int64_t> pending_;       ///< claimed, last first
  std::vector<PointRange> elsewhere_;  ///< claimed by other processes when we came by
  std::vector<PointRange> again_;      ///< of them, those that are to be tried once more
  size_t claimed_together_ = 1;        ///< spans
  std::chrono::steady_clock::time_point refilled_;

  std::mutex store_mutex_;  ///< of the connection
  std::mutex queue_mutex_;
  std::condition_variable filled_, drained_;
  std::vector<PointRow> queue_;
  int working_ = 0;
  std::atomic<bool> failed_{false};
  Errors errors_;
  int64_t done_ = 0;
};

}  // namespace accsim::sim
