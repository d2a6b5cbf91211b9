#include "sim/elaborate/attention_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Blocks of queries are multiples of so many. There are at most so many blocks, and fewer where
/// queries see all keys before them.
constexpr int64_t kBlockRows = 64, kMostBlocks = 64, kCausalBlocks = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// In the key of a mask: all keys are seen on that side.
constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();

/// Queries [first, end) and the keys that any of them sees, likewise.
struct Block {
  int64_t first = 0, end = 0, first_key = 0, end_key = 0;
  int64_t rows() const { return end - first; }
  int64_t keys() const { return end_key - first_key; }
};

class Attention {
 public:
  Attention(const AttentionTensors& a, AddedNodes& nodes, SharedMasks& masks)
      : a_(a),
        nodes_(nodes),
        masks_(masks),
        q_dims_(nodes.dims(a.q)),
        k_dims_(nodes.dims(a.k)),
        v_size_(nodes.dims(a.v).back()) {}

  TensorId add_nodes(int output) {
    const int64_t queries = q_dims_[2], each = rows_of_block(queries, a_.window);
    if (each >= queries) return attend(block_of(0, queries), "", output);
    TensorIds parts;
    for (int64_t at = 0; at < queries; at += each) {
      const Block b = block_of(at, std::min(queries, at + each));
      parts.push_back(attend(b, fmt::format("/queries_{}_{}", b.first, b.end - 1)));
    }
    return nodes_.add_concat("blocks", std::move(parts), 2, output);
  }

 private:
  int64_t heads() const { return q_dims_[1]; }

  Block block_of(int64_t first, int64_t end) const {
    const KeyWindow& w = a_.window;
    Block b{first, end, 0, a_.keys};
    if (w.before) b.first_key = std::clamp<int64_t>(w.own + first - *w.before, 0, a_.keys - 1);
    if (w.behind)
      b.end_key = std::clamp<int64_t>(w.own + end + *w.behind, b.first_key + 1, a_.keys);
    return b;
  }

  TensorId attend(const Block& b, const std::string& of, int output = AddedNodes::kInner) {
    const auto named = [&](const char* what) { return what + of; };
    const TensorId q = nodes_.add_slice(named("query"), a_.q, 2, b.first, b.end);
    const TensorId k = for_each_head(named("key"), a_.k, k_dims_[3], b);
    const TensorId v = for_each_head(named("value"), a_.v, v_size_, b);
    const TensorId turned = nodes_.add_transpose(named("turned"), k, {0, 1, 3, 2});
    const TensorId scores =
        masked(scaled(nodes_.add_node(op::kMatMul, named("scores"), {q, turned}), of), b, of);
    const TensorId weights =
        nodes_.add_node(op::kSoftmax, named("softmax"), {scores}, {{"axis", "", int64_t{-1}}});
    const bool sinks = a_.sinks != kNoTensor;
    const TensorId out = nodes_.add_node(op::kMatMul, named("attended"), {weights, v}, {},
                                         sinks ? AddedNodes::kInner : output);
    return sinks ? beside_sinks(out, scores, of, output) : out;
  }

  /// The block's keys or values, for each query head.
  TensorId for_each_head(const std::string& what, TensorId of, int64_t size, const Block& b) {
    const TensorId part = nodes_.add_slice(what, of, 2, b.first_key, b.end_key);
    const int64_t batch = k_dims_[0], shared = k_dims_[1], times = heads() / shared;
    if (times == 1) return part;
    const TensorId one =
        nodes_.add_reshape(what + "_one", part, {batch, shared, 1, b.keys(), size});
    const TensorId all = nodes_.add_node(
        op::kExpand, what + "_all",
        {one, nodes_.add_integers(what + "_times", {5}, {batch, shared, times, b.keys(), size})});
    return nodes_.add_reshape(what + "_heads", all, {batch, heads(), b.keys(), size});
  }

  DType type() const { return nodes_.tensor(a_.q).dtype; }

  TensorId times(TensorId x, double factor, const std::string& what) {
    if (factor == 1) return x;
    return nodes_.add_node(op::kMul, what, {x, nodes_.add_real(what + "_factor", type(), factor)});
  }
  TensorId scaled(TensorId scores, const std::string& of) {
    if (a_.softcap == 0) return times(scores, a_.scale, "scaled" + of);
    const TensorId inner = times(scores, a_.scale / a_.softcap, "scaled" + of);
    const TensorId bent = nodes_.add_node(op::kTanh, "tanh" + of, {inner});
    return times(bent, a_.softcap, "capped" + of);
  }

  // ---- masks ------------------------------------------------------------------------------------

  TensorId masked(TensorId scores, const Block& b, const std::string& of) {
    const TensorId given = a_.mask == kNoTensor ? kNoTensor : mask_of(b, of);
    const bool keeps = given != kNoTensor && nodes_.tensor(given).dtype == DType::boolean;
    TensorId mask = given;
    if (!sees_alike(b)) mask = both(given, keeps, b, of);
    if (mask == kNoTensor || !nodes_.errors().empty()) return scores;
    if (!keeps) return nodes_.add_node(op::kAdd, "masked" + of, {scores, mask});
    const TensorId least = nodes_.add_real("least" + of, type(), -kInfinity);
    return nodes_.add_node(op::kWhere, "masked" + of, {mask, scores, least});
  }
  TensorId both(TensorId given, bool keeps, const Block& b, const std::string& of) {
    const TensorId seen = seen_keys(b, keeps ? DType::boolean : type(), of);
    if (given == kNoTensor) return seen;
    return nodes_.add_node(keeps ? op::kAnd : op::kAdd, "mask" + of, {given, seen});
  }

