#pragma once
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rules of the reductions, by file.

// reduce_rules.cpp: Reduce*.
/// The axes that a node reduces, sorted: of input `port`, which must be known, or an attribute.
Result<std::vector<int64_t>> reduced_axes(const NodeView& node, size_t port = 1);
/// Reduce*: reduced axes become 1, or go without keepdims.
Status reduce_shape(InferContext& node);
/// The same of an operator whose axes are an attribute only.
Status reduce_shape_by_attribute(InferContext& node);

/// The reductions whose values are computed.
enum class Reduction : uint8_t { sum, magnitudes, squares, mean, product, largest, smallest };
/// Nothing for an empty input or output.
Status reduce_value(InferContext& node, Reduction reduction);
template <Reduction kReduction>
Status reduce_value(InferContext& node) {
  return reduce_value(node, kReduction);
}

/// Operations of a Reduce* beside the gathering itself.
struct ReduceCounts {
  int64_t element_ops = 0, element_special = 0;  ///< per input element, before it is gathered
  int64_t result_ops = 0, result_special = 0;    ///< per output element
  int passes = 1;                                ///< over the input
};
/// One gathering operation an input element and pass, and those of `counts`.
Result<Work> reduce_cost(const NodeView& node, const ReduceCounts& counts);
template <ReduceCounts kCounts>
Result<Work> reduce_cost(const NodeView& node) {
  return reduce_cost(node, kCounts);
}

// scan_rules.cpp: operators along one axis.
/// ArgMax and ArgMin: int64, the axis 1 or gone.
Status arg_shape(InferContext& node);
/// The first or, by attribute, the last of equal extremes.
Status arg_max_value(InferContext& node);
Status arg_min_value(InferContext& node);
/// TopK: values and int64 indices, K (known) along the axis.
Status top_k_shape(InferContext& node);
/// The K largest or smallest in order; of equal ones the lower index first.
Status top_k_value(InferContext& node);
/// CumSum and CumProd: output as input 0, which is no scalar.
Status cumulative_shape(InferContext& node);
/// Running sums and products, by attributes exclusive and reverse.
Status cumulative_sum_value(InferContext& node);
Status cumulative_product_value(InferContext& node);
/// Softmax, LogSoftmax, Hardmax: output as input 0; the axis must be one.
Status softmax_shape(InferContext& node);
/// Det: the batch dims of square matrices.
Status det_shape(InferContext& node);
/// One comparison an input element.
Result<Work> arg_cost(const NodeView& node);
/// log2(K) comparisons an input element, rounded up.
Result<Work> top_k_cost(const NodeView& node);
/// One step of a scan an element.
Result<Work> cumulative_cost(const NodeView& node);
/// Two reductions, two elementwise operations and an exponential an element, one special
/// operation a row.
Result<Work> softmax_cost(const NodeView& node);
/// One comparison and one write-back operation an element.
Result<Work> hardmax_cost(const NodeView& node);
/// Gaussian elimination of each matrix: about n^3 / 3 operations.
Result<Work> det_cost(const NodeView& node);

}  // namespace accsim::sim
