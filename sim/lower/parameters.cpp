#include <algorithm>

#include "sim/lower/lower.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

bool is_running_statistic(PortRole role) {
  return role == PortRole::mean || role == PortRole::variance;
}

class ParameterCounter {
 public:
  ParameterCounter(const Graph& graph, Lowered& lowered)
      : graph_(graph),
        lowered_(lowered),
        readers_(consumers(graph)),
        seen_(graph.tensors.size(), false),
        made_(graph.tensors.size(), false),
        makes_reals_(graph.nodes.size(), false) {}

  void run() {
    find_what_becomes_reals();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const OpRow* row = find_op(node.domain, node.op_type);
      const auto id = static_cast<NodeId>(i);
      for (size_t port = 0; port < node.inputs.size(); ++port)
        if (node.inputs[port] != kNoTensor) visit(id, port, row);
      for (const TensorId in : node.quantisation) add(id, in, false);
      note_made(node);
    }
  }

 private:
  void visit(NodeId at, size_t port, const OpRow* row) {
    const Node& node = graph_.nodes[static_cast<size_t>(at)];
    const TensorId id = node.inputs[port];
    const Tensor& t = graph_.tensor(id);
    const PortRole role = row ? row->role(port) : PortRole::data;
    if (!t.constant || seen_[static_cast<size_t>(id)]) return;
    const bool initializer = t.origin == Tensor::Origin::initializer;
    const bool made = holds_parameters(role) && !node.folded && !made_of_parameters(id);
    const bool real =
        is_float(t.dtype) || stands_for_reals(t, port, row) || become_reals(node, port);
    if (!(initializer && real) && !made) return;
    if (row && row->packs_weights && role == PortRole::weight) return add_packed(at, id);
    add(at, id, is_running_statistic(role_behind(at, port)));
  }

  /// What a constant is for: behind nodes that hand it on to one reader, for that one.
  PortRole role_behind(NodeId at, size_t port) const {
    for (;;) {
      const Node& node = graph_.nodes[static_cast<size_t>(at)];
      const OpRow* row = find_op(node);
      if (!row) return PortRole::data;
      if (!row->passes_weights || port != 0 || node.outputs[0] == kNoTensor) return row->role(port);
      const auto& readers = readers_[static_cast<size_t>(node.outputs[0])];
      if (readers.size() != 1) return row->role(port);
      at = readers[0];
      const std::vector<TensorId>& inputs = graph_.nodes[static_cast<size_t>(at)].inputs;
      port = static_cast<size_t>(std::ranges::find(inputs, node.outputs[0]) - inputs.begin());
    }
  }

  /// Integers that are changed to reals, and what says how.
  static bool stands_for_reals(const Tensor& t, size_t port, const OpRow* row) {
    if (t.quantisation) return true;
    return row && (row->is_quantisation(port) || (row->codes == Codes::takes && port == 0));
  }

  /// Are integers, moved from the node's first input on, changed to reals in the end?
  bool become_reals(const Node& node, size_t port) const {
    return port == 0 && makes_reals_[static_cast<size_t>(&node - graph_.nodes.data())];
  }

  /// Readers before who makes what they read: nodes are in topological order.
  void find_what_becomes_reals() {
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const OpRow* row = find_op(node);
      if (!row || node.outputs.empty() || node.outputs[0] == kNoTensor) continue;
      if (row->fate != Fate::memory && row->fate != Fate::view) continue;
      const auto takes = [&](NodeId id) {
        const Node& reader = graph_.nodes[static_cast<size_t>(id)];
        const OpRow* of = find_op(reader);
        if (reader.inputs[0] != node.outputs[0]) return false;
        return (of && of->codes == Codes::takes) || makes_reals_[static_cast<size_t>(id)];
      };
      makes_reals_[i] = std::ranges::any_of(readers_[static_cast<size_t>(node.outputs[0])], takes);
    }
  }

  void add(NodeId at, TensorId id, bool buffer) {
    const Tensor& t = graph_.tensor(id);
    const int64_t count = elements(t.dims);
    add({id, static_cast<int>(at), buffer, t.dtype, count, storage_bytes(t.dtype, count)});
  }

  /// Weights of few bits in the bytes of a tensor.
  void add_packed(NodeId at, TensorId id) {
    const Tensor& t = graph_.tensor(id);
    const NodeView node(graph_, graph_.nodes[static_cast<size_t>(at)]);
    if (bits(t.dtype) < 8) return add(at, id, false);  // not packed
    const int64_t width = node.attr("bits", int64_t{4});
    const int64_t count = node.has_attr("K")
                              ? node.attr("K", int64_t{0}) * node.attr("N", int64_t{0})
                              : elements(t.dims) * (bits(t.dtype) / width);
    const DType type = width == 2 ? DType::uint2 : width == 4 ? DType::uint4 : DType::uint8;
    add({id, static_cast<int>(at), false, type, count, storage_bytes(t.dtype, elements(t.dims))});
  }

  void add(Parameter p) {
    if (seen_[static_cast<size_t>(p.tensor)]) return;
    seen_[static_cast<size_t>(p.tensor)] = true;
    p.layer = reader_of(p.layer);
    lowered_.parameters.push_back(p);
    Layer& layer = lowered_.layers[static_cast<size_t>(p.layer)];
    (p.buffer ? layer.buffers : layer.params) += p.count;
    (p.buffer ? lowered_.buffers : lowered_.params) += p.count;
    if (!p.buffer) lowered_.weight_bytes += p.bytes;
  }

  /// Behind a change of constants to reals, the node that reads these.
  NodeId reader_of(NodeId id) const {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    const OpRow* row = find_op(node);
    if (!node.folded || !row || row->codes != Codes::takes || node.outputs[0] == kNoTensor)
      return id;
    const auto& readers = readers_[static_cast<size_t>(node.outputs[0])];
    return readers.empty() ? id : readers[0];
  }

  /// Is the constant computed from parameters of its size, which were counted themselves?
  bool made_of_parameters(TensorId id) const { return made_[static_cast<size_t>(id)]; }

  /// Notes that of what a node makes; what it reads was made by nodes before it.
  void note_made(const Node& node) {
    for (const TensorId out : node.outputs) {
      if (out == kNoTensor) continue;
      const int64_t size = elements(graph_.tensor(out).dims);
      made_[static_cast<size_t>(out)] = std::ranges::any_of(node.inputs, [&](TensorId source) {
        if (source == kNoTensor) return false;
        const bool counted = seen_[static_cast<size_t>(source)];
        return (counted && 2 * elements(graph_.tensor(source).dims) > size) ||
               made_of_parameters(source);
      });
    }
  }

  const Graph& graph_;
  Lowered& lowered_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> seen_;
  std::vector<bool> made_;         ///< by tensor: of parameters of its size
  std::vector<bool> makes_reals_;  ///< by node that moves: of integers, in the end
};

}  // namespace

void count_parameters(const Graph& graph, Lowered& lowered) {
  ParameterCounter(graph, lowered).run();
}

}  // namespace accsim::sim
