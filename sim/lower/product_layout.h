#pragma once
#include "sim/graph/graph.h"
#include "sim/lower/layout.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// How the operands of a matrix product must lie and what it gives then.
struct ProductLayouts {
  Layout a, b;  ///< that of a constant B is of no use: it is packed off line
  bool a_transposed = false, b_transposed = false;
  Layout out;
};

/// Of a layer whose work begins with `gemm`, a product of the last two dims of its operands, where
/// they lie in `layouts`. Each operand may be turned; where one B is for all rows of A, these are
/// in any order, and with a constant B the elements of a row are, too.
ProductLayouts product_layouts(const Graph& graph, const Layer& layer, const GemmOp& gemm,
                               const std::vector<Layout>& layouts);

}  // namespace accsim::sim
