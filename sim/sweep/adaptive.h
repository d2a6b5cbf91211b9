#pragma once
#include <map>
#include <vector>

#include "sim/sweep/box_bounds.h"
#include "sim/sweep/evaluate.h"
#include "sim/sweep/front.h"
#include "sim/sweep/run.h"

namespace accsim::sim {

/// A pareto sweep: the grid is cut into ever smaller regions; those whose lower bounds a costed
/// point beats are dropped. Leaves the grid's own front in the store, and few other points. Regions
/// are looked at in rounds of fixed size, so what is costed doesn't depend on threads or
/// interruptions.
class AdaptiveRun {
 public:
  AdaptiveRun(const SweepSpec& spec, const SweepRun& run, SweepStore& store,
              std::vector<Evaluator> evaluators, SweepOutcome& outcome);

  Status run();

 private:
  /// One machine to cost: a point, or a bound.
  struct Task {
    int64_t point = -1;
    hw::HwConfig hw;
    Objective objective = Objective::cycles;
    MapEffort effort = MapEffort::search;
    std::string key;
  };
  struct Known {
    bool feasible = false;
    PointTotals totals;
  };

  bool is_stopped() const { return run_.stop != nullptr && *run_.stop; }
  bool is_hopeless(const MachineBox& r) const;
  bool has_no_point(const MachineBox& r);
  void cheap_bounds(MachineBox& r) const;
  void ask_about(const MachineBox& r);
  void ask_machine(const Relaxed& machine, Question q);
  void ask_point(int64_t point);
  Status answer_tasks();
  Status look_up(std::vector<Task>& missing);
  Status commit_rows(const std::vector<PointRow>& rows, const std::vector<BoundRow>& bounds);
  void learn_point(const PointRow& row);
  void sharpen_bounds(MachineBox& r);
  const Known* find_known(const MachineBox& r, Question q);
  void split_box(const MachineBox& r);
  void open_box(MachineBox r);
  static std::string bound_key(const Relaxed& machine, Question q);
  bool needs_answer(Question q) const;
  bool is_legal(int64_t point) { return space_.is_legal(space_.steps_of_point(point)); }

  const SweepSpec& spec_;
  const SweepRun& run_;
  SweepStore& store_;
  std::vector<Evaluator> evaluators_;
  SweepOutcome& outcome_;
  Space space_;
  BoxBounds bounds_;
  Front front_;
  std::multimap<double, MachineBox> open_;  ///< most promising first
  std::vector<Task> tasks_;
  std::map<int64_t, Known> points_;
  std::map<std::string, Known> machines_;
  int64_t decided_ = 0;
};

}  // namespace accsim::sim
