#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/analyse/analysis.h"
#include "sim/report/fields.h"
#include "sim/report/roll_up.h"

namespace accsim::sim {

/// A graph and what its analysis found. Refers to all three.
struct Inspection {
  const Graph& graph;
  const Lowered& lowered;
  const Analysis& analysis;
  std::optional<Grouping> by = std::nullopt;  ///< nodes are rolled up, by module or op
};

/// The order of layers in tables and CSV.
enum class LayerSort : uint8_t { order, bandwidth, macs, params };  ///< but order: largest first

/// Everything as JSON, schema "accsim.inspect/1"; docs/inspect.md has the keys. Layers stand in the
/// graph's order, one a line, and so do groups. The same network and options give the same bytes.
std::string inspect_json(const Inspection& inspection);

/// The layers, or the groups instead of them, as CSV; written as to_csv() writes.
std::string inspect_csv(const Inspection& inspection, LayerSort sort);

/// What inspect_text() shows, and how wide.
struct InspectTextOptions {
  int width = 160;
  LayerSort sort = LayerSort::order;
  bool all_nodes = false;  ///< nodes computed off line too
  bool arena = false;      ///< the whole arena plan
};
/// Tables for a terminal of that width (at least 60).
std::string inspect_text(const Inspection& inspection, const InspectTextOptions& options);

// ---- what the three are made from ---------------------------------------------------------------

/// One number or word of a layer.
struct InspectField {
  std::string key;
  std::function<FieldValue(const Inspection&, const NodeAnalysis&)> get;
  std::vector<TextColumn> text = {};  ///< at most one; none: only in JSON and CSV
};
/// Every field, in the order of the files' keys and columns.
const std::vector<InspectField>& inspect_fields();

/// Indices of analysis.nodes; equals stay in the graph's order.
std::vector<size_t> sorted_layers(const Inspection& inspection, LayerSort sort);

/// Nodes that are alike, together.
struct InspectGroup {
  std::string name;
  NodeAnalysis sums;  ///< its counts are sums over the nodes; it has no shapes
  int64_t nodes = 0;
};
/// The groups that `by` asks for, in the order of their first nodes or by `sort`. Every node is of
/// one, so together they are the totals.
std::vector<InspectGroup> inspect_groups(const Inspection& inspection, LayerSort sort);

/// One number of a group.
struct GroupField {
  std::string key;
  int64_t (*get)(const InspectGroup&);
  TextColumn text;
};
/// Every field behind the name, in the order of the files' keys and columns.
const std::vector<GroupField>& group_fields();

/// As JSON and --macs spell it.
std::string_view name(MacConvention convention);
/// As JSON and --reads spell it.
std::string_view name(ReadConvention convention);
/// Name of the node that runs at that place of the plan's order; "" for place -1.
std::string step_name(const Inspection& inspection, const MemoryPlan& plan, int place);
/// The node's name; "" for kNoNode.
std::string node_name(const Inspection& inspection, NodeId node);
/// The tensor's name; "" for kNoTensor.
std::string tensor_name(const Inspection& inspection, TensorId id);

}  // namespace accsim::sim
