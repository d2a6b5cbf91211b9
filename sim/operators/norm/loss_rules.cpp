#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/norm/norm_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Status nll_loss_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  Dims labels = node.dims(0);
  labels.erase(labels.begin() + 1);
  if (node.dims(1) != labels)
    return bad_node(node, fmt::format("labels {} must be {} for scores {}", to_string(node.dims(1)),
                                      to_string(labels), to_string(node.dims(0))));
  if (node.has_input(2) && node.dims(2) != Dims{node.dims(0)[1]})
    return bad_node(node, fmt::format("weights {} must have one element per class ({})",
                                      to_string(node.dims(2)), node.dims(0)[1]));
  const std::string reduction = node.attr("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return bad_node(node,
                    fmt::format("attribute 'reduction' is '{}', not none, sum or mean", reduction));
  return set_shape(node, 0, node.dtype(0), reduction == "none" ? labels : Dims{});
}

namespace {

/// Picks one score a label, weighs it and adds it up.
void add_picking(const NodeView& node, VectorOp& op) {
  const int64_t labels = input_size(node, 1);
  op[VectorClass::elementwise] =
      capped_sum(op[VectorClass::elementwise], capped_product({labels, node.has_input(2) ? 2 : 1}));
  op[VectorClass::reduce] = capped_sum(op[VectorClass::reduce], labels);
}

}  // namespace

Result<Work> nll_loss_cost(const NodeView& node) {
  VectorOp op;
  const int64_t labels = input_size(node, 1);
  read_part(node, 0, labels, 1, op.inputs);
  read_input(node, 1, op.inputs);
  if (node.has_input(2)) read_part(node, 2, labels, 1, op.inputs);
  write_output(node, 0, op.outputs);
  add_picking(node, op);
  return checked_work(node, {op});
}

Status cross_entropy_rule(InferContext& node) {
  if (Status s = nll_loss_rule(node); !s) return s;
  return set_if_wanted(node, 1, node.dtype(0), node.dims(0));
}

Result<Work> cross_entropy_cost(const NodeView& node) {
  const int64_t count = input_size(node, 0), classes = node.dims(0)[1];
  VectorOp op = vector_op(node);
  op[VectorClass::reduce] = op[VectorClass::elementwise] = capped_product({2, count});
  op[VectorClass::special] = capped_sum(count, input_size(node, 1));
  op.row = std::max<int64_t>(classes, 1);
  op.passes = 3;
  add_picking(node, op);
  return checked_work(node, {op});
}

}  // namespace accsim::sim
