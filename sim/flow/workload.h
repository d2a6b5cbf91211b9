#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/mapper.h"

namespace accsim {

/// What a whole network costs on one machine: sums over its layers.
struct WorkloadTotals {
  int64_t cycles = 0;
  double energy_pj = 0;
  int64_t macs = 0;
  int64_t dram_read_bytes = 0, dram_write_bytes = 0;
  int64_t shared_bytes = 0;       ///< read and written in the shared buffer
  int64_t shared_peak_bytes = 0;  ///< most that it holds at a time

  friend bool operator==(const WorkloadTotals&, const WorkloadTotals&) = default;
};

/// A network made ready to be costed on very many machines: its distinct ops are found once for each
/// way in which tensors are kept on chip, not once a machine. The totals equal cost_network()'s. Not
/// thread-safe: one a thread.
class Workload {
 public:
  /// The graph is kept; it has been verified.
  static Result<Workload> prepare(Graph graph);

  Result<WorkloadTotals> cost(const HwConfig& hw, const MapOptions& options);

  const Graph& graph() const { return graph_; }

 private:
  struct DistinctOp {
    OpRequest request;
    int64_t times = 0;
    const std::string* layer = nullptr;  ///< the first that has it, for errors
  };
  struct Plan {
    std::vector<DistinctOp> ops;
    int64_t shared_peak_bytes = 0;
  };
  const Plan& plan(const HwConfig& hw);

  Graph graph_;
  Lowered lowered_;
  std::map<std::string, Plan> plans_;  ///< by what of a machine they depend on
};

}  // namespace accsim
