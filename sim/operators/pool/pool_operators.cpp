#include <fmt/format.h>

#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/op_table.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Result<SlidingWindow> pool_window(const NodeView& node, bool channels_last) {
  const Dims& x = node.dims(0);
  const size_t rank = x.size() < 3 ? 0 : x.size() - 2;
  if (Status s = want_spatial(node, rank); !s) return s.errors();
  const Result<Dims> kernel = kernel_shape(node, rank);
  if (!kernel) return kernel.errors();
  const auto first = x.begin() + (channels_last ? 1 : 2);
  const Dims spatial(first, first + static_cast<ptrdiff_t>(rank));
  return slide_window(node, spatial, *kernel, int_attr(node, "ceil_mode", 0) != 0);
}

namespace {

Status pool_rule(InferContext& node) { return pool_outputs(node, false); }
Result<Work> pool_cost(const NodeView& node) { return pool_work(node, false); }

/// p-th powers are elementwise, the root is special.
Result<Work> lp_pool_cost(const NodeView& node) {
  Result<Work> work = pool_work(node, false);
  if (!work) return work;
  auto& op = std::get<VectorOp>(work->front());
  op[VectorClass::elementwise] = op[VectorClass::pool];
  op[VectorClass::special] = output_elements(node);
  return work;
}

Result<Work> global_lp_pool_cost(const NodeView& node) {
  Result<Work> work = global_pool_cost(node);
  if (!work) return work;
  auto& op = std::get<VectorOp>(work->front());
  op[VectorClass::elementwise] = op[VectorClass::pool];
  op[VectorClass::special] = output_elements(node);
  return work;
}

}  // namespace

Status pool_outputs(InferContext& node, bool channels_last) {
  const Result<SlidingWindow> window = pool_window(node, channels_last);
  if (!window) return window.errors();
  Dims out = node.dims(0);
  const Dims spatial = window->out_dims();
  std::copy(spatial.begin(), spatial.end(), out.begin() + (channels_last ? 1 : 2));
  if (Status s = set_shape(node, 0, node.dtype(0), out); !s) return s;
  return set_if_wanted(node, 1, DType::int64, out);
}

Result<Work> pool_work(const NodeView& node, bool channels_last) {
  const Result<SlidingWindow> window = pool_window(node, channels_last);
  if (!window) return window.errors();
  VectorOp op = vector_op(node);
  op[VectorClass::pool] = times({output_elements(node), window->taps()});
  return checked_work(node, {op});
}

Status global_pool_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  Dims out = node.dims(0);
  std::fill(out.begin() + 2, out.end(), 1);
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> global_pool_cost(const NodeView& node) {
  VectorOp op = vector_op(node);
  op[VectorClass::pool] = input_size(node, 0);
  return checked_work(node, {op});
}

std::span<const OpRow> pool_rows() {
  static constexpr OpRow kRows[] = {
      {"MaxPool", 1, 1, 1, Fate::vector, pool_rule, nullptr, pool_cost},
      {"AveragePool", 1, 1, 1, Fate::vector, pool_rule, nullptr, pool_cost},
      {"LpPool", 1, 1, 1, Fate::vector, pool_rule, nullptr, lp_pool_cost},
      {"GlobalAveragePool", 1, 1, 1, Fate::vector, global_pool_rule, nullptr, global_pool_cost},
      {"GlobalMaxPool", 1, 1, 1, Fate::vector, global_pool_rule, nullptr, global_pool_cost},
      {"GlobalLpPool", 1, 1, 1, Fate::vector, global_pool_rule, nullptr, global_lp_pool_cost},
      {"MaxUnpool", 9, 2, 3, Fate::memory, max_unpool_rule, nullptr, copy_cost},
      {"MaxRoiPool", 1, 2, 2, Fate::vector, max_roi_pool_rule, nullptr, max_roi_pool_cost},
      {"RoiAlign", 10, 3, 3, Fate::vector, roi_align_rule, nullptr, roi_align_cost},
      {"Resize", 10, 1, 4, Fate::vector, resize_rule, nullptr, resize_cost},
      {"Upsample", 7, 1, 2, Fate::vector, upsample_rule, nullptr, resize_cost},
      {"GridSample", 16, 2, 2, Fate::vector, grid_sample_rule, nullptr, grid_sample_cost},
      {"AffineGrid", 20, 2, 2, Fate::vector, affine_grid_rule, nullptr, affine_grid_cost},
  };
  return kRows;
}

}  // namespace accsim::sim
