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
      : graph_(graph), lowered_(lowered), seen_(graph.tensors.size(), false) {}

  void run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const OpRow* row = find_op(node.domain, node.op_type);
      for (size_t port = 0; port < node.inputs.size(); ++port)
        if (node.inputs[port] != kNoTensor)
          visit(static_cast<int>(i), node, port, row ? row->role(port) : PortRole::data);
    }
  }

 private:
  void visit(int at, const Node& node, size_t port, PortRole role) {
    Layer& layer = lowered_.layers[static_cast<size_t>(at)];
    const TensorId id = node.inputs[port];
    const Tensor& t = graph_.tensor(id);
    if (!t.constant || seen_[static_cast<size_t>(id)]) return;
    const bool stored = t.origin == Tensor::Origin::initializer && is_float(t.dtype);
    if (!stored && !(holds_parameters(role) && !node.folded && !made_of_parameters(id))) return;
    seen_[static_cast<size_t>(id)] = true;
    const int64_t count = elements(t.dims);
    lowered_.parameters.push_back({id, at, is_running_statistic(role)});
    if (is_running_statistic(role)) {
      layer.buffers += count;
      lowered_.buffers += count;
      return;
    }
    layer.params += count;
    lowered_.params += count;
    lowered_.weight_bytes += storage_bytes(t.dtype, count);
  }

  /// Is the constant computed from float initializers of its size, which were counted themselves?
  bool made_of_parameters(TensorId id) const {
    const Tensor& t = graph_.tensor(id);
    if (t.producer == kNoNode) return false;
    const int64_t size = elements(t.dims);
    const auto& inputs = graph_.nodes[static_cast<size_t>(t.producer)].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](TensorId source) {
      if (source == kNoTensor) return false;
      const Tensor& s = graph_.tensor(source);
      const bool stored = s.origin == Tensor::Origin::initializer && is_float(s.dtype);
      return (stored && 2 * elements(s.dims) > size) || made_of_parameters(source);
    });
  }

  const Graph& graph_;
  Lowered& lowered_;
  std::vector<bool> seen_;
};

}  // namespace

void count_parameters(const Graph& graph, Lowered& lowered) {
  ParameterCounter(graph, lowered).run();
}

}  // namespace accsim::sim
