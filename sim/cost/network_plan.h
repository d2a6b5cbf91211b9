#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/cost/network_slack.h"
#include "sim/cost/product_modes.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/kept_weights.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"
#include "sim/schedule/chain.h"
#include "sim/schedule/line_groups.h"
#include "sim/schedule/row_groups.h"

namespace accsim::sim {

/// A network ready to be costed: what no machine changes.
struct PreparedNetwork {
  std::shared_ptr<const Graph> graph;          ///< without casts between floats
  Lowered lowered;                             ///< in memory
  std::vector<std::vector<AskedTypes>> asked;  ///< by layer
};

/// Errors: nodes that can't be lowered. The graph has been verified.
Result<PreparedNetwork> prepare_network(std::shared_ptr<const Graph> graph);

/// An op that is mapped once, however often the network has it.
struct DistinctOp {
  OpRequest request;
  std::string key;  ///< of the request
  int64_t times = 0;
  const std::string* layer = nullptr;  ///< the first that has it
};

/// Ops that fusion groups may be made of, and what the groups would have out of their way.
struct FusionGroups {
  std::vector<RowGroup> rows;
  std::vector<LineGroup> lines;
  std::vector<TensorId> in_the_way;  ///< tensors in the shared buffer that may be better in DRAM
};

/// A network's ops with its tensors placed as on some machines. Not to be moved: it points into
/// itself and into the network that it is of.
struct NetworkPlan {
  /// An op where it stands.
  struct Placed {
    bool is_gemm = false;
    size_t op = 0;  ///< of its kind
    size_t layer = 0;
  };

  Residency residency;
  std::array<std::vector<DistinctOp>, 2> distinct;  ///< vector and memory ops, products
  std::vector<Placed> order;
  std::vector<ChainOp> ops;                 ///< in that order
  std::vector<LayerTensors> tensors;        ///< by layer
  std::optional<FusionGroups> groups = {};  ///< once groups_to_try() was asked

  const DistinctOp& distinct_op(const Placed& p) const { return distinct[p.is_gemm][p.op]; }
  /// In their order, as often as they stand there.
  std::vector<NetworkOp> network_ops() const;
};

/// What a plan follows from beside the network.
struct PlanOptions {
  bool all_room = false;                  ///< as MapOptions has it
  std::span<const MappingPin> pins = {};  ///< ops of layers with different pins are different
  std::span<const TensorId> in_dram = {};
};

/// Of the network on the machine of `modes`, where these weights are kept.
std::unique_ptr<NetworkPlan> plan_network(const PreparedNetwork& network, const ModeChoice& modes,
                                          const KeptWeights& kept, const PlanOptions& options);

/// Fusion groups that may take turns: none where cycles aren't what is minimised.
struct GroupsToTry {
  std::span<const RowGroup> rows;
  std::span<const LineGroup> lines;  ///< none under the fixed rule
  std::span<const TensorId> in_the_way;

  bool has_none() const { return rows.empty() && lines.empty(); }
};
/// Of a plan on its machine. Finds them when they are first asked for, and keeps them in the plan.
GroupsToTry groups_to_try(const PreparedNetwork& network, NetworkPlan& plan, const hw::HwConfig& hw,
                          const MapOptions& options);

/// Mappings, one for each op of a list.
using MappedOps = std::vector<std::shared_ptr<const Mapping>>;
/// Those of a plan's ops in their order. `mapped`: by kind, as NetworkPlan::distinct.
MappedOps in_order(const NetworkPlan& plan, const MappedOps& others, const MappedOps& products);
/// The plan's ops one behind the other, those of groups in turns, with the mappings that are best
/// there.
SlackSchedule schedule_plan(const PreparedNetwork& network, const NetworkPlan& plan,
                            const GroupsToTry& groups, const MappedOps& mappings, Mapper& mapper,
                            hw::ChainMemory* chains = nullptr);
/// Most bytes that the shared buffer of the machine holds at a time, kept weights included.
int64_t shared_peak_bytes(const NetworkPlan& plan, const Schedule& schedule,
                          const hw::HwConfig& machine);

}  // namespace accsim::sim
