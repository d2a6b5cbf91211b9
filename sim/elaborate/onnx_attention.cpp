#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/elaborate/attention_operator.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// Attention of ai.onnx.
class OnnxAttention : public AttentionOperator {
 public:
  using AttentionOperator::AttentionOperator;

 private:
  static constexpr size_t kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;

  bool plan_form(const NodeView& node) override {
    if (node.has_output(3)) return false;
    for (const size_t i : {size_t{1}, size_t{2}, kPastKey, kPastValue})
      if (node.has_input(i) && node.dtype(i) != type_) return false;
    heads_first_ = node.rank(0) == 4;
    take_sizes(node);
    a_.scale = real_attr(node, "scale", 1 / std::sqrt(static_cast<double>(s_.head)));
    a_.softcap = real_attr(node, "softcap", 0);
    if (node.has_input(kMask) && !takes_mask(node)) return false;
    return plan_window(node);
  }

  void take_sizes(const NodeView& node) {
    const Dims &q = node.dims(0), &k = node.dims(1), &v = node.dims(2);
    s_.batch = q[0];
    s_.queries = q[heads_first_ ? 2 : 1];
    s_.fresh = k[heads_first_ ? 2 : 1];
    s_.q_heads = heads_first_ ? q[1] : int_attr(node, "q_num_heads", 1);
    s_.kv_heads = heads_first_ ? k[1] : int_attr(node, "kv_num_heads", 1);
    s_.head = heads_first_ ? q[3] : q[2] / s_.q_heads;
    s_.v_head = heads_first_ ? v[3] : v[2] / s_.kv_heads;
    s_.past = node.has_input(kPastKey) ? node.dims(kPastKey)[2] : 0;
    a_.keys = s_.total();
  }

  /// A mask that is shorter than the keys leaves the rest out, and isn't spelled out.
  bool takes_mask(const NodeView& node) const {
    const Dims& d = node.dims(kMask);
    const DType type = node.dtype(kMask);
    return (type == DType::boolean || type == type_) && !d.empty() &&
           (d.back() == 1 || d.back() == s_.total());
  }

  bool plan_window(const NodeView& node) {
    KeyWindow& w = a_.window;
    const int64_t left = int_attr(node, "left_window_size", -1),
                  right = int_attr(node, "right_window_size", -1);
    if (left < -1 || right < -1) return false;
    if (left >= 0) w.before = left;
    if (right >= 0) w.behind = right;
    if (int_attr(node, "is_causal", 0) != 0) w.behind = 0;
    w.own = s_.past;
    if (!node.has_input(kLengths)) return true;
    if (node.has_input(kPastKey) || node.dims(kLengths) != Dims{s_.batch}) return false;
    const ConstData* known = node.value(kLengths);
    const bool alike = known != nullptr && known->is_integer() && known->size() > 0 &&
                       std::ranges::count(known->integers(), known->integers()[0]) ==
                           std::ssize(known->integers());
    if (alike) {  // of a buffer the first keys are there, and the last query is the last of them
      a_.keys = known->integers()[0];
      w.own = a_.keys - s_.queries;
      return a_.keys > 0 && a_.keys <= s_.fresh;
    }
    unknown_ = w;
    w = {};
    return true;
  }

  void add_operands() override {
    a_.q = split_heads("query", call().input(0), s_.q_heads, s_.head);
    a_.k = append("key", kPastKey, call().input(1), s_.head, 1);
    a_.v = append("value", kPastValue, call().input(2), s_.v_head, 2);
    a_.mask = call().input(kMask);
    if (has_input(kLengths) && unknown_) mask_unknown();
  }

  /// Masks keys by a length that only a run knows, l: query i of n has place i + l - n.
  void mask_unknown() {
    const TensorId length =
        nodes_.add_reshape("length", call().input(kLengths), {s_.batch, 1, 1, 1});
    TensorId seen = kNoTensor;
    const auto compare = [&](std::string_view op_type, const std::string& what, TensorId places) {
      const TensorId is = nodes_.add_node(op_type, what, {places, length});
      seen = seen == kNoTensor ? is : nodes_.add_node(op::kAnd, what + "_too", {seen, is});
    };
    const KeyWindow& w = *unknown_;
    if (!w.behind || *w.behind > 0) compare(op::kLess, "there", key_places("places", 1, 0));
    // Key j is seen where j <= i + l - n + behind, and j >= i + l - n - before.
    if (w.behind) compare(op::kLess, "last", key_places("last_places", s_.queries, -1 - *w.behind));
    if (w.before)
      compare(op::kGreaterOrEqual, "first", key_places("first_places", s_.queries, *w.before));
    if (!nodes_.errors().empty()) return;
    if (a_.mask == kNoTensor) {
      a_.mask = seen;
    } else if (nodes_.tensor(a_.mask).dtype == DType::boolean) {
      a_.mask = nodes_.add_node(op::kAnd, "mask_there", {a_.mask, seen});
    } else {
      const TensorId least =
          nodes_.add_real("mask_least", type_, -std::numeric_limits<double>::infinity());
      a_.mask = nodes_.add_node(op::kWhere, "mask_there", {seen, a_.mask, least});
    }
  }
  /// j - i + n + `more` of key j and query i of n, or of one row j.
  TensorId key_places(const std::string& what, int64_t rows, int64_t more) {
    const bool one = rows == 1 && what == "places";
    std::vector<int64_t> values;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < s_.fresh; ++j) values.push_back(one ? j : j - i + s_.queries + more);
    return nodes_.add_integers(what, {1, 1, rows, s_.fresh}, std::move(values));
  }

  std::optional<KeyWindow> unknown_;  ///< of lengths that aren't known
};

}  // namespace

std::unique_ptr<AttentionOperator> onnx_attention(const NodeCall& call, GraphBuilder& builder,
                                                  Budget& budget, AttentionMemory& memory) {
  return std::make_unique<OnnxAttention>(call, builder, budget, memory);
}

}  // namespace accsim::sim
