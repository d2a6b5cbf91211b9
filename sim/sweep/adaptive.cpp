#include "sim/sweep/adaptive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hw/area/area.h"
#include "sim/base/threads.h"

namespace accsim::sim {
namespace {

constexpr size_t kRound = 16;           // regions that are looked at together
constexpr int64_t kWalked = 4096;       // points of a region that are tried against the constraints
constexpr double kRounding = 1 - 1e-9;  // sums of energy in another order

Objective objective_of(Question q) {
  constexpr std::array<Objective, kQuestions> kObjective = {Objective::cycles, Objective::energy,
                                                            Objective::traffic};
  return kObjective[static_cast<size_t>(q)];
}

}  // namespace

AdaptiveRun::AdaptiveRun(const SweepSpec& spec, const SweepRun& run, SweepStore& store,
                         std::vector<Evaluator> evaluators, SweepOutcome& outcome)
    : spec_(spec),
      run_(run),
      store_(store),
      evaluators_(std::move(evaluators)),
      outcome_(outcome),
      space_(spec),
      bounds_(spec) {}

Status AdaptiveRun::run() {
  MachineBox all;
  for (const Axis& axis : spec_.axes) {
    all.low.push_back(0);
    all.high.push_back(static_cast<int>(axis.steps.size()) - 1);
  }
  all.bounds.assign(spec_.objectives.size(), 0);
  open_box(std::move(all));
  while (!open_.empty()) {
    std::vector<MachineBox> round;
    while (!open_.empty() && round.size() < kRound) {
      MachineBox r = std::move(open_.begin()->second);
      open_.erase(open_.begin());
      if (is_hopeless(r) || has_no_point(r)) {
        decided_ += r.point_count();
        continue;
      }
      ask_about(r);
      round.push_back(std::move(r));
    }
    if (const Status answered = answer_tasks(); !answered) return answered;
    if (is_stopped()) return ok();  // the round may be short of answers
    for (MachineBox& r : round) {
      sharpen_bounds(r);
      if (r.is_single() || is_hopeless(r))
        decided_ += r.point_count();
      else
        split_box(r);
    }
    if (run_.progress)
      run_.progress({decided_, space_.size(), outcome_.evaluated + outcome_.bounds});
  }
  return ok();
}

void AdaptiveRun::open_box(MachineBox r) {
  cheap_bounds(r);
  double promise = 1;
  for (const double b : r.bounds) promise *= std::max(b, 1e-30);
  open_.emplace(promise, std::move(r));
}

bool AdaptiveRun::needs_answer(Question q) const {
  for (const Metric m : spec_.objectives) {
    const bool cycles = m == Metric::cycles || m == Metric::time || m == Metric::edp;
    const bool energy = m == Metric::energy || m == Metric::edp;
    if ((q == Question::cycles && cycles) || (q == Question::energy && energy) ||
        (q == Question::traffic && m == Metric::traffic))
      return true;
  }
  return false;
}

bool AdaptiveRun::is_hopeless(const MachineBox& r) const {
  return front_.excludes(r.bounds, space_.point_of_steps(r.low));
}

/// True when surely no point of the region satisfies the constraints.
bool AdaptiveRun::has_no_point(const MachineBox& r) {
  if (spec_.constraints.empty() || r.point_count() > kWalked) return false;
  AxisSteps at = r.low;
  while (true) {
    if (space_.is_legal(at)) return false;
    size_t a = at.size();
    while (a > 0 && at[a - 1] == r.high[a - 1]) {
      at[a - 1] = r.low[a - 1];
      --a;
    }
    if (a == 0) return true;
    ++at[a - 1];
  }
}

/// What can be said without costing a machine.
void AdaptiveRun::cheap_bounds(MachineBox& r) const {
  for (size_t i = 0; i < r.bounds.size(); ++i) {
    double least = 0;
    switch (spec_.objectives[i]) {
      case Metric::area:
        least = bounds_.least_area(r);
        break;
      case Metric::sram:
        least = bounds_.least_sram(r);
        break;
      case Metric::cycles:
        least = bounds_.least_cycles(r);
        break;
      case Metric::time:
        least = bounds_.least_cycles(r) / bounds_.most_mhz(r);
        break;
      case Metric::energy:
        least = bounds_.least_energy(r);
        break;
      case Metric::edp:
        least = bounds_.least_energy(r) * bounds_.least_cycles(r) / bounds_.most_mhz(r) * kRounding;
        break;
      default:
        break;
    }
    r.bounds[i] = std::max(r.bounds[i], least);
  }
}

void AdaptiveRun::ask_about(const MachineBox& r) {
  if (r.is_single()) return ask_point(space_.point_of_steps(r.low));
  if (bounds_.unordered_axis(r) >= 0) return;
  for (size_t i = 0; i < kQuestions; ++i)
    if (const auto q = static_cast<Question>(i); needs_answer(q))
      ask_machine(bounds_.relaxed_machine(r, q), q);
}

void AdaptiveRun::ask_point(int64_t point) {
  if (points_.contains(point) || !is_legal(point)) return;
  Task task;
  task.point = point;
  tasks_.push_back(std::move(task));
}

void AdaptiveRun::ask_machine(const Relaxed& machine, Question q) {
  if (machine.point >= 0 && is_legal(machine.point)) return ask_point(machine.point);
  Task task;
  task.hw = machine.hw;
  task.objective = objective_of(q);
  task.effort = machine.effort;
  task.key = bound_key(machine, q);
  if (!machines_.contains(task.key)) tasks_.push_back(std::move(task));
}

std::string AdaptiveRun::bound_key(const Relaxed& machine, Question q) {
  return fmt::format("{} {}", config_hash(machine.hw), name(objective_of(q)));
}

/// Takes what the store knows; leaves the rest, each machine once.
Status AdaptiveRun::look_up(std::vector<Task>& missing) {
  std::set<int64_t> points;
  std::set<std::string> keys;
  for (Task& task : tasks_) {
    if (task.point >= 0) {
      if (!points.insert(task.point).second) continue;
      const auto row = store_.find(task.point);
      if (!row) return row.errors();
      if (*row) {
        learn_point(**row);
        continue;
      }
    } else {
      if (!keys.insert(task.key).second) continue;
      const auto row = store_.find_bound(task.key);
      if (!row) return row.errors();
      if (*row) {
        machines_[task.key] = {(*row)->reason.empty(), (*row)->totals};
        continue;
      }
    }
    missing.push_back(std::move(task));
  }
  tasks_.clear();
  return ok();
}

/// Costs all that was asked and commits it.
Status AdaptiveRun::answer_tasks() {
  std::vector<Task> tasks;
  if (const Status looked = look_up(tasks); !looked) return looked;
  if (tasks.empty()) return ok();
  std::vector<PointRow> rows(tasks.size());
  std::vector<BoundRow> bounds(tasks.size());
  std::atomic<size_t> next{0};
  const auto work = [&](Evaluator& evaluator) {
    for (size_t i = next++; i < tasks.size() && !is_stopped(); i = next++) {
      const Task& task = tasks[i];
      if (task.point >= 0) {
        rows[i] = evaluator.evaluate_point(task.point);
      } else {
        bounds[i].key = task.key;
        bounds[i].totals =
            evaluator.bound_totals(task.hw, task.objective, task.effort, bounds[i].reason);
      }
    }
  };
  const size_t useful = std::min(evaluators_.size(), tasks.size());
  Threads others(static_cast<int>(useful) - 1,
                 [&](int i) { work(evaluators_[static_cast<size_t>(i) + 1]); });
  work(evaluators_[0]);
  others.join();
  std::erase_if(rows, [](const PointRow& row) { return row.config.empty(); });
  std::erase_if(bounds, [](const BoundRow& row) { return row.key.empty(); });
  return commit_rows(rows, bounds);
}

Status AdaptiveRun::commit_rows(const std::vector<PointRow>& rows,
                                const std::vector<BoundRow>& bounds) {
  if (const Status written = store_.write(rows, bounds); !written) return written;
  for (const PointRow& row : rows) learn_point(row);
  for (const BoundRow& row : bounds) machines_[row.key] = {row.reason.empty(), row.totals};
  outcome_.evaluated += static_cast<int64_t>(rows.size());
  outcome_.bounds += static_cast<int64_t>(bounds.size());
  return ok();
}

void AdaptiveRun::learn_point(const PointRow& row) {
  Known k{row.is_feasible(), row.totals};
  if (k.feasible) {
    const hw::HwConfig hw = space_.machine_at(space_.steps_of_point(row.point));
    k.totals.clock_mhz = hw.clock_mhz;
    k.totals.area_mm2 = area_mm2(hw);
    k.totals.sram_bytes = sram_bytes(hw);
    std::vector<double> values;
    for (const Metric m : spec_.objectives) values.push_back(k.totals.metric_value(m));
    front_.add(std::move(values), row.point);
  }
  points_[row.point] = k;
}

const AdaptiveRun::Known* AdaptiveRun::find_known(const MachineBox& r, Question q) {
  if (!needs_answer(q)) return nullptr;
  const Relaxed machine = bounds_.relaxed_machine(r, q);
  if (machine.point >= 0 && is_legal(machine.point)) {
    const auto at = points_.find(machine.point);
    return at != points_.end() && at->second.feasible ? &at->second : nullptr;
  }
  const auto at = machines_.find(bound_key(machine, q));
  return at != machines_.end() && at->second.feasible ? &at->second : nullptr;
}

/// Bounds from the relaxed machines, now that they are costed. One that can't be built or holds no
/// tile says nothing.
void AdaptiveRun::sharpen_bounds(MachineBox& r) {
  if (r.is_single() || bounds_.unordered_axis(r) >= 0) return;
  std::array<double, kQuestions> least{};
  if (const Known* k = find_known(r, Question::cycles))
    least[0] = static_cast<double>(k->totals.cycles);
  if (const Known* k = find_known(r, Question::energy)) least[1] = k->totals.energy_pj * kRounding;
  if (const Known* k = find_known(r, Question::traffic))
    least[2] = static_cast<double>(k->totals.traffic_bytes());
  const double mhz = bounds_.most_mhz(r);
  for (size_t i = 0; i < r.bounds.size(); ++i) {
    double bound = 0;
    switch (spec_.objectives[i]) {
      case Metric::cycles:
        bound = least[0];
        break;
      case Metric::time:
        bound = least[0] / mhz;
        break;
      case Metric::energy:
        bound = least[1];
        break;
      case Metric::edp:
        bound = least[1] * (least[0] / mhz) * kRounding;
        break;
      case Metric::traffic:
        bound = least[2];
        break;
      default:
        break;
    }
    r.bounds[i] = std::max(r.bounds[i], bound);
  }
}

void AdaptiveRun::split_box(const MachineBox& r) {
  const int unordered = bounds_.unordered_axis(r);
  const auto a = static_cast<size_t>(unordered >= 0 ? unordered : bounds_.widest_axis(r));
  const int middle = r.low[a] + (r.high[a] - r.low[a]) / 2;
  MachineBox below = r, above = r;
  below.high[a] = middle;
  above.low[a] = middle + 1;
  open_box(std::move(below));
  open_box(std::move(above));
}

}  // namespace accsim::sim
