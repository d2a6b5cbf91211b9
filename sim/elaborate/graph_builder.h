#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/budget.h"
#include "sim/elaborate/declared_type.h"
#include "sim/elaborate/scope.h"
#include "sim/graph/graph.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

/// Makes a Graph, tensor by tensor and node by node, in topological order. A node is added when its
/// inputs are there. Then the types and shapes of its outputs are known, and constant values if
/// they are few. It knows nothing of names' scopes or of models. Errors say the node or tensor.
class GraphBuilder {
 public:
  /// `start` says name, file, versions and metadata, and has no tensors or nodes yet. `budget` must
  /// outlive the builder.
  GraphBuilder(Graph start, Budget& budget) : graph_(std::move(start)), budget_(budget) {}

  /// What there is by now. References into it end with the next addition.
  const Graph& graph() const { return graph_; }
  /// The id that the next node gets.
  NodeId next_node() const { return static_cast<NodeId>(graph_.nodes.size()); }
  /// The value of a one-element integer or boolean tensor, when known.
  std::optional<int64_t> known_scalar(TensorId id);
  /// Notes that the elements of a tensor decide what is added.
  void note_asked(TensorId id) { asked_.insert(id); }
  /// The tensors whose elements decided on branches, loops and parts.
  const std::set<TensorId>& asked() const { return asked_; }
  /// The tensors that have elements which the user states, by the names that state them.
  const std::map<std::string, TensorId>& given() const { return given_; }

  /// Notes a size that only a run decides, or the branch of an If, as assume_size() does.
  Result<int64_t> assume_size(Assumption asked) {
    return sim::assume_size(graph_, std::move(asked));
  }
  void assume_branch(Assumption branch) { graph_.assumed.push_back(std::move(branch)); }

  /// Tensors that nodes know under one name. The id isn't one of the graph's tensors: only what
  /// takes sequences may be given it.
  TensorId add_sequence(TensorIds tensors);
  /// The tensors of a sequence; nullptr for other ids. Ends with the next addition.
  const TensorIds* find_sequence(TensorId id) const;

  /// A point to which rewind_to() takes back all that was added since, but for the budget.
  struct Mark {
    size_t tensors, nodes, assumed, sequences;
  };
  Mark current_mark() const {
    return {graph_.tensors.size(), graph_.nodes.size(), graph_.assumed.size(), sequences_.size()};
  }
  void rewind_to(const Mark& mark);

  /// Notes the sizes of the model's symbols and which of them are 1 by default.
  void set_bindings(std::map<std::string, int64_t> bindings, std::vector<std::string> defaulted);
  /// Adds a tensor that no node writes.
  Result<TensorId> add_tensor(Tensor tensor);
  /// Adds a constant of as many values as `dims` has elements.
  Result<TensorId> add_constant(std::string name, Dims dims, ConstData values, DType dtype);
  /// Adds an int64 or boolean constant; as many values as `dims` has elements.
  Result<TensorId> add_integers(std::string name, Dims dims, std::vector<int64_t> values,
                                DType dtype = DType::int64);
  /// Adds a node without outputs yet, and one tensor for each of `outputs` that isn't "" (kNoTensor
  /// for those); the row's rules say what they are. Gives the outputs' ids.
  Result<TensorIds> add_node(Node node, const std::vector<std::string>& outputs, const OpRow& row);
  /// The same for an operator that there is no row for: each output is as declared, and where
  /// nothing is declared, as the first input. `declared` has one entry an output.
  Result<TensorIds> add_unsupported(Node node, const std::vector<std::string>& outputs,
                                    const std::vector<DeclaredType>& declared);
  /// Adds a node that the model doesn't have, of opset 13 of ai.onnx, with one output
  /// "<name>_output". Takes a step of the budget.
  Result<TensorId> add_internal(std::string op_type, std::string name, TensorIds inputs,
                                std::vector<Attribute> attributes);
  /// Gives a tensor another name, and what the user states of its elements by that name.
  Status rename_tensor(TensorId id, std::string name);
  /// The whole graph. The builder is empty afterwards.
  Graph finish_graph(TensorIds inputs, TensorIds outputs);

 private:
  /// Sets the elements that the user states of a tensor, if any. Errors name the tensor.
  Status take_given(TensorId id);
  /// Appends the node and its outputs, of unknown type. Errors are the budget's.
  Result<NodeId> append_node(Node node, const std::vector<std::string>& outputs);

  Graph graph_;
  std::vector<TensorIds> sequences_;
  std::set<TensorId> asked_;
  std::map<std::string, TensorId> given_;
  Budget& budget_;
};

}  // namespace accsim::sim
