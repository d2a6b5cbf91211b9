#pragma once
#include "sim/graph/graph.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Is what is added to the results of `product`'s one GemmOp, or to a view of them, one number for
/// each of its columns, of a convolution for each output channel? `sum`: dims of what it is added
/// to.
bool is_per_channel(const Dims& addend, const Dims& sum, const Node& product, const GemmOp& gemm);

}  // namespace accsim::sim
