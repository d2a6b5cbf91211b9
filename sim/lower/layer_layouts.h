#pragma once
#include "sim/graph/graph.h"
#include "sim/lower/layout.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// How the operands of a layer's own work lie, of a graph laid out: in the layouts of their
/// tensors, or those of the copies that the layer makes before it. Constants lie as is wished.
class LayerLayouts {
 public:
  LayerLayouts(const Graph& graph, const Lowered& lowered, const Layer& layer)
      : graph_(graph), lowered_(lowered), layer_(layer) {}

  const Layout& input_layout(ValuePort port) const;
  const Layout& output_layout(ValuePort port) const { return layout_at(layer_.outputs, port); }
  /// A constant, or as its dims say.
  bool is_row_major(ValuePort port) const;
  /// Where work that is told of by an input reads it: kInternalPort where it is copied.
  ValuePort read_from(ValuePort port) const { return find_copy(port) ? copy_port(port) : port; }

 private:
  const PortLayout* find_copy(ValuePort port) const;
  const Layout& layout_at(const std::vector<TensorId>& ids, ValuePort port) const {
    return lowered_.layouts[static_cast<size_t>(ids[port.index()])];
  }

  const Graph& graph_;
  const Lowered& lowered_;
  const Layer& layer_;
};

}  // namespace accsim::sim
