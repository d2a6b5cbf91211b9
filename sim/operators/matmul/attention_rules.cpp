#include "sim/operators/matmul/attention_rules.h"

#include <fmt/format.h>

#include "sim/operators/norm/row_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Result<int64_t> head_size(const NodeView& node, int64_t hidden, int64_t heads) {
  if (heads < 1 || hidden % heads != 0)
    return bad_node(node, fmt::format("{} channels don't split into {} heads", hidden, heads));
  return hidden / heads;
}

Status check_heads(const NodeView& node, const AttentionPlan& p) {
  if (p.kv_heads < 1 || p.q_heads < 1 || p.q_heads % p.kv_heads != 0)
    return bad_node(node, fmt::format("{} query heads must be a multiple of {} key heads",
                                      p.q_heads, p.kv_heads));
  return ok();
}

Work attention_work(const NodeView& node, const AttentionPlan& p) {
  const int64_t groups = capped_product({p.batch, p.kv_heads});
  const int64_t rows = capped_product({p.q_heads / p.kv_heads, p.q_len});
  GemmOp qk = matrix_product(groups, rows, p.head, p.total_len);
  qk.a_port = p.q_port;
  qk.b_port = p.k_port;
  qk.b_transposed = true;  // keys lie row by row
  qk.out_port = kInternalPort;
  GemmOp av = matrix_product(groups, rows, p.total_len, p.v_head);
  av.a_port = kSecondInternalPort;
  av.b_port = p.v_port;

  const int64_t scores = capped_product({groups, rows, p.total_len});
  VectorOp softmax;
  softmax.inputs.push_back({kInternalPort, scores, 0});
  softmax.outputs.push_back({kSecondInternalPort, scores, 0});
  softmax[VectorClass::reduce] = capped_product({2, scores});
  softmax[VectorClass::elementwise] = capped_product({2, scores});
  softmax[VectorClass::special] = capped_sum(scores, capped_product({groups, rows}));
  if (!p.mask_port.is_none()) {
    read_input(node, p.mask_port.index(), softmax.inputs);
    softmax[VectorClass::elementwise] = capped_sum(softmax[VectorClass::elementwise], scores);
  }
  if (p.softcap) {  // cap * tanh(x / cap)
    softmax[VectorClass::elementwise] =
        capped_sum(softmax[VectorClass::elementwise], capped_product({2, scores}));
    softmax[VectorClass::special] = capped_sum(softmax[VectorClass::special], scores);
  }
  if (p.scores_output >= 0)
    write_output(node, static_cast<size_t>(p.scores_output), softmax.outputs);
  softmax.row = p.total_len;
  softmax.passes = 3;
  return {qk, softmax, av};
}

Result<Work> attention_after(const NodeView& node, Work before, const AttentionPlan& plan) {
  const Work core = attention_work(node, plan);
  before.insert(before.end(), core.begin(), core.end());
  return checked_work(node, std::move(before));
}

void append_cache(const NodeView& node, ValuePort fresh, int64_t fresh_elements, size_t past,
                  size_t present, Work& work) {
  if (!node.has_output(present)) return;
  MemoryOp move;
  read_input(node, past, move.inputs);
  move.inputs.push_back({fresh, fresh_elements, 0});
  write_output(node, present, move.outputs);
  work.emplace_back(std::move(move));
}

