#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Tensors in order: a node's inputs or outputs, kNoTensor for an absent one.
using TensorIds = std::vector<TensorId>;

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

  /// What a name stands for here or in the scopes around; nullptr when it stands for nothing.
  const TensorId* find(std::string_view name) const;
  /// An empty scope inside this one, which must outlive it.
  Scope inner_scope(std::string inner_prefix) const;
};

/// A node being expanded: its definition, unique name, resolved inputs and attributes.
struct NodeCall {
  const NodeDef& def;
  std::string name;
  int64_t opset = 0;  ///< version of the node's domain that holds where it stands
  TensorIds inputs;   ///< kNoTensor for an absent one; none absent at the end
  std::vector<Attribute> attributes;
  Scope& scope;  ///< where it stands and its outputs' names go

  /// Input i, or kNoTensor.
  TensorId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoTensor; }
  /// Whether the model names output i.
  bool wants_output(size_t i) const { return i < def.outputs.size() && !def.outputs[i].empty(); }
  /// An attribute; nullptr when it is absent.
  const Attribute* find_attribute(std::string_view wanted) const;
  /// An attribute that holds a subgraph; nullptr when it is absent or of another type.
  const GraphDef* graph_attribute(std::string_view wanted) const;
  /// An integer attribute; the fallback when it is absent or of another type.
  int64_t integer_attribute(std::string_view wanted, int64_t fallback) const;
  /// A list of integers; empty when it is absent or of another type.
  std::vector<int64_t> integers_attribute(std::string_view wanted) const;
  /// An error of this node.
  Error error_at_node(Errc code, std::string message) const;
  /// Errors of this node.
  Errors errors_at_node(Errors found) const;
};

/// `attributes` with references to the calling node's attributes replaced by their values.
/// References that the call doesn't give are left out, and so are all of them outside functions.
std::vector<Attribute> resolve_attributes(const std::vector<Attribute>& attributes,
                                          const CallFrame* frame);

}  // namespace accsim::sim
