#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/graph/graph.h"
#include "sim/lower/layout.h"
#include "sim/work/pitch.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// What a region of elementwise nodes makes of one tensor: the same function of each of its
/// elements. Nothing else reads what is between its nodes.
struct UnaryFunction {
  TensorId of = kNoTensor;    ///< the argument
  std::vector<NodeId> nodes;  ///< in order; they read it, one another, and constants of one element
  bool affine = false;        ///< it is c x + d: part of a product's requantisation
  bool rescales = false;      ///< it is c x of a known c > 0
  VectorOp work;  ///< of port 0 to port 0: the nodes' operations where they can't be looked up

  bool empty() const { return nodes.empty(); }
};

/// An input of a layer that is copied before its own work, and how the copy lies.
struct PortLayout {
  ValuePort port = 0;
  Layout layout;
};
/// Internal ports of that copy, and of what is between two steps of it.
inline ValuePort copy_port(ValuePort input) { return ValuePort::made(input, 2); }
inline ValuePort step_port(ValuePort input) { return ValuePort::made(input, 3); }
/// An input that a layer's work reads as rotary embeddings turn it. In the row-major index, two
/// neighbouring pieces of so many elements change places. The second piece, which now comes first,
/// is negated.
struct TurnedPort {
  ValuePort port = 0;
  int64_t piece = 1;
};

/// A tensor that lies in another one: an output of Slice or Split, an input of Concat. All in
/// elements as they lie in memory.
struct SubTensor {
  TensorId whole = kNoTensor;  ///< that has bytes of its own; kNoTensor: the tensor has
  int64_t offset = 0;
  Pitch pitch{};

  friend bool operator==(const SubTensor&, const SubTensor&) = default;
};

/// A graph node with its fate and, where it costs anything, its work.
struct Layer {
  NodeId node = kNoNode;
  std::string name;
  std::string op_type;
  Fate fate = Fate::view;
  Work work;                      ///< empty for views and folded nodes
  std::vector<TensorId> inputs;   ///< what the ports of the work mean
  std::vector<TensorId> outputs;  ///< after merging: what the last merged node writes
  bool relu = false;              ///< the post unit clips: a folded activation
  /// Port of a tensor that the post unit adds to the last product (and its clip), of the same
  /// shape as the output.
  ValuePort residual = ValuePort::none();
  bool clips_sum = false;  ///< a folded activation behind that
  /// Of the last product's results, after its clip (`relu`; an affine one before it) and before
  /// what is added; or, of a layer of fate `vector`, all that the layer does.
  UnaryFunction function{};
  bool in_function = false;  ///< a folded node that is part of the function of another layer
  std::optional<RowMeaning> rows = std::nullopt;  ///< what nodes that spell it out do with rows
  std::optional<TurnedPort> turned = std::nullopt;
  /// Of lower_in_memory(): ports of which the work reads a copy, and how that lies.
  std::vector<PortLayout> copies{};
  int merged_into = -1;  ///< folded into this layer's program (index), -1: computed off line
  int64_t macs = 0;      ///< of the network's products
  int64_t params = 0;    ///< elements of parameters first read by this node
  int64_t buffers = 0;   ///< elements that aren't trained: statistics, rotary tables
};

/// One tensor that count_parameters() counted.
struct Parameter {
  TensorId tensor = kNoTensor;
  int layer = 0;                  ///< the first that reads it
  bool buffer = false;            ///< it isn't trained: in `buffers`, not in `params`
  DType type = DType::undefined;  ///< in which the file stores it
  int64_t count = 0;              ///< elements of that type, however they are packed
  int64_t bytes = 0;              ///< in the file; of what nodes make of nothing, those it has
};

/// A graph with every node's fate, and its parameters counted.
struct Lowered {
  std::vector<Layer> layers;  ///< one a node, in the graph's order
  /// By tensor id: consumers_by_tensor() of the graph as it was given.
  std::vector<std::vector<NodeId>> readers;
  std::vector<Parameter> parameters;     ///< in the order in which they are first read
  std::vector<std::string> unsupported;  ///< "name (op)" of nodes costed as traffic
  int64_t params = 0, buffers = 0;
  int64_t weight_bytes = 0;  ///< of the parameters, as the file stores them
  /// By tensor id, of lower_in_memory(): where its elements lie in memory. Constants are laid out
  /// off line as their readers want them; theirs say nothing.
  std::vector<Layout> layouts;
  /// By tensor id, of lower_in_memory(): which tensor it is a part of.
  std::vector<SubTensor> sub_tensors{};
};

/// Multiply-accumulates of the products among a node's work, whatever they are for.
int64_t macs_of(const Work& work);

/// Gives every node its fate: table row, constant folding, BatchNorm and bias folded into the
/// product before them, activations folded into their producer. Fails with every node that has no
/// fate. No tensor is laid out yet: a transpose still moves its bytes, and nothing says what lane
/// or row commands do.
Result<Lowered> lower(const Graph& graph);

/// What a machine does: lower() with all tensors laid out, and what lane and row commands make of
/// it.
Result<Lowered> lower_in_memory(const Graph& graph);

/// Marks what counts as a parameter: float initializers that nodes read, and integer ones that
/// stand for reals, with scales and zero points. Packed ones count by the elements that they hold.
/// Results of ConstantOfShape and Constant count as parameter inputs of an operator. What is
/// computed from parameters doesn't. Buffers: running statistics, tables of rotary embeddings.
void count_parameters(const Graph& graph, Lowered& lowered);

}  // namespace accsim::sim
