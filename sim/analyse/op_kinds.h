#pragma once
#include <string>

#include "sim/operators/op_table.h"

namespace accsim::sim {

/// Of the node's row; OpKind::other when it has none.
OpKind kind_of(const Node& node);

/// Reads element i of its inputs only to write element i of its result.
bool works_in_place(const Node& node);

/// The input that is added per channel or column, where the operator itself names one; kNoPort:
/// none. Products say it in their GemmOp.
int shift_port(const Node& node);

/// "Conv"; operators of another domain than ONNX's own as "com.microsoft.FusedConv".
std::string op_label(const Node& node);

}  // namespace accsim::sim
