#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/attention.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/matmul.h"

namespace accsim::sim::ref {
namespace {

/// What com.microsoft's attentions add to the scores: a bias that broadcasts, padded keys,
/// causality.
struct ScoreBias {
  std::vector<double> bias, padding;  ///< padding: 0 where a key is left out
  Strides strides;
  Strides padding_strides;  ///< of batch, query and key
  int64_t padding_start = 0;
  double filter = -10000;
  int64_t past = 0;
  bool causal = false;

  double operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    if (!bias.empty())
      sum += bias[static_cast<size_t>(b * strides[0] + h * strides[1] + i * strides[2] +
                                      j * strides[3])];
    if (!padding.empty() &&
        padding[static_cast<size_t>(padding_start + b * padding_strides[0] +
                                    i * padding_strides[1] + j * padding_strides[2])] == 0)
      sum += filter;
    if (causal && j > i + past) sum += std::min(filter, -1e9);
    return sum;
  }
};

/// A mask of batch x keys from where each entry's keys end and, behind these, where they begin.
std::vector<double> mask_between(const std::vector<int64_t>& ends, int64_t batch, int64_t keys) {
  std::vector<double> mask;
  for (int64_t b = 0; b < batch; ++b) {
    const auto n = static_cast<size_t>(b);
    const bool begins = std::ssize(ends) > batch;
    const int64_t first = begins ? ends[n + static_cast<size_t>(batch)] : 0;
    for (int64_t j = 0; j < keys; ++j) mask.push_back(j >= first && j < ends[n] ? 1 : 0);
  }
  return mask;
}

Result<ScoreBias> score_bias(const KernelContext& step, const AttentionTask& t, size_t bias,
                             size_t padding) {
  ScoreBias out;
  out.filter = real_attr(step, "mask_filter_value", -10000);
  out.past = t.total - t.q_len;
  out.causal = int_attr(step, "unidirectional", 0) != 0;
  if (step.has_input(bias)) {
    const Dims wanted{t.batch, t.q_heads, t.q_len, t.total};
    if (broadcast_dims(step.dims(bias), wanted) != wanted)
      return bad_node(step, "the attention bias doesn't broadcast to the scores");
    out.bias = step.reals(bias);
    out.strides = broadcast_strides(step.dims(bias), wanted);
  }
  if (step.has_input(padding)) {
    const Dims& dims = step.dims(padding);
    const bool ends = dims == Dims{t.batch} || dims == Dims{2 * t.batch};
    // A square of all positions, of which the queries' are the last of the total.
    const bool square =
        dims.size() == 4 && dims[3] >= t.total && dims == Dims{t.batch, 1, dims[3], dims[3]};
    out.padding_strides = {t.total, 0, 1};
    if (dims == Dims{t.batch, t.q_len, t.total}) {
      out.padding_strides = {t.q_len * t.total, t.total, 1};
    } else if (square) {
      out.padding_strides = {dims[3] * dims[3], dims[3], 1};
      out.padding_start = out.past * dims[3];
    } else if (!ends && dims != Dims{t.batch, t.total}) {
      return refuse(step,
                    "masks other than batch x keys, batch x queries x keys, batch x 1 x most x "
                    "most and ends of keys aren't computed");
    }
    out.padding =
        ends ? mask_between(step.integers(padding), t.batch, t.total) : step.reals(padding);
  }
  return out;
}

/// Keys or values in either layout as batch x heads x length x size, with the projection's bias.
std::vector<double> keys_of(const KernelContext& step, size_t i, int64_t heads,
                            const double* bias) {
  const Dims& d = step.dims(i);
  std::vector<double> x = step.reals(i);
  if (d.size() == 4) return x;
  if (bias != nullptr)
    for (size_t n = 0; n < x.size(); ++n) x[n] += bias[n % static_cast<size_t>(d[2])];
  return split_heads(x, d[0], d[1], heads);
}

/// Inputs of MultiHeadAttention and its kin behind query, key and value.
struct MultiHeadPorts {
  size_t bias, padding, scores_bias, past_key, past_value;
};

/// Keys or values that are there already: all of input i, or the first `length` rows of a buffer.
std::vector<double> past_of(const KernelContext& step, size_t i, std::optional<int64_t> length) {
  std::vector<double> all = step.reals(i);
  if (!length || all.empty()) return all;
  const Dims& d = step.dims(i);
  std::vector<double> out;
  for (int64_t row = 0; row < d[0] * d[1]; ++row) {
    const auto from = all.begin() + row * d[2] * d[3];
    out.insert(out.end(), from, from + *length * d[3]);
  }
  return out;
}

/// A buffer of `length` rows a head that begins with `rows` and goes on as input i.
std::vector<double> present_of(const KernelContext& step, size_t i, std::optional<int64_t> length,
                               std::vector<double> rows, int64_t heads) {
  if (!length || !step.has_input(i)) return rows;
  std::vector<double> out = step.reals(i);
  const auto each = std::ssize(rows) / heads, room = std::ssize(out) / heads;
  for (int64_t h = 0; h < heads; ++h)
    std::copy_n(rows.begin() + h * each, each, out.begin() + h * room);
  return out;
}

/// `past`: rows that the past has, where it is a buffer with room for more.
Status attend_heads(KernelContext& step, const MultiHeadPorts& ports, std::optional<int64_t> past) {
  const Dims &q = step.dims(0), &k = step.dims(1), &v = step.dims(2);
  AttentionTask t;
  t.batch = q[0];
  t.q_heads = t.kv_heads = int_attr(step, "num_heads", 1);
  t.q_len = q[1];
  t.head = q[2] / t.q_heads;
  t.v_head = v.size() == 4 ? v[3] : v[2] / t.q_heads;
  const std::vector<double> bias = step.reals(ports.bias);
  const auto at = [&](int64_t offset) { return bias.empty() ? nullptr : bias.data() + offset; };
  if (!bias.empty() && static_cast<int64_t>(bias.size()) != 2 * q[2] + t.v_head * t.q_heads)
    return bad_node(step, "the bias must be one of queries, keys and values together");
  const std::vector<double> queries = keys_of(step, 0, t.q_heads, at(0));
  const int64_t rows = t.batch * t.q_heads;
  const auto keys = append_length(past_of(step, ports.past_key, past),
                                  keys_of(step, 1, t.q_heads, at(q[2])), rows);
  const auto values = append_length(past_of(step, ports.past_value, past),
                                    keys_of(step, 2, t.q_heads, at(2 * q[2])), rows);
  const bool behind = step.has_input(ports.past_key);
  t.total = k[k.size() == 4 ? 2 : 1] + (behind ? past.value_or(step.dims(ports.past_key)[2]) : 0);
  if (static_cast<int64_t>(values.size()) != rows * t.total * t.v_head)
    return bad_node(step, "past keys and values go together");
  t.q = queries.data();
  t.k = keys.data();
  t.v = values.data();
  const double scale = real_attr(step, "scale", 0);
  t.scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(t.head)) : scale;
  Result<ScoreBias> added = score_bias(step, t, ports.scores_bias, ports.padding);
  if (!added) return added.errors();
  t.bias = std::move(*added);
  if (step.output_count() > 3 && step.has_output(3)) t.keep = AttentionTask::Keep::scores;
  const AttentionResult result = compute_attention(step.state(), t);
  step.put_output(0, join_heads(result.out, t.batch, t.q_heads, t.q_len));
  if (step.output_count() > 1)
    step.put_output(1, present_of(step, ports.past_key, past, keys, rows));
  if (step.output_count() > 2)
    step.put_output(2, present_of(step, ports.past_value, past, values, rows));
  if (t.keep != AttentionTask::Keep::none) step.put_output(3, result.kept);
  return ok();
}