  /// The block's part of the given mask.
  TensorId mask_of(const Block& b, const std::string& of) {
    const Dims d = nodes_.dims(a_.mask);
    const auto rank = std::ssize(d);
    TensorId out = a_.mask;
    if (rank > 1 && d[d.size() - 2] > 1)
      out = nodes_.add_slice("mask_rows" + of, out, rank - 2, b.first, b.end);
    if (rank > 0 && d.back() > 1)
      out = nodes_.add_slice("mask_keys" + of, out, rank - 1, b.first_key, b.end_key);
    return out;
  }

  /// Does every query of the block see all of its keys?
  bool sees_alike(const Block& b) const {
    const KeyWindow& w = a_.window;
    const bool from = !w.before || w.own + b.end - 1 - *w.before <= b.first_key;
    const bool to = !w.behind || w.own + b.first + *w.behind >= b.end_key - 1;
    return from && to;
  }

  /// Which of the block's keys each of its queries sees: true, or 0 in place of -inf.
  TensorId seen_keys(const Block& b, DType dtype, const std::string& of) {
    const KeyWindow& w = a_.window;
    const int64_t own = w.own + b.first - b.first_key;
    const int64_t first = w.before ? own - *w.before : kNowhere;
    const int64_t last = w.behind ? own + *w.behind : kNowhere;
    const std::tuple key(b.rows(), b.keys(), first, last, dtype);
    if (const auto at = masks_.find(key); at != masks_.end() && is_there(at->second))
      return at->second.first;
    const TensorId places = numbers("key_places" + of, {1, b.keys()}, 0);
    TensorId seen = kNoTensor;
    const auto compare = [&](std::string_view op_type, const std::string& what, int64_t from) {
      const TensorId row = numbers(what + "_places" + of, {b.rows(), 1}, from);
      const TensorId is = nodes_.add_node(op_type, what + of, {places, row});
      seen = seen == kNoTensor ? is : nodes_.add_node(op::kAnd, "seen" + of, {seen, is});
    };
    if (w.behind) compare(op::kLessOrEqual, "last", last);
    if (w.before) compare(op::kGreaterOrEqual, "first", first);
    if (dtype != DType::boolean) {
      const TensorId zero = nodes_.add_real("seen_zero" + of, dtype, 0);
      const TensorId least = nodes_.add_real("unseen" + of, dtype, -kInfinity);
      seen = nodes_.add_node(op::kWhere, "seen_mask" + of, {seen, zero, least});
    }
    if (nodes_.errors().empty())
      masks_.insert_or_assign(key, std::pair(seen, nodes_.tensor(seen).name));
    return seen;
  }
  /// `first` and the numbers behind it.
  TensorId numbers(const std::string& what, const Dims& to, int64_t first) {
    std::vector<int64_t> values(static_cast<size_t>(elements(to)));
    std::iota(values.begin(), values.end(), first);
    return nodes_.add_integers(what, to, std::move(values));
  }
  bool is_there(const std::pair<TensorId, std::string>& mask) const {
    return nodes_.has_tensor(mask.first) && nodes_.tensor(mask.first).name == mask.second;
  }

  /// exp(sink) more in the softmax's sum: what is attended to, times sum / (sum + exp(sink)), which
  /// is the sigmoid of log(sum) - sink.
  TensorId beside_sinks(TensorId attended, TensorId scores, const std::string& of, int output) {
    const TensorId sum = nodes_.add_node(op::kReduceLogSumExp, "logarithm" + of, {scores},
                                         {{"axes", "", std::vector<int64_t>{-1}}});
    const TensorId sinks = nodes_.add_reshape("sinks" + of, a_.sinks, {1, heads(), 1, 1});
    const TensorId less = nodes_.add_node(op::kSub, "beside_sinks" + of, {sum, sinks});
    const TensorId part = nodes_.add_node(op::kSigmoid, "part" + of, {less});
    return nodes_.add_node(op::kMul, "attended_part" + of, {attended, part}, {}, output);
  }

  const AttentionTensors& a_;
  AddedNodes& nodes_;
  SharedMasks& masks_;
  const Dims q_dims_, k_dims_;
  const int64_t v_size_;
};

}  // namespace

int64_t rows_of_block(int64_t queries, const KeyWindow& w) {
  if (w.sees_all()) return queries;
  const auto whole = [](int64_t rows) { return ceil_div(rows, kBlockRows) * kBlockRows; };
  const int64_t causal = whole(ceil_div(queries, kCausalBlocks));
  if (!w.before || !w.behind) return causal;
  // Half a window: a third of a block's scores is for nothing, and its keys are loaded for enough.
  const int64_t rows = std::max(whole(ceil_div(*w.before + *w.behind + 1, 2)),
                                whole(ceil_div(queries, kMostBlocks)));
  return std::min(causal, rows);
}

TensorId add_attention(const AttentionTensors& a, AddedNodes& nodes, SharedMasks& masks,
                       int output) {
  return Attention(a, nodes, masks).add_nodes(output);
}

}  // namespace accsim::sim
