#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

/// One call of a model-local function.
struct CallFrame {
  const FunctionDef* function = nullptr;
  const CallFrame* caller = nullptr;
  std::vector<Attribute> attributes;  ///< what the body's attribute references mean
};

/// Names visible to a list of nodes. Subgraphs see their parents' names, function bodies don't.
struct Scope {
  const Scope* parent = nullptr;
  const CallFrame* frame = nullptr;
  const GraphDef* graph = nullptr;  ///< where shapes are declared; nullptr in a function body
  std::string prefix;               ///< of node and tensor names
  std::unordered_map<std::string_view, TensorId> names;  ///< kNoTensor: an argument left out

  const TensorId* find(std::string_view name) const;
};

/// Builds the Graph of one model; the implementation of elaborate(). Used once.
class Elaborator {
 public:
  Elaborator(const ModelDef& model, const ElaborateOptions& options);
  Result<Graph> run();

 private:
  using TensorIds = std::vector<TensorId>;
  /// A node being expanded: its definition, unique name, resolved inputs and attributes.
  struct Call {
    const NodeDef& def;
    std::string name;
    TensorIds inputs;
    std::vector<Attribute> attributes;
    Scope& scope;

    TensorId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoTensor; }
    const Attribute* attribute(std::string_view wanted) const;
    const GraphDef* graph(std::string_view wanted) const;
    int64_t integer(std::string_view wanted, int64_t fallback) const;
    std::vector<int64_t> integers(std::string_view wanted) const;
  };
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

  // elaborate.cpp: inputs, initializers, plain nodes.
  Status check_versions() const;
  Status add_inputs(Scope& scope);
  Status add_initializers(const GraphDef& graph, Scope& scope);
  Result<TensorId> add_tensor(Tensor tensor);
  Result<TensorId> add_constant(std::string name, Dims dims, std::vector<int64_t> values);
  Status expand(const std::vector<NodeDef>& nodes, Scope& scope);
  Status expand_node(const NodeDef& def, size_t index, Scope& scope);
  Status add_plain(const Call& call);
  /// Runs the op's rules over the last node of the graph. `label` is put before error messages.
  Status infer(const OpRow* row, const std::string& label, const Scope& scope);
  Status run_rules(const OpRow& row, const std::string& label);
  Status count_output(TensorId id, const std::string& label);
  void mark_constant(Node& node, const OpRow& row);
  bool values_wanted(const Node& node, const OpRow& row);
  std::vector<Attribute> resolve(const std::vector<Attribute>& attributes,
                                 const Scope& scope) const;
  int64_t opset_of(const std::string& domain, const Scope& scope) const;
  /// Counts work against kMostSteps.
  Status step(const std::string& label);
  Errors at(const std::string& label, const Errors& errors) const;
  Error at(const std::string& label, Errc code, std::string message) const;

  // elaborate_support.cpp: which operators there is no support for, and what is assumed of them.
  Status check_support(const std::vector<NodeDef>& nodes, const std::string& prefix);
  const FunctionDef* function_of(const NodeDef& node) const;
  bool supported(const NodeDef& node) const;
  Error unsupported(const NodeDef& node, const std::string& name) const;
  /// Shapes of the last node's outputs: as declared, else that of its first input.
  void assume_outputs(const Scope& scope);
  std::optional<Dims> declared_dims(const ValueDef& value) const;

  // elaborate_control.cpp: functions, If, Loop.
  Status inline_function(const Call& call, const FunctionDef& function);
  Status expand_if(const Call& call);
  Status expand_loop(const Call& call);
  Status loop_iterations(const Call& call, const GraphDef& body, Scope& constants,
                         TensorIds& carried, std::vector<TensorIds>& scanned);
  /// Expands a subgraph in `scope` (its inputs already bound) and gives the ids of its outputs.
  Result<TensorIds> expand_body(const GraphDef& body, Scope& scope, const std::string& label);
  Result<TensorIds> find_outputs(const std::vector<std::string>& names, const Scope& scope,
                                 const std::string& label);
  /// Gives the call's outputs the tensors `ids`, renaming those made since `first_node`.
  Status bind_outputs(const Call& call, const TensorIds& ids, NodeId first_node);
  /// The value of a one-element integer or boolean tensor, when known.
  std::optional<int64_t> known_scalar(TensorId id) const;

  // elaborate_scan.cpp: Scan, and what Loop shares with it.
  struct ScanPlan;
  Status expand_scan(const Call& call);
  Result<ScanPlan> plan_scan(const Call& call, const GraphDef& body);
  Status scan_step(const Call& call, const ScanPlan& plan, int64_t step, Scope& scope,
                   TensorIds& carried, std::vector<TensorIds>& scanned);
  /// One node that the model doesn't have; gives its output. The opset is 13.
  Result<TensorId> add_internal(std::string op_type, std::string name, TensorIds inputs,
                                std::vector<Attribute> attributes, const Scope& scope);
  /// The tensors of all iterations as one, along a new `axis`; `declared` gives the shape when
  /// there was no iteration.
  Result<TensorId> stack(const Call& call, size_t output, TensorIds parts, int64_t axis,
                         const ValueDef* declared);

  std::string label(const Call& call) const;

  const ModelDef& model_;
  const ElaborateOptions& options_;
  Graph graph_;
  std::map<FunctionKey, const FunctionDef*> functions_;
  std::set<const FunctionDef*> checked_functions_;
  int64_t steps_ = 0;
  int64_t depth_ = 0;         ///< of subgraphs and calls
  int64_t value_budget_ = 0;  ///< elements that constants may still hold
  int64_t total_bytes_ = 0;
};

}  // namespace accsim::sim
