#include <algorithm>
#include <cmath>

#include "sim/elaborate/attention_operator.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// What a mask of padded keys that isn't in numbers of its own takes away.
constexpr double kFilter = -10000;

/// The dims in which a mask of padded keys goes with the scores; empty: it isn't spelled out.
Dims padding_dims(const Dims& mask, int64_t batch, int64_t queries, int64_t total) {
  if (mask == Dims{batch, total}) return {batch, 1, 1, total};
  if (mask == Dims{batch, queries, total}) return {batch, 1, queries, total};
  return {};
}

/// A bias of scores broadcasts to them.
bool goes_with_scores(const Dims& bias, const Dims& scores) {
  return bias.size() == 4 && broadcast_dims(bias, scores) == scores;
}

double scale_of(const NodeView& node, int64_t head) {
  const double scale = real_attr(node, "scale", 0);
  return scale == 0 ? 1 / std::sqrt(static_cast<double>(head)) : scale;
}

/// MultiHeadAttention of com.microsoft.
class MultiHead : public AttentionOperator {
 public:
  using AttentionOperator::AttentionOperator;

 private:
  static constexpr size_t kBias = 3, kPadding = 4, kScoresBias = 5, kPastKey = 6, kPastValue = 7;

  bool plan_form(const NodeView& node) override {
    for (size_t i = kPastValue + 1; i < node.input_count(); ++i)
      if (node.has_input(i)) return false;
    if (node.has_output(3) || node.has_input(kPastKey) != node.has_input(kPastValue)) return false;
    for (const size_t i : {size_t{1}, size_t{2}, kBias, kScoresBias, kPastKey, kPastValue})
      if (node.has_input(i) && node.dtype(i) != type_) return false;
    take_sizes(node);
    a_.scale = scale_of(node, s_.head);
    filter_ = real_attr(node, "mask_filter_value", kFilter);
    if (int_attr(node, "unidirectional", 0) != 0) a_.window.behind = 0;
    a_.window.own = s_.total() - s_.queries;
    if (node.has_input(kPadding)) {
      padding_dims_ = padding_dims(node.dims(kPadding), s_.batch, s_.queries, s_.total());
      if (padding_dims_.empty()) return false;
    }
    const Dims scores{s_.batch, s_.q_heads, s_.queries, s_.total()};
    const int64_t columns = s_.q_heads * (2 * s_.head + s_.v_head);
    return (!node.has_input(kScoresBias) || goes_with_scores(node.dims(kScoresBias), scores)) &&
           (!node.has_input(kBias) || node.dims(kBias) == Dims{columns});
  }

  void take_sizes(const NodeView& node) {
    const Dims& q = node.dims(0);
    s_.batch = q[0];
    s_.queries = s_.fresh = q[1];
    s_.q_heads = s_.kv_heads = int_attr(node, "num_heads", 1);
    s_.head = s_.v_head = q.size() == 5 ? q[4] : q[2] / s_.q_heads;
    if (node.has_input(1)) {
      const Dims& k = node.dims(1);
      s_.fresh = k[k.size() == 4 ? 2 : 1];
      if (k.size() != 5)
        s_.v_head = node.dims(2).size() == 4 ? node.dims(2)[3] : node.dims(2)[2] / s_.q_heads;
    }
    s_.past = node.has_input(kPastKey) ? node.dims(kPastKey)[2] : 0;
    a_.keys = s_.total();
  }

  void add_operands() override {
    const TensorId q = call().input(0), k = has_input(1) ? call().input(1) : q,
                   v = has_input(2) ? call().input(2) : k;
    const int64_t heads = s_.q_heads, width = heads * s_.head;
    a_.q =
        split_heads("query", with_bias("query", unpacked("query", q, 0), 0, width), heads, s_.head);
    a_.k = append("key", kPastKey,
                  with_bias("key", unpacked("key", k, has_input(1) ? 0 : 1), width, 2 * width),
                  s_.head, 1);
    a_.v = append("value", kPastValue,
                  with_bias("value", unpacked("value", v, has_input(1) ? 1 : 2), 2 * width,
                            2 * width + heads * s_.v_head),
                  s_.v_head, 2);
    TensorId padded = kNoTensor;
    if (has_input(kPadding)) padded = padding(call().input(kPadding), padding_dims_, filter_);
    a_.mask = sum_of_masks(call().input(kScoresBias), padded);
  }

  /// Part `i` of what batch x length x heads x parts x size holds, its heads beside one another; a
  /// tensor of fewer dims as it is.
  TensorId unpacked(const std::string& what, TensorId x, int64_t i) {
    if (!nodes_.errors().empty()) return kNoTensor;
    const Dims d = nodes_.dims(x);
    if (d.size() != 5) return x;
    return nodes_.add_reshape(what + "_unpacked",
                              nodes_.add_slice(what + "_packed", x, 3, i, i + 1),
                              {d[0], d[1], d[2] * d[4]});
  }
  TensorId with_bias(const std::string& what, TensorId x, int64_t from, int64_t to) {
    if (!has_input(kBias) || !nodes_.errors().empty()) return x;
    TensorId bias = nodes_.add_slice(what + "_bias", call().input(kBias), 0, from, to);
    if (nodes_.dims(x).size() == 4)
      bias = nodes_.add_reshape(what + "_bias_heads", bias,
                                {1, s_.q_heads, 1, (to - from) / s_.q_heads});
    return nodes_.add_node(op::kAdd, what + "_biased", {x, bias});
  }

