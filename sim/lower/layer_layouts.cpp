#include "sim/lower/layer_layouts.h"

#include <algorithm>

namespace accsim::sim {

const PortLayout* LayerLayouts::find_copy(ValuePort port) const {
  const auto found = std::ranges::find(layer_.copies, port, &PortLayout::port);
  return found == layer_.copies.end() ? nullptr : &*found;
}

const Layout& LayerLayouts::input_layout(ValuePort port) const {
  const PortLayout* copied = find_copy(port);
  return copied ? copied->layout : layout_at(layer_.inputs, port);
}

bool LayerLayouts::is_row_major(ValuePort port) const {
  const Tensor& t = graph_.tensor(layer_.inputs[port.index()]);
  return t.constant || input_layout(port) == row_major_layout(t.dims);
}

}  // namespace accsim::sim