namespace {

/// Batch, heads, length and head size of a 4-D operand, or of a 3-D one split into `heads`.
struct Heads {
  int64_t batch, heads, length, size;
};

Result<Heads> split_heads(const NodeView& node, size_t i, std::string_view heads_attr) {
  const Dims& d = node.dims(i);
  if (d.size() == 4) return Heads{d[0], d[1], d[2], d[3]};
  if (d.size() != 3)
    return bad_node(node, fmt::format("input {} must have rank 3 or 4, not {}", i, d.size()));
  if (!node.has_attr(heads_attr))
    return bad_node(node, fmt::format("3-D inputs need attribute '{}'", heads_attr));
  const int64_t heads = int_attr(node, heads_attr, 0);
  const Result<int64_t> size = head_size(node, d[2], heads);
  if (!size) return size.errors();
  return Heads{d[0], heads, d[1], *size};
}

Result<AttentionPlan> plan_attention(const NodeView& node) {
  const Result<Heads> q = split_heads(node, 0, "q_num_heads");
  const Result<Heads> k = split_heads(node, 1, "kv_num_heads");
  const Result<Heads> v = split_heads(node, 2, "kv_num_heads");
  for (const auto* r : {&q, &k, &v})
    if (!*r) return r->errors();
  if (node.rank(0) != node.rank(1) || node.rank(0) != node.rank(2) || q->batch != k->batch ||
      k->batch != v->batch || k->heads != v->heads || k->length != v->length || q->size != k->size)
    return bad_node(node,
                    fmt::format("Q {}, K {} and V {} don't go together", to_string(node.dims(0)),
                                to_string(node.dims(1)), to_string(node.dims(2))));
  AttentionPlan p;
  p.batch = q->batch;
  p.q_heads = q->heads;
  p.kv_heads = k->heads;
  p.q_len = q->length;
  p.kv_len = p.total_len = k->length;
  p.head = q->size;
  p.v_head = v->size;
  if (Status s = check_heads(node, p); !s) return s.errors();
  if (node.has_input(4) != node.has_input(5))
    return bad_node(node, "past_key and past_value go together");
  if (node.has_input(4)) {
    if (Status s = want_rank(node, 4, 4); !s) return s.errors();
    const int64_t past = node.dims(4)[2];
    const Dims key{p.batch, p.kv_heads, past, p.head}, value{p.batch, p.kv_heads, past, p.v_head};
    if (node.dims(4) != key || node.dims(5) != value)
      return bad_node(node, fmt::format("past_key {} and past_value {} must be {} and {}",
                                        to_string(node.dims(4)), to_string(node.dims(5)),
                                        to_string(key), to_string(value)));
    p.total_len = capped_sum(p.kv_len, past);
  }
  if (node.has_input(3)) {
    // The mask's last dim may be shorter than the keys: the rest counts as masked out.
    const Dims& rest = node.dims(3);
    Dims wanted = p.score_dims();
    if (!rest.empty() && rest.back() != 1 && rest.back() <= wanted.back())
      wanted.back() = rest.back();
    if (broadcast_dims(rest, wanted) != wanted)
      return bad_node(node, fmt::format("attn_mask {} doesn't broadcast to {}", to_string(rest),
                                        to_string(p.score_dims())));
    p.mask_port = 3;
  }
  p.softcap = real_attr(node, "softcap", 0) > 0;
  if (node.has_output(3)) p.scores_output = 3;
  return p;
}

}  // namespace

Status attention_rule(InferContext& node) {
  const Result<AttentionPlan> p = plan_attention(node);
  if (!p) return p.errors();
  const Dims out = node.rank(0) == 4
                       ? Dims{p->batch, p->q_heads, p->q_len, p->v_head}
                       : Dims{p->batch, p->q_len, capped_product({p->q_heads, p->v_head})};
  if (Status s = set_shape(node, 0, node.dtype(0), out); !s) return s;
  if (Status s = set_if_wanted(node, 1, node.dtype(1), p->present_key()); !s) return s;
  if (Status s = set_if_wanted(node, 2, node.dtype(2), p->present_value()); !s) return s;
  return set_if_wanted(node, 3, node.dtype(0), p->score_dims());
}

Result<Work> attention_cost(const NodeView& node) {
  const Result<AttentionPlan> p = plan_attention(node);
  if (!p) return p.errors();
  Work work;
  append_cache(node, 1, input_size(node, 1), 4, 1, work);
  append_cache(node, 2, input_size(node, 2), 5, 2, work);
  return attention_after(node, std::move(work), *p);
}

std::optional<RowMeaning> rows_between(const NodeView& node, const AttentionPlan& p) {
  if (p.softcap || p.scores_output >= 0) return std::nullopt;
  RowMeaning out = row_meaning(RowKind::softmax, p.score_dims(), 3, 4, false);
  out.in_port = kInternalPort;
  out.out_port = kSecondInternalPort;
  if (p.mask_port.is_none()) return out;
  const Dims& mask = node.dims(p.mask_port.index());
  if (mask.empty() || mask.back() != p.total_len) return std::nullopt;
  out.mask_port = p.mask_port;
  add_mask(mask, out);
  return out;
}

std::optional<RowMeaning> attention_rows(const NodeView& node) {
  const Result<AttentionPlan> p = plan_attention(node);
  const bool windows = int_attr(node, "is_causal", 0) != 0 ||
                       int_attr(node, "left_window_size", -1) >= 0 ||
                       int_attr(node, "right_window_size", -1) >= 0 || node.has_input(6);
  if (!p || windows) return std::nullopt;
  return rows_between(node, *p);
}