  Dims padding_dims_;
  double filter_ = kFilter;
};

/// Attention of com.microsoft: the projection to queries, keys and values is part of it.
class Projected : public AttentionOperator {
 public:
  using AttentionOperator::AttentionOperator;

 private:
  static constexpr size_t kWeights = 1, kBias = 2, kPadding = 3, kPast = 4, kScoresBias = 5,
                          kPastLength = 6;

  bool plan_form(const NodeView& node) override {
    for (const char* other : {"do_rotary", "past_present_share_buffer"})
      if (int_attr(node, other, 0) != 0) return false;
    if (node.has_input(kPastLength)) return false;
    for (const size_t i : {kWeights, kBias, kPast, kScoresBias})
      if (node.has_input(i) && node.dtype(i) != type_) return false;
    const Dims &x = node.dims(0), &w = node.dims(kWeights);
    const auto sizes = node.attr("qkv_hidden_sizes", std::vector<int64_t>(3, w[1] / 3));
    s_.batch = x[0];
    s_.queries = s_.fresh = x[1];
    s_.q_heads = s_.kv_heads = int_attr(node, "num_heads", 1);
    s_.head = sizes[0] / s_.q_heads;
    s_.v_head = sizes[2] / s_.q_heads;
    s_.past = node.has_input(kPast) ? node.dims(kPast)[3] : 0;
    a_.keys = s_.total();
    caches_ = node.has_input(kPast) || node.has_output(1);
    if (caches_ && s_.head != s_.v_head) return false;
    a_.scale = scale_of(node, s_.head);
    filter_ = real_attr(node, "mask_filter_value", kFilter);
    if (int_attr(node, "unidirectional", 0) != 0) a_.window.behind = 0;
    a_.window.own = s_.past;
    if (node.has_input(kPadding)) {
      padding_dims_ = padding_dims(node.dims(kPadding), s_.batch, s_.queries, s_.total());
      if (padding_dims_.empty()) return false;
    }
    const Dims scores{s_.batch, s_.q_heads, s_.queries, s_.total()};
    return !node.has_input(kScoresBias) || goes_with_scores(node.dims(kScoresBias), scores);
  }

  void add_operands() override {
    TensorId all =
        nodes_.add_node(op::kMatMul, "projected", {call().input(0), call().input(kWeights)});
    if (has_input(kBias)) all = nodes_.add_node(op::kAdd, "biased", {all, call().input(kBias)});
    const int64_t heads = s_.q_heads, width = heads * s_.head;
    const auto part = [&](const char* what, int64_t from, int64_t size) {
      return split_heads(
          what, nodes_.add_slice(std::string(what) + "_columns", all, 2, from, from + heads * size),
          heads, size);
    };
    a_.q = part("query", 0, s_.head);
    a_.k = part("key", width, s_.head);
    a_.v = part("value", 2 * width, s_.v_head);
    if (caches_) add_cache();
    TensorId padded = kNoTensor;
    if (has_input(kPadding)) padded = padding(call().input(kPadding), padding_dims_, filter_);
    a_.mask = sum_of_masks(call().input(kScoresBias), padded);
  }

  /// Keys and values lie in one cache, of 2 x batch x heads x length x size.
  void add_cache() {
    const Dims one{1, s_.batch, s_.q_heads, s_.fresh, s_.head};
    const TensorId fresh = nodes_.add_concat(
        "fresh",
        {nodes_.add_reshape("key_one", a_.k, one), nodes_.add_reshape("value_one", a_.v, one)}, 0,
        has_input(kPast) ? AddedNodes::kInner : 1);
    const TensorId cache =
        has_input(kPast) ? nodes_.add_concat("cache", {call().input(kPast), fresh}, 3, 1) : fresh;
    if (wants(1)) outputs_[1] = cache;
    if (!has_input(kPast)) return;
    const Dims half{s_.batch, s_.q_heads, s_.total(), s_.head};
    a_.k = nodes_.add_reshape("keys", nodes_.add_slice("key_half", cache, 0, 0, 1), half);
    a_.v = nodes_.add_reshape("values", nodes_.add_slice("value_half", cache, 0, 1, 2), half);
  }

  Dims padding_dims_;
  double filter_ = kFilter;
  bool caches_ = false;
};

}  // namespace

std::unique_ptr<AttentionOperator> multi_head_attention(const NodeCall& call, GraphBuilder& builder,
                                                        Budget& budget, AttentionMemory& memory) {
  return std::make_unique<MultiHead>(call, builder, budget, memory);
}

std::unique_ptr<AttentionOperator> projected_attention(const NodeCall& call, GraphBuilder& builder,
                                                       Budget& budget, AttentionMemory& memory) {
  return std::make_unique<Projected>(call, builder, budget, memory);
}

}  // namespace accsim::sim
