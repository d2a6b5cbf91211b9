#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/result.h"
#include "sim/graph/const_data.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// An index of Graph::tensors.
using TensorId = int32_t;
/// An index of Graph::nodes.
using NodeId = int32_t;
inline constexpr TensorId kNoTensor = -1;  ///< an absent optional input or an unused output
inline constexpr NodeId kNoNode = -1;

/// A tensor of the elaborated graph: its shape and element type are known.
struct Tensor {
  enum class Origin : uint8_t { input, initializer, node };
  std::string name;
  Origin origin = Origin::node;
  DType dtype = DType::undefined;
  Dims dims;
  NodeId producer = kNoNode;  ///< for Origin::node
  bool constant = false;      ///< the same in every run, so computed once, off line
  ConstPtr value;             ///< the constant's elements where they are known and few
  Payload payload;            ///< for Origin::initializer
};

/// One operator of the graph with its tensors; absent inputs and unused outputs are kNoTensor.
struct Node {
  std::string name;  ///< never empty: unnamed nodes get "<op_type>_<index>"
  std::string op_type;
  std::string domain;
  int64_t opset = 0;  ///< version of `domain` that the node is written in
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<Attribute> attributes;
  bool folded = false;  ///< every output is constant: costs nothing at run time
};

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
  std::map<std::string, int64_t> bindings;      ///< what each symbol was bound to
  std::vector<std::string> defaulted;           ///< symbols bound to 1 for want of a --bind
  std::map<std::string, std::string> metadata;  ///< properties of the model
  std::shared_ptr<const void> mapping;          ///< keeps Payload::data alive

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  Tensor& tensor(TensorId id) { return tensors[static_cast<size_t>(id)]; }
};

/// Checks what every later stage relies on: ids in range, each tensor written once and before it is
/// read, every shape within 62 bits. Errors name the node.
Status verify(const Graph& graph);

/// For every tensor the nodes that read it, in order, each once.
std::vector<std::vector<NodeId>> consumers(const Graph& graph);

}  // namespace accsim::sim
