#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/contrib/attention_parts.h"
#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

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
  if (const int64_t total = known_total(node, 6); total > 0) {
    p.total_len = total;
    g.cached = std::max(*past, p.total_len);
  }
  // Queries see the keys of their windows only; scores that are given have all.
  const int64_t window = int_attr(node, "local_window_size", -1);
  if (window > 0 && !node.has_output(3))
    p.total_len = std::min(p.total_len, capped_sum(window, std::max<int64_t>(p.q_len - 1, 0)));
  // A cache of a window's size drops old keys itself.
  if (int_attr(node, "sliding_window_cache", 0) != 0 && node.has_input(3)) {
    if (window <= 0 || *past < window)
      return bad_node(node, fmt::format("a sliding cache of {} keys has no room for a window of {}",
                                        *past, window));
    g.cached = *past;
  }
  if (node.has_input(14) != node.has_input(15))
    return bad_node(node, "q_norm_weight and k_norm_weight go together");
  if (node.has_input(10)) p.mask_port = 10;
  p.softcap = real_attr(node, "softcap", 0) > 0;
  if (node.has_output(3)) p.scores_output = 3;
  return g;
}

}  // namespace

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
  return attention_after(node, std::move(work), p);
}

}  // namespace accsim::sim
