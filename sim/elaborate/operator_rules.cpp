#include "sim/elaborate/operator_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accsim::sim {
namespace {

Error invalid_error(std::string message) { return Error{Errc::invalid, std::move(message), ""}; }

Status check_input_count(const OpRow& row, const Node& node) {
  const auto count = static_cast<int64_t>(node.inputs.size());
  if (count > row.max_inputs)
    return invalid_error(
        fmt::format("has {} inputs, at most {} are allowed", count, row.max_inputs));
  for (int64_t i = 0; i < row.min_inputs; ++i)
    if (i >= count || node.inputs[static_cast<size_t>(i)] == kNoTensor)
      return invalid_error(
          fmt::format("lacks input {}; at least {} are needed", i, row.min_inputs));
  return ok();
}

/// The two operands of a plain product must be numbers of one type; a shape rule looks only at
/// dims.
Status check_operand_types(const OpRow& row, const NodeView& node) {
  if (!row.same_operand_types) return ok();
  for (size_t i = 0; i < 2 && i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const DType type = node.dtype(i);
    if (type == DType::string || type == DType::boolean || type != node.dtype(0))
      return invalid_error(
          fmt::format("multiplies {} by {}; both operands must be numbers of one type",
                      name(node.dtype(0)), name(node.dtype(i))));
  }
  return ok();
}

/// Every output that is wanted has got a type and a shape that can be counted.
Status check_outputs(const Graph& graph, const Node& node, Budget& budget) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    const Tensor& tensor = graph.tensor(node.outputs[i]);
    if (tensor.dtype == DType::undefined)
      return invalid_error(fmt::format("has no output {}, but names one", i));
    if (Status counted = budget.take_tensor(tensor); !counted) return counted;
  }
  return ok();
}

/// What has only lent its type isn't read any more.
void drop_lenders(const OpRow& row, Node& node) {
  for (size_t i = 0; i < node.inputs.size() && row.type_ports >> i != 0; ++i)
    if ((row.type_ports >> i & 1) != 0) node.inputs[i] = kNoTensor;
}

/// Finds which outputs are the same in every run; the values of empty ones are known at once.
void mark_constant(const OpRow& row, Graph& graph, Node& node) {
  // Nothing is known of what a row of fate `unsupported` computes, not even that it is repeatable.
  bool constant = !row.random && row.fate != Fate::unsupported;
  for (TensorId id : node.inputs)
    if (id != kNoTensor && !graph.tensor(id).constant) constant = false;
  constant = constant || row.reads_only_shapes;
  bool all_constant = true;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    Tensor& tensor = graph.tensor(id);
    tensor.constant = tensor.constant || constant;
    all_constant = all_constant && tensor.constant;
    const bool numeric = bits(tensor.dtype) > 0;
    if (tensor.constant && numeric && !tensor.value && elements(tensor.dims) == 0)
      tensor.value = is_float(tensor.dtype)
                         ? std::make_shared<const ConstData>(std::vector<double>{})
                         : std::make_shared<const ConstData>(std::vector<int64_t>{});
  }
  node.folded = all_constant;
}

/// Are the elements of inputs that aren't constant known, as the user has stated them?
bool follows_from_given(const OpRow& row, const Graph& graph, const Node& node) {
  if (row.random || row.fate == Fate::unsupported || row.reads_only_shapes) return false;
  return std::ranges::any_of(node.inputs, [&](TensorId id) {
    return id != kNoTensor && !graph.tensor(id).constant && graph.tensor(id).value;
  });
}

bool values_wanted(const OpRow& row, const Graph& graph, const Node& node, const Budget& budget) {
  if (row.value == nullptr) return false;
  if (!node.folded && !follows_from_given(row, graph, node)) return false;
  if (!row.reads_only_shapes)
    for (TensorId id : node.inputs)
      if (id != kNoTensor && !graph.tensor(id).value) return false;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = graph.tensor(id);
    if (!budget.affords_values(tensor.dtype, elements(tensor.dims))) return false;
  }
  return true;
}

}  // namespace

Status apply_rules(const OpRow& row, Graph& graph, NodeId id, Budget& budget) {
  Node& node = graph.nodes[static_cast<size_t>(id)];
  if (Status count = check_input_count(row, node); !count) return count;
  InferContext context(graph, node);
  if (Status types = check_operand_types(row, context); !types) return types;
  if (Status shape = row.shape(context); !shape) return shape;
  if (Status outputs = check_outputs(graph, node, budget); !outputs) return outputs;
  drop_lenders(row, node);
  mark_constant(row, graph, node);
  if (!values_wanted(row, graph, node, budget)) return ok();
  if (Status value = row.value(context); !value) return value;
  for (TensorId output : node.outputs) {
    if (output == kNoTensor || !graph.tensor(output).value) continue;
    if (!node.folded) graph.tensor(output).constant = false;  // known, but computed in every run
    budget.take_values(static_cast<int64_t>(graph.tensor(output).value->size()));
  }
  return ok();
}

}  // namespace accsim::sim