namespace {

struct LinearPlan {
  int64_t batch, steps, q_heads, kv_heads, key, value;
  bool delta, gated;
};

Result<LinearPlan> plan_linear(const NodeView& node) {
  for (size_t i : {size_t{0}, size_t{1}, size_t{2}})
    if (Status s = want_rank(node, i, 3); !s) return s.errors();
  const Dims &q = node.dims(0), &k = node.dims(1), &v = node.dims(2);
  LinearPlan p{};
  p.batch = q[0];
  p.steps = q[1];
  p.q_heads = int_attr(node, "q_num_heads", 0);
  p.kv_heads = int_attr(node, "kv_num_heads", 0);
  const Result<int64_t> q_size = head_size(node, q[2], p.q_heads);
  const Result<int64_t> k_size = head_size(node, k[2], p.kv_heads);
  const Result<int64_t> v_size = head_size(node, v[2], p.kv_heads);
  for (const auto* r : {&q_size, &k_size, &v_size})
    if (!*r) return r->errors();
  if (*q_size != *k_size || p.q_heads % p.kv_heads != 0 || k[0] != q[0] || v[0] != q[0] ||
      k[1] != q[1] || v[1] != q[1])
    return bad_node(node, fmt::format("query {}, key {} and value {} don't go together",
                                      to_string(q), to_string(k), to_string(v)));
  p.key = *k_size;
  p.value = *v_size;
  const std::string rule = node.attr("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
    return bad_node(node, fmt::format("attribute 'update_rule' is '{}', not linear, gated, delta "
                                      "or gated_delta",
                                      rule));
  p.delta = rule.ends_with("delta");
  p.gated = rule.starts_with("gated");
  if ((p.gated && !node.has_input(4)) || (p.delta && !node.has_input(5)))
    return bad_node(node, fmt::format("update_rule '{}' needs {}", rule,
                                      p.gated && !node.has_input(4) ? "decay" : "beta"));
  const Dims state{p.batch, p.kv_heads, p.key, p.value};
  if (node.has_input(3) && node.dims(3) != state)
    return bad_node(
        node, fmt::format("past_state {} must be {}", to_string(node.dims(3)), to_string(state)));
  return p;
}

}  // namespace

Status linear_attention_rule(InferContext& node) {
  const Result<LinearPlan> p = plan_linear(node);
  if (!p) return p.errors();
  if (Status s = set_shape(node, 0, node.dtype(0),
                           {p->batch, p->steps, capped_product({p->q_heads, p->value})});
      !s)
    return s;
  return set_if_wanted(node, 1, node.dtype(node.has_input(3) ? 3 : 0),
                       {p->batch, p->kv_heads, p->key, p->value});
}

Result<Work> linear_attention_cost(const NodeView& node) {
  const Result<LinearPlan> p = plan_linear(node);
  if (!p) return p.errors();
  // Every step multiplies with the state of that step, so nothing is shared between products.
  const int64_t products = capped_product({p->batch, p->kv_heads, p->steps});
  const int64_t updates = capped_product({products, p->key, p->value});
  const int state_port = node.has_input(3) ? 3 : 1;
  Work work;
  if (p->delta) {  // what the state already says of this key
    GemmOp recall = matrix_product(products, 1, p->key, p->value);
    recall.a_port = 1;
    recall.b_port = state_port;
    work.emplace_back(recall);
  }
  VectorOp update;  // decay the state, add the outer product of key and value
  for (size_t i = 1; i < node.input_count(); ++i) read_input(node, i, update.inputs);
  write_output(node, 1, update.outputs);
  if (!node.has_output(1))  // it stays between the steps
    update.outputs.push_back(
        {kInternalPort, capped_product({p->batch, p->kv_heads, p->key, p->value}), 0});
  update[VectorClass::elementwise] = capped_product({updates, p->gated ? 3 : 2});
  if (p->delta)  // beta * (v - recalled)
    update[VectorClass::elementwise] =
        capped_sum(update[VectorClass::elementwise], capped_product({2, products, p->value}));
  if (p->gated) update[VectorClass::special] = input_size(node, 4);
  work.emplace_back(update);
  GemmOp read = matrix_product(products, p->q_heads / p->kv_heads, p->key, p->value);
  read.b_port = state_port;
  work.emplace_back(read);
  return checked_work(node, std::move(work));
}

}  // namespace accsim::sim
