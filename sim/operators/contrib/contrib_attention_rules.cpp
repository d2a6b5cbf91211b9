#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/matmul/attention_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

Work joined_work(Work first, const Work& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// Elementwise work on an operand before it is multiplied, a bias or a rotation; the result is at
/// the internal port `made`, which is returned.
ValuePort prepare_operand(const Access& operand, int64_t ops_per_element, ValuePort made,
                          VectorOp& op) {
  op.inputs.push_back(operand);
  op.outputs.push_back({made, operand.elements, 0});
  op[VectorClass::elementwise] =
      capped_sum(op[VectorClass::elementwise], capped_product({ops_per_element, operand.elements}));
  return made;
}
constexpr int64_t kBiasOps = 1, kRotaryOps = 3;

// --- Attention and QAttention: the input projection is part of them ---

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
  return checked_work(node, joined_work(std::move(work), attention_work(node, a)));
}

std::optional<RowMeaning> projected_rows(const NodeView& node, const ProjectionPorts& ports) {
  const Result<Projected> p = plan_projected(node, ports);
  const bool masked = node.has_input(static_cast<size_t>(ports.mask));
  if (!p || masked || int_attr(node, "unidirectional", 0) != 0) return std::nullopt;
  return rows_between(node, p->plan);
}

// --- MultiHeadAttention ---

/// Sizes of key and value in the four layouts the operator takes them in.
Status read_keys(const NodeView& node, int64_t heads, AttentionPlan& p) {
  const Dims& q = node.dims(0);
  if (!node.has_input(1)) {  // all three packed in the query
    if (q.size() != 5 || q[3] != 3)
      return bad_node(node, fmt::format("query {} without a key must be BxSxNx3xH", to_string(q)));
    p.kv_len = q[1];
    p.k_port = p.v_port = 0;
    p.v_head = q[4];
    return ok();
  }
  const Dims& k = node.dims(1);
  if (k.size() == 5) {  // key and value packed in the key
    if (k[3] != 2) return bad_node(node, fmt::format("key {} must be BxLxNx2xH", to_string(k)));
    p.kv_len = k[1];
    p.v_port = 1;
    p.v_head = k[4];
    return k[0] == p.batch && k[2] == heads && k[4] == p.head
               ? ok()
               : bad_node(node, fmt::format("key {} doesn't go with the query", to_string(k)));
  }
  if (Status s = want_input(node, 2, "value"); !s) return s;
  const Dims& v = node.dims(2);
  const bool split = k.size() == 4;  // BxNxLxH
  if ((!split && k.size() != 3) || v.size() != k.size())
    return bad_node(
        node, fmt::format("key {} and value {} must have rank 3 or 4", to_string(k), to_string(v)));
  p.kv_len = k[split ? 2 : 1];
  const Result<int64_t> v_head = split ? v[3] : head_size(node, v[2], heads);
  if (!v_head) return v_head.errors();
  p.v_head = *v_head;
  const Dims key = split ? Dims{p.batch, heads, p.kv_len, p.head}
                         : Dims{p.batch, p.kv_len, capped_product({heads, p.head})};
  const Dims value = split ? Dims{p.batch, heads, p.kv_len, p.v_head}
                           : Dims{p.batch, p.kv_len, capped_product({heads, p.v_head})};
  if (k != key || v != value)
    return bad_node(node, fmt::format("key {} and value {} don't go with query {}", to_string(k),
                                      to_string(v), to_string(node.dims(0))));
  return ok();
}

/// Sequence length of past keys of shape batch x heads x length x head; 0 when there are none.
Result<int64_t> past_length(const NodeView& node, size_t i, const AttentionPlan& p, int64_t head) {
  if (!node.has_input(i)) return int64_t{0};
  const Dims& past = node.dims(i);
  if (past.size() != 4 || past[0] != p.batch || past[1] != p.kv_heads || past[3] != head)
    return bad_node(node, fmt::format("past key {} must be {}x{}x?x{}", to_string(past), p.batch,
                                      p.kv_heads, head));
  return past[2];
}

/// Inputs of MultiHeadAttention and its kin behind query, key and value.
struct MultiHeadPorts {
  int bias, padding, scores_bias, past_key, past_value;
};
constexpr MultiHeadPorts kMultiHead = {3, 4, 5, 6, 7}, kDecoderMultiHead = {10, 3, 4, 5, 6};

