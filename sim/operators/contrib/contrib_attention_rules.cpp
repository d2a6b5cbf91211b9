#include <fmt/format.h>

#include "sim/operators/contrib/attention_parts.h"
#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

// The input projection is part of Attention and QAttention.

struct ProjectionPorts {
  int mask, past, scores_bias;
};
constexpr ProjectionPorts kAttention{3, 4, 5};
constexpr ProjectionPorts kQAttention{5, 8, -1};

struct Projected {
  AttentionPlan plan;
  int64_t inputs = 0, columns = 0;
};

Result<Projected> plan_projected(const NodeView& node, const ProjectionPorts& ports) {
  if (Status s = want_rank(node, 0, 3); !s) return s.errors();
  if (Status s = want_rank(node, 1, 2); !s) return s.errors();
  const Dims &x = node.dims(0), &w = node.dims(1);
  if (w[0] != x[2] || (node.has_input(2) && node.dims(2) != Dims{w[1]}))
    return bad_node(node, fmt::format("weights {} and bias don't go with input {}", to_string(w),
                                      to_string(x)));
  const auto sizes = node.attr("qkv_hidden_sizes", std::vector<int64_t>(3, w[1] / 3));
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] < 0 || sizes[2] < 0 ||
      capped_sum(capped_product({2, sizes[0]}), sizes[2]) != w[1])
    return bad_node(node,
                    fmt::format("weights {} don't split into query, key and value", to_string(w)));
  Projected p;
  p.inputs = x[2];
  p.columns = w[1];
  AttentionPlan& a = p.plan;
  a.batch = x[0];
  a.q_heads = a.kv_heads = int_attr(node, "num_heads", 0);
  a.q_len = a.kv_len = a.total_len = x[1];
  const Result<int64_t> head = head_size(node, sizes[0], a.q_heads);
  const Result<int64_t> v_head = head_size(node, sizes[2], a.q_heads);
  if (!head || !v_head) return head ? v_head.errors() : head.errors();
  a.head = *head;
  a.v_head = *v_head;
  const auto past = static_cast<size_t>(ports.past);
  if (node.has_input(past)) {
    const Dims& cache = node.dims(past);
    if (cache.size() != 5 || cache[0] != 2 || cache[1] != a.batch || cache[2] != a.q_heads ||
        cache[4] != a.head)
      return bad_node(node, fmt::format("past {} must be 2x{}x{}x?x{}", to_string(cache), a.batch,
                                        a.q_heads, a.head));
    a.total_len = capped_sum(cache[3], a.kv_len);
  }
  for (const int port : {ports.scores_bias, ports.mask})
    if (port >= 0 && a.mask_port.is_none() && node.has_input(static_cast<size_t>(port)))
      a.mask_port = port;
  return p;
}

Status projected_rule(InferContext& node, const ProjectionPorts& ports, DType type) {
  const Result<Projected> p = plan_projected(node, ports);
  if (!p) return p.errors();
  const AttentionPlan& a = p->plan;
  if (Status s =
          set_shape(node, 0, type, {a.batch, a.q_len, capped_product({a.q_heads, a.v_head})});
      !s)
    return s;
  return set_if_wanted(node, 1, type, {2, a.batch, a.q_heads, a.total_len, a.head});
}

Result<Work> projected_cost(const NodeView& node, const ProjectionPorts& ports) {
  const Result<Projected> p = plan_projected(node, ports);
  if (!p) return p.errors();
  AttentionPlan a = p->plan;
  GemmOp projection = matrix_product(1, capped_product({a.batch, a.q_len}), p->inputs, p->columns);
  if (node.has_input(2)) projection.bias_port = 2;
  // Queries, keys and values are the projection's results.
  projection.out_port = a.q_port = a.k_port = a.v_port = ValuePort::made(0, 0);
  Work work{projection};
  if (int_attr(node, "do_rotary", 0) != 0) {
    VectorOp rotate;
    const int64_t turned = capped_product({2, a.batch, a.q_len, a.q_heads, a.head});
    a.q_port = a.k_port =
        prepare_operand({a.q_port, turned}, kRotaryOps, ValuePort::made(0, 1), rotate);
    work.emplace_back(rotate);
  }
  const int64_t fresh = capped_product({a.batch, a.q_heads, a.kv_len, a.head + a.v_head});
  append_cache(node, a.k_port, fresh, static_cast<size_t>(ports.past), 1, work);
  return attention_after(node, std::move(work), a);
}

std::optional<RowMeaning> projected_rows(const NodeView& node, const ProjectionPorts& ports) {
  const Result<Projected> p = plan_projected(node, ports);
  const bool masked = node.has_input(static_cast<size_t>(ports.mask));
  if (!p || masked || int_attr(node, "unidirectional", 0) != 0) return std::nullopt;
  return rows_between(node, p->plan);
}

}  // namespace

Status ms_attention_rule(InferContext& node) {
  return projected_rule(node, kAttention, node.dtype(0));
}
Result<Work> ms_attention_cost(const NodeView& node) { return projected_cost(node, kAttention); }
Status qattention_rule(InferContext& node) {
  return projected_rule(node, kQAttention, node.dtype(3));
}
Result<Work> qattention_cost(const NodeView& node) { return projected_cost(node, kQAttention); }
std::optional<RowMeaning> ms_attention_rows(const NodeView& node) {
  return projected_rows(node, kAttention);
}
std::optional<RowMeaning> qattention_rows(const NodeView& node) {
  return projected_rows(node, kQAttention);
}

Status ms_rotary_rule(InferContext& node) {
  if (node.rank(0) != 3 && node.rank(0) != 4)
    return bad_node(node, fmt::format("input 0 must have rank 3 or 4, not {}", node.rank(0)));
  for (size_t i : {size_t{2}, size_t{3}})
    if (Status s = want_rank(node, i, 2); !s) return s;
  return same_shape(node);
}

Result<Work> ms_rotary_cost(const NodeView& node) { return rotary_cost_at(node, 1, 2, 3); }

}  // namespace accsim::sim
