#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/result.h"
#include "sim/graph/const_data.h"
#include "sim/graph/given_value.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// An index of Graph::tensors.
using TensorId = int32_t;
/// An index of Graph::nodes.
using NodeId = int32_t;
inline constexpr TensorId kNoTensor = -1;  ///< an absent optional input or an unused output
inline constexpr NodeId kNoNode = -1;

/// What integers stand for: (integer - zero point) x scale. All are constants.
struct Quantisation {
  TensorId scale = kNoTensor;       ///< one number, or one an index of an axis of weights
  TensorId zero_point = kNoTensor;  ///< kNoTensor: 0
  TensorId times = kNoTensor;       ///< another factor, as that of a bias; kNoTensor: none
  int64_t axis = 0;                 ///< of the tensor: what scales that aren't one number are along
};

/// A tensor of the elaborated graph: its shape and element type are known.
struct Tensor {
  enum class Origin : uint8_t { input, initializer, node };
  std::string name;
  Origin origin = Origin::node;
  DType dtype = DType::undefined;
  Dims dims;
  NodeId producer = kNoNode;  ///< for Origin::node
  bool constant = false;      ///< the same in every run, so computed once, off line
  /// The elements where they are known and few: of a constant, or of what every run computes anew
  /// if the user stated them (Graph::given_values), or they follow from others' that are stated.
  ConstPtr value;
  Payload payload;  ///< for Origin::initializer
  /// Of a graph on real numbers (sim/lower/real_graph.h): the integers that the file has here.
  std::optional<Quantisation> quantisation = std::nullopt;
};

/// One operator of the graph with its tensors; absent inputs and unused outputs are kNoTensor.
struct Node {
  /// Never empty: unnamed nodes get "<op_type>_<index>". Behind "<module>/" where the file states
  /// the module beside the node.
  std::string name;
  std::string op_type;
  std::string domain;
  int64_t opset = 0;  ///< version of `domain` that the node is written in
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<Attribute> attributes;
  bool folded = false;  ///< every output is constant: costs nothing at run time
  /// Path of the module that the node was exported from, its parts divided by "."; "": not known.
  std::string module{};
  /// Of a graph on real numbers (sim/lower/real_graph.h): the operator that the file has, where it
  /// is another one; its scales and zero points; is the node nothing but a change of numbers,
  /// which its neighbours' commands do?
  std::string written_as{};
  std::vector<TensorId> quantisation{};
  bool absorbed = false;
  /// Of a node that the file doesn't have: the name of the one that it is a part of.
  std::string part_of{};

  /// The operator of the file.
  const std::string& file_op() const { return written_as.empty() ? op_type : written_as; }
};

/// A size, or the branch of an If, that only the numbers of a run decide, and what it is taken as.
struct Assumption {
  std::string node{};  ///< name of the node whose output has it
  std::string op_type{};
  std::string of{};      ///< what is counted, as "elements that aren't 0"
  int64_t bound = 0;     ///< it can't be more
  int64_t size = 0;      ///< what it is taken as
  bool given = false;    ///< by the user
  std::string branch{};  ///< kThenBranch or kElseBranch; "": it is a size
  bool input = false;    ///< `node` is an input: who calls the model decides
  bool of_cost = false;  ///< no shape depends on it, but what the node costs
};
inline constexpr std::string_view kThenBranch = "then", kElseBranch = "else";

/// A flat graph in topological order: functions inlined, If/Loop/Scan expanded, symbols bound.
struct Graph {
  std::string name;
  std::string file;
  int64_t ir_version = 0;
  int64_t opset = 0;  ///< of ai.onnx
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::map<std::string, int64_t> bindings;         ///< what each symbol was bound to
  std::vector<std::string> defaulted;              ///< symbols bound to 1 for want of a --bind
  std::map<std::string, int64_t> given_sizes;      ///< of nodes, for what only a run decides
  std::map<std::string, GivenValue> given_values;  ///< of tensors that aren't constant
  std::map<std::string, bool> given_branches;      ///< of Ifs: is it the then branch?
  int64_t key_blocks = 0;        ///< keys of the blocks that attention was cut into; 0: it wasn't
  bool keeps_attention = false;  ///< it is to be as it is, whatever a machine does best
  /// Names of inputs, constants and outputs that lie in the shared buffer before and behind a run.
  std::vector<std::string> on_chip;
  std::vector<Assumption> assumed;              ///< what was taken for what only a run decides
  std::map<std::string, std::string> metadata;  ///< properties of the model
  std::shared_ptr<const void> mapping;          ///< keeps Payload::data alive

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  Tensor& tensor(TensorId id) { return tensors[static_cast<size_t>(id)]; }
};

/// Notes a size that only a run decides: what the user gave for `asked.node`, or else `asked.size`.
/// Gives it; Errc::usage when the user gave more than the bound.
Result<int64_t> assume_size(Graph& graph, Assumption asked);

/// Checks what every later stage relies on: ids in range, each tensor written once and before it is
/// read, every shape within 62 bits. Errors name the node.
Status verify_graph(const Graph& graph);

/// For every tensor the nodes that read it, in order, each once.
std::vector<std::vector<NodeId>> consumers_by_tensor(const Graph& graph);

}  // namespace accsim::sim