bool has_port(const NodeView& node, int port) { return node.has_input(static_cast<size_t>(port)); }

Result<AttentionPlan> plan_multi_head(const NodeView& node, const MultiHeadPorts& ports) {
  const Dims& q = node.dims(0);
  AttentionPlan p;
  p.q_heads = p.kv_heads = int_attr(node, "num_heads", 0);
  if (q.size() != 3 && (q.size() != 5 || q[2] != p.q_heads))
    return bad_node(node, fmt::format("query {} must be BxSxD or BxSxNx3xH", to_string(q)));
  p.batch = q[0];
  p.q_len = q[1];
  const Result<int64_t> head =
      q.size() == 5 && p.q_heads > 0 ? q[4] : head_size(node, q[2], p.q_heads);
  if (!head) return head.errors();
  p.head = *head;
  if (Status s = read_keys(node, p.q_heads, p); !s) return s.errors();
  const auto past_key = static_cast<size_t>(ports.past_key);
  const Result<int64_t> past = past_length(node, past_key, p, p.head);
  if (!past) return past.errors();
  p.total_len = capped_sum(p.kv_len, *past);
  for (const int port : {ports.padding, ports.scores_bias})
    if (has_port(node, port)) p.mask_port = port;
  if (node.has_output(3)) p.scores_output = 3;
  return p;
}

/// A decoder's keys may lie in a buffer that is longer than they are: `cached` is its length.
Result<AttentionPlan> plan_decoder(const NodeView& node, int64_t& cached) {
  constexpr size_t kPastKey = 5, kPastLength = 7;
  Result<AttentionPlan> p = plan_multi_head(node, kDecoderMultiHead);
  if (!p) return p;
  cached = p->total_len;
  if (int_attr(node, "past_present_share_buffer", 0) == 0 || !node.has_input(kPastKey)) return p;
  cached = node.dims(kPastKey)[2];
  const ConstData* const past = node.value(kPastLength);
  const bool known = past != nullptr && past->is_integer() && past->size() == 1;
  p->total_len = known ? capped_sum(past->integers()[0], p->kv_len) : cached;
  if (p->total_len < 0 || p->total_len > cached)
    return bad_node(node,
                    fmt::format("{} keys don't fit into a cache of {}", p->total_len, cached));
  return p;
}

// --- GroupQueryAttention ---

struct GroupQuery {
  AttentionPlan plan;
  int64_t cached = 0;  ///< length of the present keys, which may be a larger fixed buffer
};

bool has_quantised(const NodeView& node, std::string_view kind) {
  return node.attr(kind, "NONE") != "NONE";
}

/// Elements that a row of a cache has of one head: of 4 bits there are two a byte.
int64_t cached_head(const NodeView& node, const AttentionPlan& p) {
  const bool packed = has_quantised(node, "k_quant_type") || has_quantised(node, "v_quant_type");
  return packed && int_attr(node, "kv_cache_bit_width", 8) == 4 ? (p.head + 1) / 2 : p.head;
}

/// Puts the new keys or values at `port` two a byte, as a cache of 4 bits has them, and gives where
/// they are. Those of a byte each are rounded where they are written.
ValuePort pack_fresh(const NodeView& node, const AttentionPlan& p, ValuePort port, size_t scales,
                     int64_t fresh, Work& work) {
  constexpr int64_t kPackOps = 3;  // by the scale, to a whole number, beside its neighbour
  VectorOp pack;
  pack.inputs.push_back({port, fresh, 0});
  read_input(node, scales, pack.inputs);
  const ValuePort made = ValuePort::made(static_cast<int>(scales), 0);
  pack.outputs.push_back({made, p.head > 0 ? fresh / p.head * cached_head(node, p) : 0, 0});
  pack[VectorClass::elementwise] = capped_product({kPackOps, fresh});
  work.emplace_back(std::move(pack));
  return made;
}

