#pragma once
#include <functional>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/lower/product_layout.h"

namespace accsim::sim {

/// What a layer with work wants of the tensors that it reads, and how its results lie then.
struct NodeLayouts {
  struct Want {
    ValuePort port;
    Layout layout;
  };
  std::vector<Want> wants;   ///< of ports that the work reads, constants left out
  std::vector<Layout> outs;  ///< by output
  DimOrder order;  ///< of input 0's dims in memory, for its cost rule; empty: as they stand
  bool is_product = false;  ///< and then its operands lie
  bool a_transposed = false, b_transposed = false;
};

/// By its operator's LayoutRule. `movable` says of a tensor that it can be had in another layout
/// for no more than a copy of it that is made anyhow, or at its only reader's cost.
NodeLayouts node_layouts(const Graph& graph, const Layer& layer, const std::vector<Layout>& layouts,
                         const std::function<bool(TensorId)>& movable);

/// The input ports that a layer's work reads, in order; a residual isn't among them.
std::vector<ValuePort> ports_read(const Layer& layer);

}  // namespace accsim::sim