Status multi_head(KernelContext& step) {
  if (!step.has_input(1) || step.rank(0) != 3 || step.rank(1) == 5)
    return refuse(step, "packed queries, keys and values aren't computed");
  for (size_t i = 8; i < step.input_count(); ++i)
    if (step.has_input(i)) return refuse(step, "a shared cache isn't computed");
  return attend_heads(step, {3, 4, 5, 6, 7}, std::nullopt);
}

/// DecoderMaskedMultiHeadAttention: of the buffers of a past the rows that input 7 says.
Status decoder_multi_head(KernelContext& step) {
  constexpr size_t kPastKey = 5, kPastValue = 6, kPastLength = 7, kCacheIndirection = 9;
  if (!step.has_input(1) || step.rank(0) != 3 || step.rank(1) == 5)
    return refuse(step, "packed queries, keys and values aren't computed");
  if (step.has_input(kCacheIndirection))
    return refuse(step, "beams that share a cache aren't computed");
  if (step.has_input(3) && step.output_count() > 3 && step.has_output(3))
    return refuse(step, "scores as an output");
  std::optional<int64_t> past;
  if (int_attr(step, "past_present_share_buffer", 0) != 0 && step.has_input(kPastKey)) {
    const std::vector<int64_t> length = step.integers(kPastLength);
    const int64_t room = std::min(step.dims(kPastKey)[2], step.dims(kPastValue)[2]);
    if (length.size() != 1 || length[0] < 0 || length[0] + step.dims(1)[1] > room)
      return bad_node(step, "past_sequence_length doesn't go with the past and the new keys");
    past = length[0];
  }
  return attend_heads(step, {10, 3, 4, kPastKey, kPastValue}, past);
}

/// Inputs of an attention behind a projection.
struct ProjectedPorts {
  size_t bias, mask, past;
};

/// Keys (0) or values (1) of a past of 2 x batch x heads x length x size; {} without one.
std::vector<double> past_half(const KernelContext& step, size_t past, int64_t half) {
  const std::vector<double> both = step.reals(past);
  const auto middle = static_cast<ptrdiff_t>(both.size() / 2);
  return {both.begin() + half * middle, both.begin() + (half + 1) * middle};
}

