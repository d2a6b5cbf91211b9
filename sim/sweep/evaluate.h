#pragma once
#include <memory>
#include <vector>

#include "sim/cost/workload.h"
#include "sim/sweep/space.h"
#include "sim/sweep/spec.h"

namespace accsim::sim {

/// Costs the mix of networks on machines. One a thread; the spec must outlive it.
class Evaluator {
 public:
  /// What is found out about mappings is kept in `mappings`, for other threads too; null: for none.
  static Result<Evaluator> create(const SweepSpec& spec,
                                  std::shared_ptr<MappingMemory> mappings = nullptr);

  /// A point of the space, layers too when the spec wants them. A machine that can't be built or
  /// holds no tile gives a row with the reason.
  PointRow evaluate_point(int64_t point);

  /// Any machine, with the mapping chosen for one objective: a bound for the machines that
  /// are no better in any field. Its reason is set when nothing can be said.
  PointTotals bound_totals(const hw::HwConfig& hw, Objective objective, MapEffort effort,
                           std::string& reason);

 private:
  explicit Evaluator(const SweepSpec& spec) : spec_(&spec), space_(spec) {}
  PointTotals cost_machine(const hw::HwConfig& hw, const MapOptions& options, std::string& reason);
  /// Makes the networks ready for these values of the axes of `bind`; what is wrong with them, or
  /// "".
  const std::string& bind_sizes(std::vector<double> sizes);
  void add_phases(const hw::HwConfig& hw, PointRow& row);
  void add_layers(const hw::HwConfig& hw, const MapOptions& options, PointRow& row);

  const SweepSpec* spec_;
  Space space_;
  std::shared_ptr<WorkloadMemory> memory_ = std::make_shared<WorkloadMemory>();
  std::vector<Workload> workloads_;   ///< by model
  std::vector<double> sizes_;         ///< that they are for
  std::string unbound_;               ///< why they can't be for those
  std::vector<WorkloadTotals> last_;  ///< by model, of the last machine that was costed
};

/// Name of a machine in stores, and of the sizes that its networks are bound to: hash of
/// machine_text() and those.
std::string config_hash(const hw::HwConfig& hw, const std::vector<double>& sizes = {});

}  // namespace accsim::sim
