#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/operators/contrib/attention_parts.h"
#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/attention.h"
#include "sim/ref/cache_format.h"

namespace accsim::sim::ref {
namespace {

/// A present cache: of every batch entry the first past[b] rows of the old one, then the new ones.
std::vector<double> present_cache(const AttentionTask& t, const std::vector<int64_t>& past,
                                  const std::vector<double>& old,
                                  const std::vector<double>& fresh) {
  const int64_t rows = t.batch * t.kv_heads;
  std::vector<double> out(static_cast<size_t>(rows * t.total * t.head), 0);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t used = past[static_cast<size_t>(row / t.kv_heads)] * t.head;
    const auto to = out.begin() + row * t.total * t.head;
    const auto old_row = static_cast<int64_t>(old.size()) / rows;
    if (!old.empty()) std::copy_n(old.begin() + row * old_row, used, to);
    std::copy_n(fresh.begin() + row * t.q_len * t.head, t.q_len * t.head, to + used);
  }
  return out;
}

/// Of the cache of keys or values: the attribute, and the input that has the scales.
Result<CacheFormat> cache_format(const KernelContext& step, const AttentionTask& t,
                                 std::string_view kind, size_t scales) {
  const std::string how = step.attr(kind, "NONE");
  const bool each = how == "PER_CHANNEL";
  if (how == "NONE" && !step.has_input(scales)) return CacheFormat();
  const int64_t bits = int_attr(step, "kv_cache_bit_width", 8);
  if ((how != "PER_TENSOR" && !each) || (bits != 8 && bits != 4))
    return bad_node(step, fmt::format("{} '{}' of {} bits isn't known", kind, how, bits));
  std::vector<double> all = step.reals(scales);
  if (std::ssize(all) != (each ? t.kv_heads * t.head : 1))
    return bad_node(step, fmt::format("input {} must have the cache's scales", scales));
  return CacheFormat(bits, t.head, std::move(all));
}

/// Does the cache keep the last tokens only?
bool slides(const KernelContext& step) {
  return int_attr(step, "sliding_window_cache", 0) != 0 && step.has_input(3);
}

/// What isn't computed of GroupQueryAttention.
Status check_group_query(KernelContext& step) {
  if (step.has_input(3) != step.has_input(4) || (step.has_input(3) && step.dims(3) != step.dims(4)))
    return bad_node(step, "past_key and past_value must be of one shape");
  if (slides(step) && step.has_input(10))
    return refuse(step, "a bias on a cache of a window's size isn't computed");
  if (step.has_input(1) && step.dims(1)[1] != step.dims(0)[1])
    return refuse(step, "keys of another length aren't computed");
  if (step.has_input(14) != step.has_input(15))
    return bad_node(step, "q_norm_weight and k_norm_weight go together");
  return ok();
}

/// Queries, keys and values of the new tokens, each batch x heads x length x size.
struct FreshRows {
  std::vector<double> q, k, v;
};

FreshRows fresh_rows(const KernelContext& step, const AttentionTask& t) {
  if (step.has_input(1))
    return {split_heads(step.reals(0), t.batch, t.q_len, t.q_heads),
            split_heads(step.reals(1), t.batch, t.q_len, t.kv_heads),
            split_heads(step.reals(2), t.batch, t.q_len, t.kv_heads)};
  // Heads of all three lie beside one another.
  const int64_t heads = t.q_heads + 2 * t.kv_heads, each = t.q_len * t.head;
  const std::vector<double> all = split_heads(step.reals(0), t.batch, t.q_len, heads);
  FreshRows out;
  for (int64_t b = 0; b < t.batch; ++b) {
    auto from = all.begin() + b * heads * each;
    for (auto& [to, count] : {std::pair(&out.q, t.q_heads), std::pair(&out.k, t.kv_heads),
                              std::pair(&out.v, t.kv_heads)}) {
      to->insert(to->end(), from, from + count * each);
      from += count * each;
    }
  }
  return out;
}

/// Divides each row of `size` by its root mean square, then multiplies it with the weights.
Status normalise_rows(KernelContext& step, size_t weights, int64_t size, std::vector<double>& on) {
  const std::vector<double> gain = step.reals(weights);
  const double epsilon = real_attr(step, "qk_norm_epsilon", 1e-6);
  if (static_cast<int64_t>(gain.size()) != size)
    return bad_node(step, fmt::format("input {} must have {} elements", weights, size));
  for (size_t row = 0; row < on.size(); row += gain.size()) {
    double square = 0;
    for (size_t i = 0; i < gain.size(); ++i) square += on[row + i] * on[row + i];
    const double factor = 1 / std::sqrt(square / static_cast<double>(size) + epsilon);
    for (size_t i = 0; i < gain.size(); ++i) on[row + i] *= factor * gain[i];
  }
  return ok();
}

/// Rows of each batch entry's cache that stay, by seqlens_k and the total length; sets t.total. A
/// first prompt may be padded at its end.
Result<std::vector<int64_t>> past_rows(KernelContext& step, AttentionTask& t) {
  const std::vector<int64_t> last = step.integers(5), totals = step.integers(6);
  if (static_cast<int64_t>(last.size()) != t.batch || totals.size() != 1)
    return bad_node(step, "seqlens_k must be one a batch entry");
  const int64_t total = totals[0];
  // What a sliding cache has dropped was there, too.
  const int64_t past_length = slides(step)        ? std::max<int64_t>(0, total - t.q_len)
                              : step.has_input(3) ? step.dims(3)[2]
                                                  : 0;
  if (total < 0 || total > past_length + t.q_len)
    return bad_node(step, fmt::format("total_sequence_length is {} for a past of {} and {} tokens",
                                      total, past_length, t.q_len));
  t.total = std::max(past_length, total);
  std::vector<int64_t> past;
  for (const int64_t l : last) {
    const bool in_range = l >= 0 && l < t.total;
    past.push_back(t.q_len == total || !in_range ? 0 : l + 1 - t.q_len);
    if (!in_range || past.back() < 0 || past.back() > past_length ||
        past.back() + t.q_len > t.total)
      return bad_node(step, "seqlens_k doesn't go with the past and the queries");
  }
  return past;
}

/// The same of a cache that keeps the last tokens (tokens_kept()); `before` are all those that came
/// before the new ones.
std::vector<int64_t> kept_rows(const KernelContext& step, AttentionTask& t,
                               const std::vector<int64_t>& before) {
  const int64_t room = step.dims(3)[2], window = int_attr(step, "local_window_size", 0);
  t.total = room;
  std::vector<int64_t> kept;
  for (const int64_t tokens : before) {
    kept.push_back(tokens_kept(tokens, room, window));
    t.total = std::max(t.total, kept.back() + t.q_len);
  }
  return kept;
}

/// A cache of `room` rows after the step: of each batch entry's keys or values, which begin with so
/// many from before, those that it keeps, and what else was there.
std::vector<double> slid_cache(const KernelContext& step, const AttentionTask& t,
                               const std::vector<int64_t>& before, const std::vector<int64_t>& kept,
                               const std::vector<double>& all, std::vector<double> cache) {
  const int64_t room = step.dims(3)[2], window = int_attr(step, "local_window_size", 0);
  for (int64_t b = 0; b < t.batch; ++b) {
    const int64_t tokens = before[static_cast<size_t>(b)] + t.q_len;
    const int64_t last = tokens_kept(tokens, room, window);
    const int64_t gone = kept[static_cast<size_t>(b)] + t.q_len - last;
    for (int64_t h = b * t.kv_heads; h < (b + 1) * t.kv_heads; ++h) {
      const auto from = all.begin() + (h * t.total + gone) * t.head;
      std::copy(from, from + last * t.head, cache.begin() + h * room * t.head);
    }
  }
  return cache;
}

/// The position of every new token, batch x length: as input 9 says, of a first prompt from its
/// first number on; without that input behind the past.
Result<std::vector<int64_t>> positions_of(KernelContext& step, const AttentionTask& t,
                                          const std::vector<int64_t>& past) {
  const std::vector<int64_t> given = step.integers(9);
  const bool first_prompt = t.q_len == step.integers(6)[0];
  const int64_t tokens = t.batch * t.q_len;
  if (!given.empty() && !first_prompt && static_cast<int64_t>(given.size()) != tokens)
    return bad_node(step, fmt::format("position_ids must be {} elements", tokens));
  std::vector<int64_t> out;
  for (int64_t n = 0; n < tokens; ++n) {
    const int64_t place = n % t.q_len;
    if (given.empty())
      out.push_back(past[static_cast<size_t>(n / t.q_len)] + place);
    else
      out.push_back(first_prompt ? given[0] + place : given[static_cast<size_t>(n)]);
  }
  return out;
}

/// Turns the rows of queries and keys by the cached angles of their positions.
Status rotate_rows(KernelContext& step, const AttentionTask& t,
                   const std::vector<int64_t>& positions, FreshRows& rows) {
  const std::vector<double> cos = step.reals(7), sin = step.reals(8);
  if (cos.empty() || sin.size() != cos.size() || step.rank(7) != 2)
    return bad_node(step, "the angle caches are missing");
  const int64_t half = step.dims(7).back();
  const bool interleaved = int_attr(step, "rotary_interleaved", 0) != 0;
  const auto turn = [&](std::vector<double>& on, int64_t heads) {
    for (int64_t r = 0; r < t.batch * heads * t.q_len; ++r) {
      const int64_t token = r / (heads * t.q_len) * t.q_len + r % t.q_len;
      const int64_t at = positions[static_cast<size_t>(token)];
      if (at < 0 || at >= step.dims(7)[0] || 2 * half > t.head) return false;
      rotate_head(on.data() + r * t.head, cos.data() + at * half, sin.data() + at * half, half,
                  interleaved);
    }
    return true;
  };
  if (!turn(rows.q, t.q_heads) || !turn(rows.k, t.kv_heads))
    return bad_node(step, "a position is outside the angle caches");
  return ok();
}

/// Norms and rotation of queries and keys.
Status prepare_rows(KernelContext& step, const AttentionTask& t, const std::vector<int64_t>& past,
                    FreshRows& rows) {
  if (step.has_input(14)) {
    if (Status s = normalise_rows(step, 14, t.head, rows.q); !s) return s;
    if (Status s = normalise_rows(step, 15, t.head, rows.k); !s) return s;
  }
  if (int_attr(step, "do_rotary", 0) == 0) return ok();
  const Result<std::vector<int64_t>> positions = positions_of(step, t, past);
  if (!positions) return positions.errors();
  return rotate_rows(step, t, *positions, rows);
}

/// What GroupQueryAttention adds to the scores: a bias that broadcasts, and nothing of keys behind
/// the query's own or before its window.
class GroupQueryBias {
 public:
  static Result<GroupQueryBias> of_step(const KernelContext& step, const AttentionTask& t,
                                        std::vector<int64_t> past) {
    GroupQueryBias out;
    out.past_ = std::move(past);
    out.window_ = int_attr(step, "local_window_size", -1);
    out.causal_ = int_attr(step, "causal", 1) != 0;
    if (!step.has_input(10)) return out;
    Dims wanted{t.batch, t.q_heads, t.q_len, step.rank(10) == 4 ? step.dims(10)[3] : 0};
    if (wanted[3] < step.integers(6)[0] || broadcast_dims(step.dims(10), wanted) != wanted)
      return bad_node(step, "the attention bias doesn't broadcast to the scores");
    out.keys_ = wanted[3];
    out.strides_ = broadcast_strides(step.dims(10), wanted);
    out.bias_ = step.reals(10);
    return out;
  }
  double operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const int64_t own = i + past_[static_cast<size_t>(b)];
    if (causal_ && j > own) return -kInf;
    if (window_ > 0 && j <= own - window_) return -kInf;
    if (bias_.empty() || j >= keys_) return 0;
    return bias_[static_cast<size_t>(b * strides_[0] + h * strides_[1] + i * strides_[2] +
                                     j * strides_[3])];
  }

