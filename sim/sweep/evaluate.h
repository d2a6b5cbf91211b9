#pragma once
#include <memory>
#include <vector>

#include "sim/flow/workload.h"
#include "sim/sweep/space.h"
#include "sim/sweep/spec.h"

namespace accsim::sim {

/// Costs the mix of networks on machines. One a thread; the spec must outlive it.
class Evaluator {
 public:
  static Result<Evaluator> create(const SweepSpec& spec);

  /// A point of the space, layers too when the spec wants them. A machine that can't be built or
  /// holds no tile gives a row with the reason.
  PointRow point(int64_t point);

  /// Any machine, with the mapping chosen for one objective: a bound for the machines that
  /// are no better in any field. Its reason is set when nothing can be said.
  PointTotals bound(const hw::HwConfig& hw, Objective objective, MapEffort effort,
                    std::string& reason);

 private:
  explicit Evaluator(const SweepSpec& spec) : spec_(&spec), space_(spec) {}
  PointTotals cost(const hw::HwConfig& hw, const MapOptions& options, std::string& reason);
  void add_layers(const hw::HwConfig& hw, const MapOptions& options, PointRow& row);

  const SweepSpec* spec_;
  Space space_;
  std::vector<Workload> workloads_;
};

/// Name of a machine in stores: hash of machine_text().
std::string config_hash(const hw::HwConfig& hw);

}  // namespace accsim::sim
