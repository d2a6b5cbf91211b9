#include "sim/lower/node_rewrites.h"

#include <algorithm>
#include <utility>

#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

TensorId add_integers(RebuiltGraph& graph, const std::string& name, std::vector<int64_t> values) {
  const auto count = std::ssize(values);
  return graph.add_constant(name, DType::int64, {count}, ConstData(std::move(values)));
}

/// Integers that stand for reals do so in another place, too. Scales of an axis go with it.
void keep_meaning(RebuiltGraph& graph, TensorId from, TensorId to, int64_t axis) {
  std::optional<Quantisation> q = graph.tensor(from).quantisation;
  if (!q) return;
  q->axis = axis;
  graph.set_quantisation(to, *q);
}

bool has_one_scale(const RebuiltGraph& graph, const Quantisation& q) {
  return std::ranges::all_of(
      std::vector<TensorId>{q.scale, q.zero_point, q.times},
      [&](TensorId t) { return t == kNoTensor || elements(graph.dims(t)) == 1; });
}

}  // namespace

NodeRewrites::NodeRewrites(const Graph& graph)
    : graph_(graph), readers_(consumers_by_tensor(graph)), is_output_(graph.tensors.size(), false) {
  for (const TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
}

const Node* NodeRewrites::maker_of(TensorId id) const {
  if (id == kNoTensor || graph_.tensor(id).constant) return nullptr;
  const NodeId producer = graph_.tensor(id).producer;
  return producer == kNoNode || node(producer).folded ? nullptr : &node(producer);
}

const Node* NodeRewrites::sole_reader_of(TensorId id) const {
  if (id == kNoTensor || is_output_[static_cast<size_t>(id)] || readers_of(id).size() != 1)
    return nullptr;
  const Node& reader = node(readers_of(id)[0]);
  return std::ranges::count(reader.inputs, id) == 1 ? &reader : nullptr;
}

bool NodeRewrites::replace_nodes(const std::vector<NodeId>& nodes, Adder add) {
  std::map<NodeId, Adder> each;
  for (const NodeId id : nodes) each[id] = nullptr;
  each.rbegin()->second = std::move(add);
  return replace_each(each);
}

bool NodeRewrites::replace_each(const std::map<NodeId, Adder>& nodes) {
  if (std::ranges::any_of(nodes, [&](const auto& n) { return is_taken(n.first); })) return false;
  adders_.insert(nodes.begin(), nodes.end());
  return true;
}

Graph NodeRewrites::take_graph() const {
  RebuiltGraph out(graph_);
  for (NodeId id = 0; id < std::ssize(graph_.nodes); ++id) {
    const auto found = adders_.find(id);
    if (found == adders_.end()) {
      out.keep_node(id);
    } else if (found->second) {
      out.begin_part_of(id);
      found->second(out);
    }
  }
  return out.take_graph();
}

TensorId ordered_constant(RebuiltGraph& graph, TensorId of, int64_t axis,
                          const std::vector<int64_t>& order, const std::string& name) {
  const TensorId indices = add_integers(graph, name + "_order", order);
  Dims to = graph.dims(of);
  to[static_cast<size_t>(axis)] = std::ssize(order);
  const TensorId out = graph.add_operator(op::kGather, kPlainOpset, name, {of, indices},
                                          std::move(to), {{"axis", "", axis}});
  std::optional<Quantisation> q = graph.tensor(of).quantisation;
  if (!q) return out;
  if (!has_one_scale(graph, *q) && q->axis == axis)
    for (TensorId* each : {&q->scale, &q->zero_point, &q->times})
      if (*each != kNoTensor && elements(graph.dims(*each)) > 1)
        *each = ordered_constant(graph, *each, 0, order, name + "_scales");
  graph.set_quantisation(out, *q);
  return out;
}

TensorId reshaped(RebuiltGraph& graph, TensorId of, Dims dims, const std::string& name) {
  const TensorId shape = add_integers(graph, name + "_shape", {dims.begin(), dims.end()});
  const TensorId out =
      graph.add_operator(op::kReshape, kPlainOpset, name, {of, shape}, std::move(dims), {});
  keep_meaning(graph, of, out, 0);
  return out;
}

void reshape_into(RebuiltGraph& graph, TensorId of, TensorId out, const std::string& name) {
  const Dims& dims = graph.dims(out);
  const TensorId shape = add_integers(graph, name + "_shape", {dims.begin(), dims.end()});
  graph.add_node(graph.new_operator(op::kReshape, kPlainOpset, {}), name, {of, shape}, {out});
}

TensorId transposed(RebuiltGraph& graph, TensorId of, const std::vector<int64_t>& perm,
                    const std::string& name) {
  Dims to;
  for (const int64_t axis : perm) to.push_back(graph.dims(of)[static_cast<size_t>(axis)]);
  const TensorId out = graph.add_operator(op::kTranspose, kPlainOpset, name, {of}, std::move(to),
                                          {{"perm", "", perm}});
  keep_meaning(graph, of, out, 0);
  return out;
}

}  // namespace accsim::sim
