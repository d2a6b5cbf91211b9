#include <fmt/format.h>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Rows of K numbers that become rows of N.
struct Columns {
  int64_t k = 0, n = 0;
};

Status set_columns(InferContext& node, const Columns& c) {
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  if (c.k < 1 || c.n < 1 || node.dims(0).back() != c.k)
    return bad_node(node, fmt::format("input {} doesn't go with weights of {} x {}",
                                      to_string(node.dims(0)), c.k, c.n));
  Dims out = node.dims(0);
  out.back() = c.n;
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Columns bnb4_columns(const NodeView& node) {
  const Columns c{int_attr(node, "K", 0), int_attr(node, "N", 0)};
  return int_attr(node, "transB", 1) != 0 ? c : Columns{c.n, c.k};
}

Columns fp4_columns(const NodeView& node) {
  return {capped_product({2, node.dims(1)[1]}), node.dims(1)[0]};
}

}  // namespace

Status matmul_bnb4_rule(InferContext& node) {
  const Columns c = bnb4_columns(node);
  const int64_t block = int_attr(node, "block_size", 0), all = capped_product({c.k, c.n});
  if (c.k < 1 || c.n < 1 || block < 1 || input_size(node, 1) != ceil_div(all, 2) ||
      input_size(node, 2) != ceil_div(all, block))
    return bad_node(node,
                    fmt::format("weights {} and scales {} don't hold {} x {} in blocks of {}",
                                to_string(node.dims(1)), to_string(node.dims(2)), c.n, c.k, block));
  return set_columns(node, c);
}

Result<Work> matmul_bnb4_cost(const NodeView& node) {
  const Columns c = bnb4_columns(node);
  return packed_product_work(node, c.k, c.n, 3);
}

Status fp4_matmul_rule(InferContext& node) {
  if (Status s = want_rank(node, 1, 2); !s) return s;
  const Columns c = fp4_columns(node);
  const int64_t block = int_attr(node, "block_size", 16);
  if (block < 1 || input_size(node, 2) != capped_product({c.n, ceil_div(c.k, block)}))
    return bad_node(
        node, fmt::format("scales {} aren't one a block of {}", to_string(node.dims(2)), block));
  if (node.has_input(5) && node.dims(5) != Dims{c.n})
    return bad_node(node,
                    fmt::format("bias {} must have {} elements", to_string(node.dims(5)), c.n));
  return set_columns(node, c);
}

Result<Work> fp4_matmul_cost(const NodeView& node) {
  const Columns c = fp4_columns(node);
  return packed_product_work(node, c.k, c.n, 5);
}

namespace {

Result<Columns> fpq4_columns(const NodeView& node) {
  const Result<std::vector<int64_t>> shape = need_integers(node, 2, "B_shape", "its columns");
  if (!shape) return shape.errors();
  if (shape->size() != 2) return bad_node(node, "B_shape must have two elements");
  return Columns{(*shape)[0], (*shape)[1]};
}

}  // namespace

Status matmul_fpq4_rule(InferContext& node) {
  const Result<Columns> c = fpq4_columns(node);
  if (!c) return c.errors();
  return set_columns(node, *c);
}

Result<Work> matmul_fpq4_cost(const NodeView& node) {
  const Result<Columns> c = fpq4_columns(node);
  if (!c) return c.errors();
  return packed_product_work(node, c->k, c->n, 3);
}

}  // namespace accsim::sim