 private:
  std::vector<int64_t> past_;
  std::vector<double> bias_;
  Strides strides_;
  int64_t window_ = -1, keys_ = 0;
  bool causal_ = true;
};

Status group_query(KernelContext& step) {
  if (Status s = check_group_query(step); !s) return s;
  const Dims& x = step.dims(0);
  AttentionTask t;
  t.batch = x[0];
  t.q_len = x[1];
  t.q_heads = int_attr(step, "num_heads", 1);
  t.kv_heads = int_attr(step, "kv_num_heads", 1);
  t.head = t.v_head = x[2] / (step.has_input(1) ? t.q_heads : t.q_heads + 2 * t.kv_heads);
  const Result<std::vector<int64_t>> before = past_rows(step, t);
  if (!before) return before.errors();
  const std::vector<int64_t> past = slides(step) ? kept_rows(step, t, *before) : *before;
  FreshRows rows = fresh_rows(step, t);
  if (Status s = prepare_rows(step, t, *before, rows); !s) return s;
  const Result<CacheFormat> k_format = cache_format(step, t, "k_quant_type", 12),
                            v_format = cache_format(step, t, "v_quant_type", 13);
  if (!k_format) return k_format.errors();
  if (!v_format) return v_format.errors();
  k_format->quantise_numbers(t.q_len, rows.k);
  v_format->quantise_numbers(t.q_len, rows.v);
  const std::vector<double> keys = present_cache(t, past, k_format->unpack_numbers(step.reals(3)),
                                                 rows.k),
                            values = present_cache(t, past, v_format->unpack_numbers(step.reals(4)),
                                                   rows.v),
                            real_keys = k_format->real_numbers(t.total, keys),
                            real_values = v_format->real_numbers(t.total, values);
  t.q = rows.q.data();
  t.k = real_keys.data();
  t.v = real_values.data();
  const double scale = real_attr(step, "scale", 0);
  t.scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(t.head)) : scale;
  t.softcap = real_attr(step, "softcap", 0);
  t.sinks = step.reals(11);
  if (t.sinks.empty() && int_attr(step, "smooth_softmax", 0) != 0)
    t.sinks.assign(static_cast<size_t>(t.q_heads), 0);
  if (!t.sinks.empty() && static_cast<int64_t>(t.sinks.size()) != t.q_heads)
    return bad_node(step, fmt::format("head_sink must have {} elements", t.q_heads));
  Result<GroupQueryBias> bias = GroupQueryBias::of_step(step, t, past);
  if (!bias) return bias.errors();
  t.bias = std::move(*bias);
  step.put_output(0,
                  join_heads(compute_attention(step.state(), t).out, t.batch, t.q_heads, t.q_len));
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (i >= step.output_count() || !step.has_output(i)) continue;
    const CacheFormat& format = i == 1 ? *k_format : *v_format;
    std::vector<double> all = i == 1 ? keys : values;
    if (slides(step))
      all = slid_cache(step, t, *before, past, all, format.unpack_numbers(step.reals(i + 2)));
    else if (step.out_dims(i)[2] != t.total)
      return refuse(step, "the present cache isn't as long as the total length");
    step.put_output(i, format.pack_numbers(all));
  }
  if (step.output_count() > 3 && step.has_output(3)) return refuse(step, "scores as an output");
  return ok();
}

constexpr KernelRow kGroupQueryKernels[] = {
    {"GroupQueryAttention", group_query, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> group_query_kernels() { return kGroupQueryKernels; }

}  // namespace accsim::sim::ref
