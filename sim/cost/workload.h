#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/cost/best_way.h"
#include "sim/cost/network_edp.h"
#include "sim/cost/network_plan.h"
#include "sim/cost/workload_memory.h"

namespace accsim::sim {

/// What a whole network costs on one machine: its cycles, and sums over its layers.
struct WorkloadTotals {
  int64_t cycles = 0;
  int64_t fewest_cycles = 0;  ///< without any slack, in blocks or not
  double energy_pj = 0;
  int64_t macs = 0;
  int64_t dram_read_bytes = 0, dram_write_bytes = 0;
  int64_t shared_bytes = 0;       ///< read and written in the shared buffer
  int64_t shared_peak_bytes = 0;  ///< most that it holds at a time

  friend bool operator==(const WorkloadTotals&, const WorkloadTotals&) = default;
};

/// The part of a machine and of the options that the mapping of an op depends on, as bytes to
/// compare. Of the machine the fields that decide products, or those that decide vector and memory
/// ops (fields.h), and the energy table where the objective, or its slack, is about energy.
/// Precondition: no layer is pinned.
std::string mapping_key(const hw::HwConfig& hw, const MapOptions& options, bool is_gemm);

/// A network made ready to be costed on very many machines. Its distinct ops are found once for
/// each way to keep tensors on chip, not once per machine. Mappings are remembered for machines
/// that differ only in fields that don't matter to them (mapping_key()). The totals equal
/// cost_network()'s. Not thread-safe: have one per thread.
class Workload {
 public:
  /// The graph is kept; it has been verified. What is found out about its ops is kept in `memory`,
  /// for other networks of the same thread too; null: a memory of its own.
  static Result<Workload> prepare(Graph graph, std::shared_ptr<WorkloadMemory> memory = nullptr);

  /// Long attention is done in blocks of keys where that is better, as by cost_network().
  Result<WorkloadTotals> cost(const hw::HwConfig& hw, const MapOptions& options);

  const Graph& graph() const { return *network_.graph; }
  const Lowered& lowered() const { return network_.lowered; }
  int64_t mapped() const { return mapped_; }          ///< mappings made so far
  int64_t remembered() const { return remembered_; }  ///< and those that needn't be made

 private:
  using FoundMappings = std::shared_ptr<const MappedOps>;
  /// What the network's text takes on a machine.
  struct Text {
    int64_t cycles = 0, fewest = 0;
    int64_t shared_peak_bytes = 0;
    /// What its programs do, in which mode of the machine, and how often each comes.
    struct Counted {
      hw::Counts counts;
      int mode = hw::kOwnTypes;
      int64_t times = 0;
    };
    std::vector<Counted> counts;
  };
  /// A plan, and what is remembered of machines that have it.
  struct Plan {
    std::unique_ptr<NetworkPlan> plan;
    /// By kind, as NetworkPlan::distinct, and the kind's mapping_key().
    std::array<std::unordered_map<std::string, FoundMappings>, 2> mapped;
    std::unordered_map<std::string, Text> texts;  ///< by both kinds' mapping_key()
  };
  /// With these tensors in DRAM: none, or what is in the way with none.
  Plan& plan_on(const ModeChoice& modes, bool all_room, std::span<const TensorId> in_dram,
                const KeptWeights& kept);
  std::unique_ptr<Mapper> make_mapper(const hw::HwConfig& hw, const MapOptions& options,
                                      const std::array<std::string, 2>& keys);
  Result<FoundMappings> mapped(std::span<const DistinctOp> ops, Mapper& mapper);
  Text text_of(const NetworkPlan& plan, const GroupsToTry& groups,
               const std::array<FoundMappings, 2>& ops, Mapper& mapper);
  Result<WorkloadTotals> totals_of(const Text& text, const hw::HwConfig& hw) const;

  Result<OneWay<WorkloadTotals>> cost_as_it_is(const hw::HwConfig& hw, const MapOptions& options,
                                               std::span<const TensorId> in_dram);
  Result<OneWay<WorkloadTotals>> cost_on(const ModeChoice& modes, const MapOptions& asked,
                                         std::span<const TensorId> in_dram,
                                         const KeptWeights& kept);

  PreparedNetwork network_;
  std::map<std::string, Plan> plans_;  ///< by what of a machine they depend on
  std::shared_ptr<WorkloadMemory> memory_;
  std::optional<std::vector<Workload>> in_blocks_;  ///< in_key_blocks_to_try(), once asked for
  int64_t mapped_ = 0, remembered_ = 0;
};

}  // namespace accsim::sim
