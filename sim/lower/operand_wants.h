#pragma once
#include <functional>
#include <span>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/node_layouts.h"
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// The operands of a layer with work as they lie so far, and what has been found of how they should
/// (NodeLayouts), for the rules that say so.
class OperandWants {
 public:
  OperandWants(const Graph& graph, const Layer& layer, const std::vector<Layout>& layouts,
               const std::function<bool(TensorId)>& movable);

  const Graph& graph() const { return graph_; }
  const Layer& layer() const { return layer_; }
  const NodeView& node() const { return node_; }
  const std::vector<Layout>& layouts() const { return layouts_; }
  /// The layer's first work, where that is a product; nullptr else.
  const GemmOp* gemm() const { return std::get_if<GemmOp>(&layer_.work.front()); }
  bool is_movable(TensorId id) const { return movable_(id); }

  /// Ports that the work reads, constants left out.
  const std::vector<ValuePort>& ports() const { return ports_; }
  TensorId tensor_at(ValuePort port) const { return layer_.inputs[port.index()]; }
  const Dims& dims(TensorId t) const { return graph_.tensor(t).dims; }
  const Layout& layout_at(ValuePort port) const {
    return layouts_[static_cast<size_t>(tensor_at(port))];
  }
  bool has_result() const { return !layer_.outputs.empty() && layer_.outputs[0] != kNoTensor; }
  /// Of the first result, which there is.
  const Dims& out_dims() const { return dims(layer_.outputs[0]); }

  /// What has been found: at first that results lie as their dims say.
  NodeLayouts& found() { return found_; }
  void want_layout(ValuePort port, Layout layout) {
    found_.wants.push_back({port, std::move(layout)});
  }
  /// Rows of these dims of the first port, one behind the other; the result likewise.
  void want_rows(std::span<const size_t> inner);

 private:
  const Graph& graph_;
  const Layer& layer_;
  const std::vector<Layout>& layouts_;
  const std::function<bool(TensorId)>& movable_;
  const NodeView node_;
  std::vector<ValuePort> ports_;
  NodeLayouts found_;
};

}  // namespace accsim::sim
