#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/sweep/spec.h"

namespace accsim::sim {

/// A step of every axis.
using AxisSteps = std::vector<int>;

/// The points of a sweep's grid, numbered with the last axis counting fastest. The spec must
/// outlive it. Not thread-safe; copies are cheap.
class Space {
 public:
  explicit Space(const SweepSpec& spec);

  int64_t size() const { return size_; }
  AxisSteps steps_of_point(int64_t point) const;
  int64_t point_of_steps(const AxisSteps& steps) const;

  /// True when every constraint holds.
  bool is_legal(const AxisSteps& steps);

  /// The base with the steps' fields.
  hw::HwConfig machine_at(const AxisSteps& steps) const;
  std::vector<std::string> labels_at(const AxisSteps& steps) const;
  /// The values of the axes of `bind`.
  std::vector<double> sizes_at(const AxisSteps& steps) const;

 private:
  struct Assignment {
    size_t variable;
    double value;
  };
  const SweepSpec* spec_;
  int64_t size_ = 1;
  std::vector<double> variables_;                                  ///< by constraint_names()
  std::vector<std::vector<std::vector<Assignment>>> assignments_;  ///< by axis and step
};

/// What is wrong with a machine that no file describes: the first broken cross-field rule; empty
/// when it is good.
std::string broken_rule(const hw::HwConfig& hw);

/// The points of a sweep in the order in which they are costed, drawn lazily: memory doesn't grow
/// with their number. Not thread-safe.
class PointSource {
 public:
  explicit PointSource(const SweepSpec& spec);

  /// The next legal point; -1 at the end.
  int64_t next_point();

 private:
  int64_t shuffled_point(int64_t i) const;

  const SweepSpec& spec_;
  Space space_;
  int64_t at_ = 0, found_ = 0;
  int bits_ = 0;  ///< half of the shuffled numbers' width
};

/// How many points a grid or pareto sweep has, or a random one will draw. Error (invalid) when the
/// constraints leave none.
Result<int64_t> count_points(const SweepSpec& spec);

}  // namespace accsim::sim
