#pragma once
#include <string>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// What the counting conventions ask of a node's operator.
enum class OpKind : uint8_t {
  other,
  normalization,  ///< BatchNormalization and its kin
  pooling,        ///< MaxPool, AveragePool, LpPool and the global ones
  elementwise,    ///< activations, arithmetic, comparisons, softmax: work on every element
};
/// The kind that the node's operator is of; `other` for operators of no kind.
OpKind kind_of(const Node& node);

/// Reads element i of its inputs only to write element i of its result.
bool works_in_place(const Node& node);

/// The input that is added per channel or column, where the operator itself names one; -1: none.
/// Products say it in their GemmOp.
int shift_port(const Node& node);

/// "Conv"; operators of another domain than ONNX's own as "com.microsoft.FusedConv".
std::string op_label(const Node& node);

}  // namespace accsim::sim