/// Attention behind a projection: `all` has queries, keys and values of `sizes` columns beside one
/// another.
Status attend_projected(KernelContext& step, const std::vector<double>& all,
                        const std::vector<int64_t>& sizes, const ProjectedPorts& ports) {
  const Dims& x = step.dims(0);
  const int64_t columns = sizes[0] + sizes[1] + sizes[2];
  AttentionTask t;
  t.batch = x[0];
  t.q_heads = t.kv_heads = int_attr(step, "num_heads", 1);
  t.q_len = x[1];
  t.total = x[1] + (step.has_input(ports.past) ? step.dims(ports.past)[3] : 0);
  t.head = sizes[0] / t.q_heads;
  t.v_head = sizes[2] / t.q_heads;
  if (t.head != t.v_head && (step.has_output(1) || step.has_input(ports.past)))
    return refuse(step, "keys and values of two sizes have no common past or present");
  const auto part = [&](int64_t from, int64_t size) {
    std::vector<double> out;
    for (int64_t r = 0; r < x[0] * x[1]; ++r)
      out.insert(out.end(), all.begin() + r * columns + from,
                 all.begin() + r * columns + from + size);
    return split_heads(out, t.batch, t.q_len, t.q_heads);
  };
  const int64_t rows = t.batch * t.q_heads;
  const std::vector<double> q = part(0, sizes[0]);
  const auto k = append_length(past_half(step, ports.past, 0), part(sizes[0], sizes[1]), rows);
  const auto v =
      append_length(past_half(step, ports.past, 1), part(sizes[0] + sizes[1], sizes[2]), rows);
  t.q = q.data();
  t.k = k.data();
  t.v = v.data();
  const double scale = real_attr(step, "scale", 0);
  t.scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(t.head)) : scale;
  Result<ScoreBias> added = score_bias(step, t, ports.bias, ports.mask);
  if (!added) return added.errors();
  t.bias = std::move(*added);
  step.put_output(0,
                  join_heads(compute_attention(step.state(), t).out, t.batch, t.q_heads, t.q_len));
  if (step.output_count() > 1 && step.has_output(1)) {  // keys, then values
    std::vector<double> present = k;
    present.insert(present.end(), v.begin(), v.end());
    step.put_output(1, present);
  }
  return ok();
}

/// The product of the input's rows and the weights, these numbers.
std::vector<double> project_input(KernelContext& step, const std::vector<double>& in,
                                  const std::vector<double>& weights) {
  const Dims &x = step.dims(0), &w = step.dims(1);
  std::vector<double> all(static_cast<size_t>(x[0] * x[1] * w[1]));
  if (!all.empty())
    multiply(step.pool(), {x[0] * x[1], x[2], w[1], false, false}, in.data(), weights.data(),
             all.data());
  return all;
}

/// What isn't computed of Attention and QAttention.
Status check_projected(KernelContext& step) {
  if (int_attr(step, "do_rotary", 0) != 0) return refuse(step, "a rotation isn't computed");
  if (int_attr(step, "past_present_share_buffer", 0) != 0)
    return refuse(step, "a past and a present in one buffer aren't computed");
  return ok();
}

/// Projection of the input to queries, keys and values, then attention.
Status projected_attention(KernelContext& step) {
  if (Status s = check_projected(step); !s) return s;
  const auto sizes = step.attr("qkv_hidden_sizes", std::vector<int64_t>(3, step.dims(1)[1] / 3));
  if (!step.has_output(0)) return ok();
  const std::vector<double> bias = step.reals(2);
  std::vector<double> all = project_input(step, step.reals(0), step.reals(1));
  if (all.empty()) return ok();
  for (size_t i = 0; i < all.size() && !bias.empty(); ++i) all[i] += bias[i % bias.size()];
  return attend_projected(step, all, sizes, {.bias = 5, .mask = 3, .past = 4});
}

/// The same, projected in integers: inputs x, weights, bias of floats, scales of x and of the
/// weights (one, or one a column), mask, zero points of both, past.
Status quantised_attention(KernelContext& step) {
  if (Status s = check_projected(step); !s) return s;
  const int64_t columns = step.dims(1)[1];
  std::vector<double> in = step.reals(0), weights = step.reals(1);
  subtract_zero(weights, step.dims(1), step.reals(7), false);
  for (double& v : in) v -= step.real_or(6, 0);
  std::vector<double> all = project_input(step, in, weights);
  const std::vector<double> scale = step.reals(4), bias = step.reals(2);
  if (all.empty()) return ok();
  if (scale.empty()) return bad_node(step, "the weights' scale is empty");
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t column = i % static_cast<size_t>(columns);
    all[i] = all[i] * step.real_or(3, 1) * scale[column % scale.size()] + bias[column];
  }
  return attend_projected(step, all, std::vector<int64_t>(3, columns / 3),
                          {.bias = step.input_count(), .mask = 5, .past = 8});
}

constexpr KernelRow kContribAttentionKernels[] = {
    {"Attention", projected_attention, kMicrosoft},
    {"DecoderMaskedMultiHeadAttention", decoder_multi_head, kMicrosoft},
    {"MultiHeadAttention", multi_head, kMicrosoft},
    {"QAttention", quantised_attention, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> contrib_attention_kernels() { return kContribAttentionKernels; }

}  // namespace accsim::sim::ref
