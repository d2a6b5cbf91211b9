#include <algorithm>
#include <cmath>

#include "sim/elaborate/attention_operator.h"
#include "sim/operators/contrib/attention_parts.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// GroupQueryAttention of com.microsoft. All entries of the batch are as long as the longest one.
class GroupQuery : public AttentionOperator {
 public:
  using AttentionOperator::AttentionOperator;

 private:
  static constexpr size_t kPastKey = 3, kPastValue = 4, kTotal = 6, kCos = 7, kSin = 8,
                          kPositions = 9, kScoresBias = 10, kSinks = 11, kQueryNorm = 14,
                          kKeyNorm = 15;

  bool plan_form(const NodeView& node) override {
    for (const char* kind : {"k_quant_type", "v_quant_type"})
      if (node.attr(kind, "NONE") != std::string("NONE")) return false;
    if (node.has_output(3)) return false;
    for (const size_t i : {size_t{1}, size_t{2}, kPastKey, kPastValue, kScoresBias, kSinks})
      if (node.has_input(i) && node.dtype(i) != type_) return false;
    if (node.has_input(kPastKey) != node.has_input(kPastValue)) return false;
    slides_ = int_attr(node, "sliding_window_cache", 0) != 0 && node.has_input(kPastKey);
    if (!take_sizes(node) || !(slides_ ? plan_sliding_cache(node) : plan_cache(node))) return false;
    const double scale = real_attr(node, "scale", 0);
    a_.scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(s_.head)) : scale;
    a_.softcap = real_attr(node, "softcap", 0);
    if (int_attr(node, "causal", 1) != 0) a_.window.behind = 0;
    const int64_t window = int_attr(node, "local_window_size", -1);
    if (window > 0) a_.window.before = window - 1;
    a_.window.own = a_.keys - s_.queries;
    epsilon_ = real_attr(node, "qk_norm_epsilon", 1e-6);
    smooth_ = int_attr(node, "smooth_softmax", 0) != 0;
    interleaved_ = int_attr(node, "rotary_interleaved", 0);
    turns_ = int_attr(node, "do_rotary", 0) != 0;
    return (!turns_ || takes_angles(node)) && takes_bias(node) &&
           (!node.has_input(kSinks) || elements(node.dims(kSinks)) == s_.q_heads);
  }

  bool take_sizes(const NodeView& node) {
    const Dims& q = node.dims(0);
    s_.batch = q[0];
    s_.queries = q[1];
    s_.q_heads = int_attr(node, "num_heads", 1);
    s_.kv_heads = int_attr(node, "kv_num_heads", 1);
    packed_ = !node.has_input(1);
    s_.head = s_.v_head = q[2] / (packed_ ? s_.q_heads + 2 * s_.kv_heads : s_.q_heads);
    s_.fresh = packed_ ? q[1] : node.dims(1)[1];
    return s_.fresh == s_.queries;
  }

  /// A known total length tells a cache that is appended to from a buffer with room for more.
  bool plan_cache(const NodeView& node) {
    s_.past = node.has_input(kPastKey) ? node.dims(kPastKey)[2] : 0;
    a_.keys = total_ = s_.total();
    const int64_t known = known_total(node, kTotal);
    if (known == 0 || known == a_.keys) return true;
    a_.keys = total_ = known;
    buffer_ = true;
    return a_.keys <= s_.past && a_.keys >= s_.queries;
  }
  /// A cache of the last tokens.
  bool plan_sliding_cache(const NodeView& node) {
    s_.past = node.dims(kPastKey)[2];
    const int64_t known = known_total(node, kTotal);
    total_ = known == 0 ? s_.total() : known;
    if (total_ < s_.queries) return false;
    const int64_t window = int_attr(node, "local_window_size", 0);
    kept_ = tokens_kept(total_ - s_.queries, s_.past, window);
    last_ = tokens_kept(total_, s_.past, window);
    a_.keys = kept_ + s_.queries;
    buffer_ = a_.keys == last_;
    // Its columns are all tokens'.
    return !node.has_input(kScoresBias) || a_.keys == total_;
  }

  bool takes_angles(const NodeView& node) const {
    if (!node.has_input(kCos) || !node.has_input(kSin) || node.rank(kCos) != 2) return false;
    const Dims& cos = node.dims(kCos);
    if (node.dtype(kCos) != type_ || node.dims(kSin) != cos || 2 * cos[1] > s_.head) return false;
    const int64_t tokens = s_.batch * s_.queries;
    if (node.has_input(kPositions))
      return elements(node.dims(kPositions)) == tokens && node.rank(kPositions) == 2;
    return total_ <= cos[0];
  }
  bool takes_bias(const NodeView& node) const {
    if (!node.has_input(kScoresBias)) return true;
    const Dims& bias = node.dims(kScoresBias);
    if (bias.size() != 4 || bias[3] < a_.keys) return false;
    const Dims scores{s_.batch, s_.q_heads, s_.queries, bias[3]};
    return broadcast_dims(bias, scores) == scores;
  }

  void add_operands() override {
    TensorId q = call().input(0), k = call().input(1), v = call().input(2);
    if (packed_) {
      const int64_t queries = s_.q_heads * s_.head, keys = s_.kv_heads * s_.head;
      v = nodes_.add_slice("value_columns", q, 2, queries + keys, queries + 2 * keys);
      k = nodes_.add_slice("key_columns", q, 2, queries, queries + keys);
      q = nodes_.add_slice("query_columns", q, 2, 0, queries);
    }
    q = prepared("query", q, s_.q_heads, kQueryNorm);
    k = prepared("key", k, s_.kv_heads, kKeyNorm);
    a_.q = split_heads("query", q, s_.q_heads, s_.head);
    a_.k = cached("key", kPastKey, k, 1);
    a_.v = cached("value", kPastValue, v, 2);
    a_.mask = call().input(kScoresBias);
    if (has_input(kSinks))
      a_.sinks = call().input(kSinks);
    else if (smooth_)
      a_.sinks = zero_sinks();
  }

  TensorId cached(const std::string& what, size_t past, TensorId fresh, int output) {
    if (slides_ && !buffer_) return slid(what, past, fresh, output);
    if (!buffer_) return append(what, past, fresh, s_.head, output);
    const TensorId split = split_heads(what, fresh, s_.kv_heads, s_.head);
    const std::vector<int64_t> at(static_cast<size_t>(s_.batch), a_.keys - s_.queries);
    const TensorId place = nodes_.add_integers(what + "_at", {s_.batch}, at);
    const TensorId out = nodes_.add_node(op::kTensorScatter, what + "_written",
                                         {call().input(past), split, place}, {}, output);
    if (wants(output)) outputs_[static_cast<size_t>(output)] = out;
    return out;
  }

  /// What the cache keeps and the new ones; the last of these go to its beginning.
  TensorId slid(const std::string& what, size_t past, TensorId fresh, int output) {
    TensorId all = split_heads(what, fresh, s_.kv_heads, s_.head);
    if (kept_ > 0) {
      const TensorId kept = nodes_.add_slice(what + "_kept", call().input(past), 2, 0, kept_);
      all = nodes_.add_concat(what + "_appended", {kept, all}, 2);
    }
    if (!wants(output)) return all;
    const TensorId last = nodes_.add_slice(what + "_last", all, 2, a_.keys - last_, a_.keys);
    const TensorId place = nodes_.add_integers(
        what + "_at", {s_.batch}, std::vector<int64_t>(static_cast<size_t>(s_.batch), 0));
    outputs_[static_cast<size_t>(output)] = nodes_.add_node(
        op::kTensorScatter, what + "_written", {call().input(past), last, place}, {}, output);
    return all;
  }

  /// Queries or keys, normalised head by head and turned by their places.
  TensorId prepared(const std::string& what, TensorId x, int64_t heads, size_t norm) {
    if (has_input(norm)) {
      const Dims rows{s_.batch, s_.queries, heads, s_.head};
      const TensorId split = nodes_.add_reshape(what + "_rows", x, rows);
      const TensorId normed =
          nodes_.add_node(op::kRMSNormalization, what + "_normed", {split, call().input(norm)},
                          {{"axis", "", int64_t{-1}}, {"epsilon", "", epsilon_}});
      x = nodes_.add_reshape(what + "_flat", normed, {s_.batch, s_.queries, heads * s_.head});
    }
    return turns_ ? turned(what, x, heads) : x;
  }
  TensorId turned(const std::string& what, TensorId x, int64_t heads) {
    if (!nodes_.errors().empty()) return kNoTensor;
    if (positions_ == kNoTensor) positions_ = positions();
    const int64_t angles = 2 * nodes_.dims(call().input(kCos))[1];
    NodeDef def;
    def.op_type = op::kRotaryEmbedding;
    def.domain = kMicrosoft;
    def.module = call().def.module;
    def.outputs = {nodes_.scoped_name(what + "_turned_output")};
    NodeCall turn{def,
                  nodes_.scoped_name(what + "_turned"),
                  1,
                  {x, positions_, call().input(kCos), call().input(kSin)},
                  {{"interleaved", "", interleaved_}, {"num_heads", "", heads}},
                  call().scope};
    if (angles < s_.head) turn.attributes.push_back({"rotary_embedding_dim", "", angles});
    const Result<TensorId> made = spell_out_rotary(turn, builder_, budget_, memory_.angles);
    if (made && *made != kNoTensor) return *made;
    if (!made) return nodes_.fail(made.errors());
    check(false, "a rotation that can't be spelled out");
    return kNoTensor;
  }
  TensorId positions() {
    if (has_input(kPositions)) return call().input(kPositions);
    std::vector<int64_t> values;
    for (int64_t n = 0; n < s_.batch * s_.queries; ++n)
      values.push_back(total_ - s_.queries + n % s_.queries);
    return nodes_.add_integers("positions", {s_.batch, s_.queries}, std::move(values));
  }
  TensorId zero_sinks() {
    const TensorId zero = nodes_.add_real("no_sink", type_, 0);
    return nodes_.add_node(op::kExpand, "zero_sinks",
                           {zero, nodes_.add_integers("sink_count", {1}, {s_.q_heads})});
  }

  bool packed_ = false;  ///< queries, keys and values beside one another
  bool buffer_ = false;  ///< caches have room for more keys
  bool slides_ = false;  ///< caches keep the last tokens
  int64_t total_ = 0;    ///< tokens with those before
  /// Tokens that a sliding cache keeps of those before, and of all.
  int64_t kept_ = 0, last_ = 0;
  bool turns_ = false, smooth_ = false;
  int64_t interleaved_ = 0;
  double epsilon_ = 0;
  TensorId positions_ = kNoTensor;
};

}  // namespace

std::unique_ptr<AttentionOperator> group_query_attention(const NodeCall& call,
                                                         GraphBuilder& builder, Budget& budget,
                                                         AttentionMemory& memory) {
  return std::make_unique<GroupQuery>(call, builder, budget, memory);
}

}  // namespace accsim::sim
