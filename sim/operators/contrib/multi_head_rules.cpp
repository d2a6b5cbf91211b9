#include <fmt/format.h>

#include "sim/operators/contrib/attention_parts.h"
#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

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
  constexpr int64_t kBiasOps = 1;
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
  return attention_after(node, std::move(work), p);
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

}  // namespace accsim::sim
