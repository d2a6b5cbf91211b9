#include "sim/operators/elementwise/random_rules.h"

#include <algorithm>

#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

// One draw: a generator of three xor-shifts, and a multiply-add to the wanted range.
constexpr int64_t kDraw = 4;
// A normal draw transforms two uniform ones, for two results: log, square root, sine or cosine.
constexpr int64_t kNormalSpecial = 3;

/// A Like operator reads nothing of its input but the shape.
Result<Work> random_work(const NodeView& node, int64_t elementwise, int64_t special) {
  if (Status s = check_countable(node); !s) return s.errors();
  const int64_t count = output_size(node, 0);
  VectorOp op;
  write_output(node, 0, op.outputs);
  op[VectorClass::elementwise] = count * elementwise;
  op[VectorClass::special] = count * special;
  return Work{std::move(op)};
}

}  // namespace

Status random_shape(InferContext& node) {
  const std::optional<std::vector<int64_t>> shape = node.attr_ints("shape");
  if (!shape) return bad_node(node, "attribute 'shape' is missing");
  const Result<DType> dtype = dtype_attr(node, "dtype", DType::float32);
  if (!dtype) return dtype.errors();
  return set_shape(node, 0, *dtype, *shape);
}

Status random_like_shape(InferContext& node) {
  const Result<DType> dtype = dtype_attr(node, "dtype", node.dtype(0));
  if (!dtype) return dtype.errors();
  return set_shape(node, 0, *dtype, node.dims(0));
}

Status multinomial_shape(InferContext& node) {
  if (Status s = want_rank(node, 0, 2); !s) return s;
  const Result<DType> dtype = dtype_attr(node, "dtype", DType::int32);
  if (!dtype) return dtype.errors();
  return set_shape(node, 0, *dtype, {node.dims(0)[0], int_attr(node, "sample_size", 1)});
}

Result<Work> random_uniform_cost(const NodeView& node) { return random_work(node, kDraw, 0); }

Result<Work> random_normal_cost(const NodeView& node) {
  return random_work(node, kDraw + 1, kNormalSpecial);
}

Result<Work> bernoulli_cost(const NodeView& node) { return per_element(node, kDraw + 1, 0); }

/// Per row: the running sum of exp over the classes, then a binary search for each sample.
Result<Work> multinomial_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const int64_t scores = elements(node.dims(0));
  const int64_t samples = output_size(node, 0);
  const int64_t classes = node.dims(0)[1];
  VectorOp op = vector_op(node);
  op[VectorClass::special] = scores;
  op[VectorClass::reduce] = scores;
  op[VectorClass::elementwise] = samples * kDraw;
  op[VectorClass::search] = samples * bisection_steps(classes);
  op.row = std::max<int64_t>(classes, 1);
  return Work{std::move(op)};
}

}  // namespace accsim::sim
