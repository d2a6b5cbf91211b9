#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule/op_order.h"
#include "sim/schedule/row_plan.h"

namespace accsim::sim {

/// Puts runs of rows into a order.
class RowScheduler {
 public:
  explicit RowScheduler(OpOrder& order) : in_(order.input()), order_(order) {}

  /// Adds a run cut into pieces, if that is better than its ops as a whole.
  bool schedule_run(const RowGroup& run);
  /// The ways that were tried, of all runs.
  std::vector<RowShapeChoice> take_choices() { return std::exchange(choices_, {}); }

 private:
  /// How runs of equal ops are cut, and the plan that they have in common where their rows go the
  /// same ways: that of one of them.
  struct KnownCut {
    RowTileShape as;
    std::optional<RowPlan> plan;
  };
  /// Equal runs are cut alike: as was best for the first of them.
  KnownCut& best_cut(const RowGroup& run);
  RowTileShape find_cut(const RowGroup& run);
  /// The numbers of pieces of a run, or of one of its pairs, until no more promise anything.
  void try_counts(const RowGroup& run, int pair, RowShapeChoice& choice);
  /// Does all that is between the ops fit into the shared buffer at once?
  bool fits_whole(const RowGroup& run) const;
  RowPlanner make_planner() const {
    return {in_.ops, in_.lowered, in_.mapper, order_.shared_capacity()};
  }
  /// Ops of the run before and behind what is cut of it.
  struct Beside {
    std::vector<ScheduledOp> before, behind;
  };
  Beside ops_beside(const RowGroup& run, const RowPlan& plan) const;
  /// Until the end of a run that is cut so; once it is more than `most`, only that it is.
  int64_t cycles_of_plan(const RowPlan& plan, const Beside& ops, int64_t most);
  /// What stands in the text of a run that is cut so.
  CutGroup text_of(const RowGroup& run, const RowPlan& plan) const;
  ScheduledOp scheduled_part(const RowPlan& plan, const PartStep& t,
                             std::span<const int32_t> tensors) const;

  const ScheduleInput& in_;
  OpOrder& order_;
  std::map<std::string, KnownCut> cuts_;
  std::vector<RowShapeChoice> choices_;
};

}  // namespace accsim::sim
