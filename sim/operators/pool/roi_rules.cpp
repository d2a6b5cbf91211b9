#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Status max_unpool_rule(InferContext& node) {
  const Dims& x = node.dims(0);
  const size_t rank = x.size() < 3 ? 0 : x.size() - 2;
  if (Status s = want_spatial(node, rank); !s) return s;
  if (node.dims(1) != x)
    return bad_node(node, fmt::format("indices {} must have the shape of the input {}",
                                      to_string(node.dims(1)), to_string(x)));
  const Result<Dims> kernel = kernel_shape(node, rank);
  if (!kernel) return kernel.errors();
  const Result<WindowAttrs> attrs = window_attrs(node, rank);
  if (!attrs) return attrs.errors();
  Dims out{x[0], x[1]};
  if (node.has_input(2)) {
    Result<std::vector<int64_t>> wanted =
        need_integers(node, 2, "output_shape", "the output shape");
    if (!wanted) return wanted.errors();
    if (wanted->size() != x.size() || (*wanted)[0] != x[0] || (*wanted)[1] != x[1])
      return bad_node(node, fmt::format("output_shape {} doesn't go with input {}",
                                        to_string(*wanted), to_string(x)));
    return set_shape(node, 0, node.dtype(0), std::move(*wanted));
  }
  for (size_t d = 0; d < rank; ++d) {
    const auto reach = size_product(x[d + 2] - 1, attrs->strides[d]);
    if (!reach) return bad_node(node, fmt::format("spatial dim {} is too large", d));
    out.push_back(*reach + (*kernel)[d] - attrs->before[d] - attrs->after[d]);
  }
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Status max_roi_pool_rule(InferContext& node) {
  if (Status s = want_rank(node, 0, 4); !s) return s;
  if (Status s = want_rank(node, 1, 2); !s) return s;
  if (node.dims(1)[1] != 5)
    return bad_node(node, fmt::format("rois {} must be nx5", to_string(node.dims(1))));
  const auto pooled = node.attr_ints("pooled_shape");
  if (!pooled || pooled->size() != 2 || (*pooled)[0] < 1 || (*pooled)[1] < 1)
    return bad_node(node, "attribute 'pooled_shape' must have two positive entries");
  return set_shape(node, 0, node.dtype(0),
                   {node.dims(1)[0], node.dims(0)[1], (*pooled)[0], (*pooled)[1]});
}

Result<Work> max_roi_pool_cost(const NodeView& node) {
  // How large a region is depends on data; the bound is the whole map for each.
  const Dims &x = node.dims(0), &out = node.output(0).dims;
  VectorOp op = vector_op(node);
  op[VectorClass::pool] = capped_product(
      {out[0], out[1], std::max(capped_product({x[2], x[3]}), capped_product({out[2], out[3]}))});
  return checked_work(node, {op});
}

Status roi_align_rule(InferContext& node) {
  if (Status s = want_rank(node, 0, 4); !s) return s;
  if (Status s = want_rank(node, 1, 2); !s) return s;
  const int64_t height = int_attr(node, "output_height", 1);
  const int64_t width = int_attr(node, "output_width", 1);
  if (node.dims(1)[1] != 4 || node.dims(2) != Dims{node.dims(1)[0]})
    return bad_node(node, fmt::format("rois {} must be nx4 and batch_indices {} n",
                                      to_string(node.dims(1)), to_string(node.dims(2))));
  if (height < 1 || width < 1 || int_attr(node, "sampling_ratio", 0) < 0)
    return bad_node(node, "output_height, output_width and sampling_ratio can't be negative or 0");
  return set_shape(node, 0, node.dtype(0), {node.dims(1)[0], node.dims(0)[1], height, width});
}

Result<Work> roi_align_cost(const NodeView& node) {
  // sampling_ratio 0 makes the samples depend on each region's size; models train with 2 x 2.
  const int64_t ratio = int_attr(node, "sampling_ratio", 0);
  const int64_t samples = ratio > 0 ? capped_product({ratio, ratio}) : 4;
  VectorOp op;
  const int64_t taken = capped_product({output_size(node, 0), samples});
  read_part(node, 0, std::min(input_size(node, 0), capped_product({4, taken})), 0, op.inputs);
  read_input(node, 1, op.inputs);
  read_input(node, 2, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::resize] = capped_product({4, taken});
  op[VectorClass::pool] = taken;
  return checked_work(node, {op});
}

}  // namespace accsim::sim
