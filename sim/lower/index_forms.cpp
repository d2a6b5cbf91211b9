#include "sim/lower/index_forms.h"

#include <algorithm>

#include "sim/operators/movement/index_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

constexpr int64_t kScatterOpset = 18;  ///< that has reductions of all kinds

void plan_gather(NodeRewrites& r, const Node& node) {
  const Dims& indices = r.dims(node.inputs[1]);
  if (NodeView(r.graph(), node).attr("batch_dims", int64_t{0}) != 0 || indices.empty() ||
      indices.back() != 1)
    return;
  r.replace_nodes({r.id_of(node)}, [&node](RebuiltGraph& g) {
    Dims of = g.dims(node.inputs[1]);
    of.pop_back();
    const TensorId indices = reshaped(g, node.inputs[1], std::move(of), node.name + "/indices");
    g.add_node(g.new_operator(op::kGather, kPlainOpset, {{"axis", "", int64_t{0}}}), node.name,
               {node.inputs[0], indices}, {node.outputs[0]});
  });
}

/// What an Expand, folded or not, makes the tensor of; kNoTensor: none does.
TensorId repeated_by_expand(const NodeRewrites& r, TensorId id) {
  const NodeId producer = r.graph().tensor(id).producer;
  if (producer == kNoNode || r.node(producer).op_type != op::kExpand) return kNoTensor;
  return r.node(producer).inputs[0];
}

/// The indices of rows that the tensor repeats for each element of a row: one each; kNoTensor where
/// it isn't such a tensor. Rows of one dim are single elements.
TensorId repeated_rows(const NodeRewrites& r, TensorId id) {
  if (r.dims(id).size() == 1) return id;
  const TensorId from = repeated_by_expand(r, id);
  if (from == kNoTensor) return kNoTensor;
  const Dims &few = r.dims(from), &all = r.dims(id);
  if (few.size() != all.size() || few.empty() || few[0] != all[0]) return kNoTensor;
  return elements(few) == few[0] ? from : kNoTensor;
}

/// Indices that an Expand repeats are read as they are (gather_elements_cost()).
void plan_gather_elements(NodeRewrites& r, const Node& node) {
  const TensorId few = repeated_by_expand(r, node.inputs[1]);
  if (few == kNoTensor) return;
  const NodeView view(r.graph(), node);
  const auto axis = axis_attr(view, 0, view.rank(0));
  if (!axis || r.dims(few).size() != view.dims(1).size()) return;
  const auto at = static_cast<size_t>(*axis);
  if (r.dims(few)[at] != view.dims(1)[at]) return;
  r.replace_nodes({r.id_of(node)}, [&node, few](RebuiltGraph& g) {
    Node gather = node;
    gather.attributes.push_back({kRepeatedTo, "", g.dims(node.outputs[0])});
    g.add_node(gather, node.name, {node.inputs[0], few}, node.outputs);
  });
}

void plan_scatter(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const Dims &data = view.dims(0), &indices = view.dims(1);
  const TensorId rows = repeated_rows(r, node.inputs[1]);
  if (rows == kNoTensor || view.attr("axis", int64_t{0}) != 0 ||
      !std::equal(data.begin() + 1, data.end(), indices.begin() + 1))
    return;
  r.replace_nodes({r.id_of(node)}, [&node, rows](RebuiltGraph& g) {
    const NodeView was(g.before(), node);
    const TensorId each = reshaped(g, rows, {g.dims(rows)[0], 1}, node.name + "/indices");
    g.add_node(g.new_operator(op::kScatterND, kScatterOpset,
                              {{"reduction", "", was.attr("reduction", "none")}}),
               node.name, {node.inputs[0], each, node.inputs[2]}, {node.outputs[0]});
  });
}

}  // namespace

void plan_index_forms(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || !node.domain.empty()) continue;
    if (node.op_type == op::kGatherND) plan_gather(rewrites, node);
    if (node.op_type == op::kGatherElements) plan_gather_elements(rewrites, node);
    if (node.op_type == op::kScatterElements) plan_scatter(rewrites, node);
  }
}

}  // namespace accsim::sim
