#include "sim/lower/measured_products.h"

#include <algorithm>

#include "sim/lower/code_uses.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class MeasuredFinder {
 public:
  explicit MeasuredFinder(const Graph& graph)
      : graph_(graph),
        readers_(consumers_by_tensor(graph)),
        is_output_(graph.tensors.size(), false) {
    for (const TensorId id : graph.outputs) is_output_[index(id)] = true;
  }

  /// What is behind a node that measures; nothing where anybody else reads what it finds.
  MeasuredProducts products_behind(const Node& from) const {
    const OpRow* row = find_op(from);
    if (!row || row->codes != Codes::measures || from.folded || from.outputs.size() < 3) return {};
    const bool kept = std::ranges::any_of(
        from.outputs, [&](TensorId id) { return id == kNoTensor || is_output_[index(id)]; });
    if (kept || from.outputs[0] == kNoTensor) return {};
    MeasuredProducts found;
    for (const NodeId id : readers_of(from.outputs[0]))
      if (!take_product(id, from, found)) return {};
    if (found.weight_scale.empty() && found.scaling.empty()) return {};
    if (!reads_nothing_else(from, found)) return {};
    found.passing[graph_.tensor(from.outputs[0]).producer] = 0;
    return found;
  }

 private:
  static size_t index(int32_t id) { return static_cast<size_t>(id); }
  const Node& node(NodeId id) const { return graph_.nodes[index(id)]; }
  const std::vector<NodeId>& readers_of(TensorId id) const { return readers_[index(id)]; }

  /// Are the scale and the zero point of its first input those that a node has found, and is its
  /// result floats? All else that says what integers stand for is constant.
  bool scales_itself(const Node& product, const OpRow& row, const Node& from) const {
    if (product.outputs[0] == kNoTensor || !is_float(graph_.tensor(product.outputs[0]).dtype))
      return false;
    bool found = false;
    for (size_t port = 0; port < product.inputs.size(); ++port) {
      if (!row.is_quantisation(port) || is_fixed_input(product, port, graph_)) continue;
      const bool is_scale = product.inputs[port] == from.outputs[1];
      if (row.ports[port].of != 0 || (!is_scale && product.inputs[port] != from.outputs[2]))
        return false;
      found = found || is_scale;
    }
    return found;
  }

  /// product -> change to floats -> times a factor with the scale in it.
  bool take_product(NodeId id, const Node& from, MeasuredProducts& found) const {
    const Node& product = node(id);
    const OpRow* row = find_op(product);
    if (!row || product.inputs[0] != from.outputs[0] ||
        std::ranges::count(product.inputs, from.outputs[0]) != 1)
      return false;
    if (scales_itself(product, *row, from)) return found.scaling.insert(id), true;
    if (row->real.empty()) return false;
    if (graph_.tensor(product.outputs[0]).dtype != DType::int32 ||
        !is_fixed_input(product, 1, graph_))
      return false;
    for (size_t port = 2; port < product.inputs.size(); ++port)
      if (product.inputs[port] != from.outputs[2] && !is_fixed_input(product, port, graph_))
        return false;
    const NodeId cast = only_reader(product.outputs[0], Algebra::convert);
    if (cast == kNoNode || !is_float(graph_.tensor(node(cast).outputs[0]).dtype)) return false;
    const NodeId times = only_reader(node(cast).outputs[0], Algebra::multiply);
    if (times == kNoNode) return false;
    const Node& factor = node(times);
    const size_t port = factor.inputs[0] == node(cast).outputs[0] ? 0 : 1;
    const TensorId scale = factor.inputs[1 - port];
    if (scale == factor.inputs[port] || !same_dims(factor, port)) return false;
    TensorId& weight_scale = found.weight_scale[id] = kNoTensor;
    if (scale != from.outputs[1]) {
      const NodeId maker = graph_.tensor(scale).producer;
      if (maker == kNoNode || !makes_factor(node(maker), from.outputs[1])) return false;
      const Node& m = node(maker);
      weight_scale = m.inputs[m.inputs[0] == from.outputs[1] ? 1 : 0];
      found.factors.insert(maker);
    }
    found.passing[cast] = 0;
    found.passing[times] = port;
    return true;
  }

  bool same_dims(const Node& n, size_t port) const {
    return graph_.tensor(n.inputs[port]).dims == graph_.tensor(n.outputs[0]).dims;
  }

  /// A constant times the scale?
  bool makes_factor(const Node& n, TensorId scale) const {
    const OpRow* row = find_op(n);
    if (!row || row->algebra != Algebra::multiply || is_output_[index(n.outputs[0])]) return false;
    return (n.inputs[0] == scale && is_fixed_input(n, 1, graph_)) ||
           (n.inputs[1] == scale && is_fixed_input(n, 0, graph_));
  }

  NodeId only_reader(TensorId id, Algebra wanted) const {
    if (is_output_[index(id)] || readers_of(id).size() != 1) return kNoNode;
    const OpRow* row = find_op(node(readers_of(id)[0]));
    return row && row->algebra == wanted ? readers_of(id)[0] : kNoNode;
  }

  /// Are scale and zero point read by those products and what is behind them alone?
  bool reads_nothing_else(const Node& from, const MeasuredProducts& found) const {
    const auto known = [&](NodeId id) {
      return found.passing.contains(id) || found.factors.contains(id) ||
             found.weight_scale.contains(id) || found.scaling.contains(id);
    };
    const auto all_known = [&](TensorId id) { return std::ranges::all_of(readers_of(id), known); };
    return all_known(from.outputs[1]) && all_known(from.outputs[2]) &&
           std::ranges::all_of(found.factors,
                               [&](NodeId id) { return all_known(node(id).outputs[0]); });
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> is_output_;  ///< by tensor
};

}  // namespace

MeasuredProducts find_measured_products(const Graph& graph) {
  const MeasuredFinder finder(graph);
  MeasuredProducts out;
  for (const Node& node : graph.nodes) {
    MeasuredProducts behind = finder.products_behind(node);
    out.weight_scale.merge(behind.weight_scale);
    out.scaling.merge(behind.scaling);
    out.passing.merge(behind.passing);
    out.factors.merge(behind.factors);
  }
  return out;
}

}  // namespace accsim::sim