/// The root mean square norms of queries and keys, each head a row, which the plan then reads.
VectorOp normalised_heads(const NodeView& node, int64_t queries, int64_t keys, AttentionPlan& p) {
  constexpr int64_t kNormOps = 2;  // by the root, by the weight
  VectorOp norm;
  p.q_port = prepare_operand({p.q_port, queries}, kNormOps, ValuePort::made(0, 1), norm);
  p.k_port = prepare_operand({p.k_port, keys}, kNormOps, ValuePort::made(1, 1), norm);
  read_input(node, 14, norm.inputs);
  read_input(node, 15, norm.inputs);
  const int64_t both = capped_sum(queries, keys);
  norm[VectorClass::reduce] = capped_product({2, both});
  norm[VectorClass::special] = p.head > 0 ? both / p.head : 0;
  norm.row = std::max<int64_t>(p.head, 1);
  norm.passes = 3;
  return norm;
}

Result<GroupQuery> plan_group_query(const NodeView& node) {
  if (Status s = want_rank(node, 0, 3); !s) return s.errors();
  const Dims& q = node.dims(0);
  GroupQuery g;
  AttentionPlan& p = g.plan;
  p.batch = q[0];
  p.q_len = p.kv_len = q[1];
  p.q_heads = int_attr(node, "num_heads", 0);
  p.kv_heads = int_attr(node, "kv_num_heads", 0);
  if (Status s = check_heads(node, p); !s) return s.errors();
  const bool packed = !node.has_input(1);
  const int64_t heads = packed ? capped_sum(p.q_heads, capped_product({2, p.kv_heads})) : p.q_heads;
  const Result<int64_t> head = head_size(node, q[2], heads);
  if (!head) return head.errors();
  p.head = p.v_head = *head;
  if (packed) {
    p.k_port = p.v_port = 0;
  } else {
    if (Status s = want_input(node, 2, "value"); !s) return s.errors();
    p.kv_len = node.rank(1) == 3 ? node.dims(1)[1] : -1;
    const Dims key{p.batch, p.kv_len, capped_product({p.kv_heads, p.head})};
    if (node.dims(1) != key || node.dims(2) != key)
      return bad_node(
          node, fmt::format("key {} and value {} don't go with query {}", to_string(node.dims(1)),
                            to_string(node.dims(2)), to_string(q)));
  }
  const Result<int64_t> past = past_length(node, 3, p, cached_head(node, p));
  if (!past) return past.errors();
  p.total_len = g.cached = capped_sum(*past, p.kv_len);
  // A known total length tells a cache that is appended to from a fixed buffer.
  if (const ConstData* total = node.value(6);
      total != nullptr && total->is_integer() && total->size() == 1 && total->integers()[0] > 0) {
    p.total_len = total->integers()[0];
    g.cached = std::max(*past, p.total_len);
  }
  // Queries see the keys of their windows only; scores that are given have all.
  if (const int64_t window = int_attr(node, "local_window_size", -1);
      window > 0 && !node.has_output(3))
    p.total_len = std::min(p.total_len, capped_sum(window, std::max<int64_t>(p.q_len - 1, 0)));
  // A cache of a window's size drops old keys itself.
  if (int_attr(node, "sliding_window_cache", 0) != 0 && node.has_input(3)) g.cached = *past;
  if (node.has_input(14) != node.has_input(15))
    return bad_node(node, "q_norm_weight and k_norm_weight go together");
  if (node.has_input(10)) p.mask_port = 10;
  p.softcap = real_attr(node, "softcap", 0) > 0;
  if (node.has_output(3)) p.scores_output = 3;
  return g;
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

namespace {

Status set_multi_head(InferContext& node, const AttentionPlan& p, int64_t cached) {
  const DType type = node.dtype(0);
  if (Status s =
          set_shape(node, 0, type, {p.batch, p.q_len, capped_product({p.q_heads, p.v_head})});
      !s)
    return s;
  Dims keys = p.present_key(), values = p.present_value();
  keys[2] = values[2] = cached;
  if (Status s = set_if_wanted(node, 1, type, keys); !s) return s;
  if (Status s = set_if_wanted(node, 2, type, values); !s) return s;
  return set_if_wanted(node, 3, type, p.score_dims());
}

Result<Work> multi_head_work(const NodeView& node, AttentionPlan p, const MultiHeadPorts& ports) {
  Work work;
  if (has_port(node, ports.bias)) {
    VectorOp add;
    for (const int input : {0, 1, 2})
      if (const auto i = static_cast<size_t>(input); node.has_input(i))
        prepare_operand({input, input_size(node, i)}, kBiasOps, ValuePort::made(input, 0), add);
    for (ValuePort* port : {&p.q_port, &p.k_port, &p.v_port}) *port = ValuePort::made(*port, 0);
    read_input(node, static_cast<size_t>(ports.bias), add.inputs);
    work.emplace_back(add);
  }
  const int64_t keys = capped_product({p.batch, p.kv_heads, p.kv_len, p.head});
  const int64_t values = capped_product({p.batch, p.kv_heads, p.kv_len, p.v_head});
  append_cache(node, p.k_port, keys, static_cast<size_t>(ports.past_key), 1, work);
  append_cache(node, p.v_port, values, static_cast<size_t>(ports.past_value), 2, work);
  return checked_work(node, joined_work(std::move(work), attention_work(node, p)));
}

}  // namespace

Status multi_head_rule(InferContext& node) {
  const Result<AttentionPlan> p = plan_multi_head(node, kMultiHead);
  if (!p) return p.errors();
  return set_multi_head(node, *p, p->total_len);
}

Result<Work> multi_head_cost(const NodeView& node) {
  Result<AttentionPlan> p = plan_multi_head(node, kMultiHead);
  if (!p) return p.errors();
  return multi_head_work(node, *p, kMultiHead);
}

Status decoder_multi_head_rule(InferContext& node) {
  int64_t cached = 0;
  const Result<AttentionPlan> p = plan_decoder(node, cached);
  if (!p) return p.errors();
  return set_multi_head(node, *p, cached);
}

Result<Work> decoder_multi_head_cost(const NodeView& node) {
  int64_t cached = 0;
  const Result<AttentionPlan> p = plan_decoder(node, cached);
  if (!p) return p.errors();
  return multi_head_work(node, *p, kDecoderMultiHead);
}

std::optional<RowMeaning> multi_head_rows(const NodeView& node) {
  const Result<AttentionPlan> p = plan_multi_head(node, kMultiHead);
  const bool padded = node.has_input(4);
  if (!p || padded || int_attr(node, "unidirectional", 0) != 0) return std::nullopt;
  return rows_between(node, *p);
}

Status group_query_rule(InferContext& node) {
  const Result<GroupQuery> g = plan_group_query(node);
  if (!g) return g.errors();
  const AttentionPlan& p = g->plan;
  const DType type = node.dtype(0);
  const bool packed = cached_head(node, p) != p.head;
  const bool quantised = has_quantised(node, "k_quant_type");
  const DType cache = node.has_input(3) ? node.dtype(3)
                      : packed          ? DType::uint8
                      : quantised       ? DType::int8
                                        : type;
  if (Status s = set_shape(node, 0, type, {p.batch, p.q_len, capped_product({p.q_heads, p.head})});
      !s)
    return s;
  const Dims present{p.batch, p.kv_heads, g->cached, cached_head(node, p)};
  if (Status s = set_if_wanted(node, 1, cache, present); !s) return s;
  if (Status s = set_if_wanted(node, 2, cache, present); !s) return s;
  return set_if_wanted(node, 3, type, p.score_dims());
}

Result<Work> group_query_cost(const NodeView& node) {
  Result<GroupQuery> g = plan_group_query(node);
  if (!g) return g.errors();
  AttentionPlan& p = g->plan;
  Work work;
  const int64_t fresh = capped_product({p.batch, p.kv_heads, p.kv_len, p.head});
  const int64_t queries = capped_product({p.batch, p.q_len, p.q_heads, p.head});
  if (node.has_input(14)) work.emplace_back(normalised_heads(node, queries, fresh, p));
  if (int_attr(node, "do_rotary", 0) != 0) {
    VectorOp rotate;
    p.q_port = prepare_operand({p.q_port, queries}, kRotaryOps, ValuePort::made(0, 0), rotate);
    p.k_port = prepare_operand({p.k_port, fresh}, kRotaryOps, ValuePort::made(1, 0), rotate);
    work.emplace_back(rotate);
  }
  const int64_t each = cached_head(node, p);
  const auto append = [&](ValuePort port, size_t scales, size_t past, size_t present) {
    if (!node.has_output(present)) return;
    const bool packs = each != p.head;
    if (packs) port = pack_fresh(node, p, port, scales, fresh, work);
    append_cache(node, port, packs ? fresh / p.head * each : fresh, past, present, work);
  };
  append(p.k_port, 12, 3, 1);
  append(p.v_port, 13, 4, 2);
  return checked_work(node, joined_work(std::move(work), attention_work(node, p)));
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
