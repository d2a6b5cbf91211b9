#include "sim/ref/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

/// softmax_row() of a row and one score more, which isn't kept.
void softmax_with_sink(double* row, int64_t length, double sink) {
  std::vector<double> all(row, row + length);
  all.push_back(sink);
  softmax_row(all.data(), length + 1);
  std::copy_n(all.begin(), length, row);
}

/// The scores of one head on their way to the softmax. Each stage is kept when it is asked for. A
/// query to which the bias leaves no key gets zeros.
void finish_scores(const AttentionTask& t, int64_t b, int64_t h, double* scores, double* kept) {
  using Keep = AttentionTask::Keep;
  const int64_t count = t.q_len * t.total;
  const auto keep = [&](Keep stage) {
    if (t.keep == stage) std::copy_n(scores, count, kept);
  };
  for (int64_t n = 0; n < count; ++n) scores[n] *= t.scale;
  keep(Keep::scores);
  if (t.softcap > 0)
    for (int64_t n = 0; n < count; ++n) scores[n] = t.softcap * std::tanh(scores[n] / t.softcap);
  keep(Keep::capped);
  std::vector<bool> sees(static_cast<size_t>(t.q_len), !t.bias);
  if (t.bias)
    for (int64_t i = 0; i < t.q_len; ++i)
      for (int64_t j = 0; j < t.total; ++j) {
        const double added = t.bias(b, h, i, j);
        scores[i * t.total + j] += added;
        if (added != -std::numeric_limits<double>::infinity()) sees[static_cast<size_t>(i)] = true;
      }
  keep(Keep::biased);
  for (int64_t i = 0; i < t.q_len; ++i) {
    if (sees[static_cast<size_t>(i)] && t.sinks.empty())
      softmax_row(scores + i * t.total, t.total);
    else if (sees[static_cast<size_t>(i)])
      softmax_with_sink(scores + i * t.total, t.total, t.sinks[static_cast<size_t>(h)]);
    else
      std::fill_n(scores + i * t.total, t.total, 0.0);
  }
  keep(Keep::softmax);
}

}  // namespace

AttentionResult compute_attention(RunState& state, const AttentionTask& t) {
  ThreadPool& pool = state.pool;
  constexpr int64_t kBytes = sizeof(double);
  const int64_t heads = t.batch * t.q_heads, per_head = t.q_len * t.total;
  AttentionResult result;
  const bool keeps = t.keep != AttentionTask::Keep::none;
  const Held results(state.memory, kBytes * heads * (t.q_len * t.v_head + (keeps ? per_head : 0)));
  result.out.resize(static_cast<size_t>(heads * t.q_len * t.v_head));
  if (keeps) result.kept.resize(static_cast<size_t>(heads * per_head));
  pool.parallel_for(heads, 1, [&](int64_t begin, int64_t end) {
    const Held held(state.memory, kBytes * per_head);
    std::vector<double> scores(static_cast<size_t>(per_head));
    for (int64_t n = begin; n < end; ++n) {
      const int64_t b = n / t.q_heads, h = n % t.q_heads;
      const int64_t shared = b * t.kv_heads + h / (t.q_heads / t.kv_heads);
      multiply(pool, {t.q_len, t.head, t.total, false, true}, t.q + n * t.q_len * t.head,
               t.k + shared * t.total * t.head, scores.data());
      finish_scores(t, b, h, scores.data(),
                    result.kept.empty() ? nullptr : result.kept.data() + n * per_head);
      multiply(pool, {t.q_len, t.total, t.v_head, false, false}, scores.data(),
               t.v + shared * t.total * t.v_head, result.out.data() + n * t.q_len * t.v_head);
    }
  });
  return result;
}

namespace {

/// [b][n][m][rest] to [b][m][n][rest].
std::vector<double> swap_middle(const std::vector<double>& x, int64_t b, int64_t n, int64_t m) {
  std::vector<double> out(x.size());
  if (x.empty()) return out;
  const auto rest = static_cast<int64_t>(x.size()) / (b * n * m);
  for (int64_t i = 0; i < b; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < m; ++k)
        std::copy_n(x.begin() + ((i * n + j) * m + k) * rest, rest,
                    out.begin() + ((i * m + k) * n + j) * rest);
  return out;
}

}  // namespace

std::vector<double> split_heads(const std::vector<double>& x, int64_t batch, int64_t length,
                                int64_t heads) {
  return swap_middle(x, batch, length, heads);
}

std::vector<double> join_heads(const std::vector<double>& x, int64_t batch, int64_t heads,
                               int64_t length) {
  return swap_middle(x, batch, heads, length);
}

std::vector<double> append_length(const std::vector<double>& past, const std::vector<double>& fresh,
                                  int64_t rows) {
  if (past.empty() || rows == 0) return fresh;
  std::vector<double> out;
  const auto a = static_cast<ptrdiff_t>(past.size()) / rows;
  const auto b = static_cast<ptrdiff_t>(fresh.size()) / rows;
  for (int64_t r = 0; r < rows; ++r) {
    out.insert(out.end(), past.begin() + r * a, past.begin() + (r + 1) * a);
    out.insert(out.end(), fresh.begin() + r * b, fresh.begin() + (r + 1) * b);
  }
  return out;
}

void rotate_head(double* x, const double* cos, const double* sin, int64_t half, bool interleaved) {
  for (int64_t i = 0; i < half; ++i) {
    double& a = x[interleaved ? 2 * i : i];
    double& b = x[interleaved ? 2 * i + 1 : i + half];
    const double real = cos[i] * a - sin[i] * b;
    b = sin[i] * a + cos[i] * b;
    a = real;
  }
}

namespace {

/// Input i as batch x heads x length x size, and its extents.
struct Heads {
  std::vector<double> values;
  int64_t batch = 0, heads = 0, length = 0, size = 0;
};

Heads heads_of(const KernelContext& step, size_t i, const char* attr) {
  const Dims& d = step.dims(i);
  if (d.size() == 4) return {step.reals(i), d[0], d[1], d[2], d[3]};
  const int64_t heads = int_attr(step, attr, 1);
  return {split_heads(step.reals(i), d[0], d[1], heads), d[0], heads, d[1], d[2] / heads};
}

/// What opsets 23 to 25 add to the scores: mask, causality, the length of what isn't padding, and a
/// window around the query's own key.
class Bias {
 public:
  Bias(const KernelContext& step, const AttentionTask& t, int64_t past) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (step.has_input(3)) {
      mask_ = step.reals(3);
      if (step.dtype(3) == DType::boolean)
        for (double& v : mask_) v = v != 0 ? 0 : -kInf;
      const Dims& dims = step.dims(3);
      width_ = dims.empty() ? 1 : dims.back();
      strides_ = broadcast_strides(dims, {t.batch, t.q_heads, t.q_len, width_});
    }
    valid_ = step.integers(6);
    left_ = int_attr(step, "left_window_size", -1);
    right_ = int_attr(step, "right_window_size", -1);
    if (int_attr(step, "is_causal", 0) != 0) right_ = 0;
    past_ = past;
    // Without past keys the last query lines up with the last key that isn't padding.
    from_valid_ = !step.has_input(4) && !valid_.empty();
    q_len_ = t.q_len;
  }
  double operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const auto at = static_cast<size_t>(b);
    if (!valid_.empty() && j >= valid_[at]) return -kInf;
    const int64_t offset = from_valid_ ? valid_[at] - q_len_ : past_;
    if (right_ >= 0 && j - right_ > i + offset) return -kInf;
    if (left_ >= 0 && j < i + offset - left_) return -kInf;
    if (mask_.empty()) return 0;
    if (j >= width_) return -kInf;  // a shorter mask leaves the rest out
    return mask_[static_cast<size_t>(b * strides_[0] + h * strides_[1] + i * strides_[2] +
                                     j * strides_[3])];
  }

 private:
  std::vector<double> mask_;
  std::vector<int64_t> valid_;
  Strides strides_;
  int64_t width_ = 0, past_ = 0, q_len_ = 0;
  int64_t left_ = -1, right_ = -1;  ///< keys that a query sees before and behind its own; -1: all
  bool from_valid_ = false;
};

AttentionTask::Keep kept_stage(const KernelContext& step) {
  using Keep = AttentionTask::Keep;
  if (step.output_count() < 4 || !step.has_output(3)) return Keep::none;
  switch (int_attr(step, "qk_matmul_output_mode", 0)) {
    case 1:
      return Keep::capped;
    case 2:
      return Keep::biased;
    case 3:
      return Keep::softmax;
    default:
      return Keep::scores;
  }
}

Status onnx_attention(KernelContext& step) {
  for (const char* window : {"left_window_size", "right_window_size"})
    if (int_attr(step, window, -1) < -1)
      return bad_node(step, fmt::format("{} must be -1 or more", window));
  const Heads q = heads_of(step, 0, "q_num_heads"), k = heads_of(step, 1, "kv_num_heads"),
              v = heads_of(step, 2, "kv_num_heads");
  const int64_t rows = k.batch * k.heads, past = step.has_input(4) ? step.dims(4)[2] : 0;
  const std::vector<double> keys = append_length(step.reals(4), k.values, rows);
  const std::vector<double> values = append_length(step.reals(5), v.values, rows);
  AttentionTask t;
  t.batch = q.batch;
  t.q_heads = q.heads;
  t.kv_heads = k.heads;
  t.q_len = q.length;
  t.total = k.length + past;
  t.head = q.size;
  t.v_head = v.size;
  t.q = q.values.data();
  t.k = keys.data();
  t.v = values.data();
  t.scale = real_attr(step, "scale", 1 / std::sqrt(static_cast<double>(q.size)));
  t.softcap = real_attr(step, "softcap", 0);
  if (const int64_t mode = int_attr(step, "qk_matmul_output_mode", 0); mode < 0 || mode > 3)
    return bad_node(step, fmt::format("qk_matmul_output_mode is {}, not 0 to 3", mode));
  if (step.has_input(6) && step.has_input(4))
    return bad_node(step, "nonpad_kv_seqlen and past_key exclude each other");
  if (step.has_input(6) && step.dims(6) != Dims{t.batch})
    return bad_node(step, "nonpad_kv_seqlen must have one length per batch entry");
  t.bias = Bias(step, t, past);
  t.keep = kept_stage(step);
  const AttentionResult result = compute_attention(step.state(), t);
  if (step.has_output(0))
    step.put_output(
        0, step.rank(0) == 4 ? result.out : join_heads(result.out, t.batch, t.q_heads, t.q_len));
  if (step.output_count() > 1) step.put_output(1, keys);
  if (step.output_count() > 2) step.put_output(2, values);
  if (t.keep != AttentionTask::Keep::none) step.put_output(3, result.kept);
  return ok();
}

/// Caches and position ids of a rotation, wherever the operator has them.
struct RotaryPorts {
  size_t ids, cos, sin;
};

template <bool kMicrosoft>
Status rotary_embedding(KernelContext& step) {
  const RotaryPorts p = kMicrosoft ? RotaryPorts{1, 2, 3} : RotaryPorts{3, 1, 2};
  const Dims& x = step.dims(0);
  const bool interleaved = int_attr(step, "interleaved", 0) != 0;
  const int64_t half_cached = step.dims(p.cos).back();
  int64_t heads = int_attr(step, "num_heads", 0);
  if (x.size() == 4)
    heads = x[1];
  else if (heads == 0)
    heads = half_cached > 0 ? x[2] / (2 * half_cached) : 1;
  const int64_t length = x.size() == 4 ? x[2] : x[1];
  const int64_t size = x.size() == 4 ? x[3] : x[2] / std::max<int64_t>(heads, 1);
  int64_t dim = int_attr(step, "rotary_embedding_dim", 0);
  if (dim == 0) dim = size;
  const int64_t half = dim / 2;
  if (kMicrosoft &&
      (int_attr(step, "is_packed_batching", 0) != 0 || real_attr(step, "scale", 1) != 1))
    return refuse(step, "packed batches and scaled positions aren't computed");
  if (x.size() == 3 && heads > 0 && heads * size != x[2])
    return bad_node(step, fmt::format("{} heads don't divide {} elements", heads, x[2]));
  if (heads < 1 || dim < 0 || dim > size || half_cached < half ||
      step.input_array(p.sin).size() != step.input_array(p.cos).size())
    return bad_node(step,
                    fmt::format("caches of {} angles don't turn {} elements", half_cached, dim));
  const std::vector<double> cos = step.reals(p.cos), sin = step.reals(p.sin);
  const std::vector<int64_t> ids = step.integers(p.ids);
  const auto rows = static_cast<int64_t>(cos.size()) / std::max<int64_t>(half_cached, 1);
  std::vector<double> out = step.reals(0);
  for (int64_t b = 0; b < x[0]; ++b)
    for (int64_t t = 0; t < length; ++t) {
      int64_t row = b * length + t;  // caches may come with one row a token
      if (ids.size() == 1 && kMicrosoft)
        row = ids[0] < rows ? ids[0] + t : rows;
      else if (!ids.empty() && static_cast<size_t>(row) < ids.size())
        row = ids[static_cast<size_t>(row)];
      else if (!ids.empty())
        return bad_node(step, "position_ids must be one a token");
      if (row < 0 || row >= rows)
        return bad_node(step, fmt::format("position {} is outside a cache of {}", row, rows));
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t at =
            x.size() == 4 ? (b * heads + h) * length + t : (b * length + t) * heads + h;
        rotate_head(out.data() + at * size, cos.data() + row * half_cached,
                    sin.data() + row * half_cached, half, interleaved);
      }
    }
  return step.put_output(0, out), ok();
}

/// A matrix of key x value per head that every step decays, corrects, adds to and reads.
Status linear_attention(KernelContext& step) {
  const Dims &q_dims = step.dims(0), &v_dims = step.dims(2);
  const int64_t heads = int_attr(step, "q_num_heads", 1), kv = int_attr(step, "kv_num_heads", 1);
  const int64_t batch = q_dims[0], steps = q_dims[1], dk = q_dims[2] / heads, dv = v_dims[2] / kv;
  const std::string rule = step.attr("update_rule", "gated_delta");
  const bool delta = rule.ends_with("delta"), gated = rule.starts_with("gated");
  if (step.has_input(6)) return refuse(step, "an erase gate isn't computed");
  const std::vector<double> q = step.reals(0), k = step.reals(1), v = step.reals(2),
                            decay = step.reals(4), beta = step.reals(5);
  std::vector<double> state = step.reals(3);
  if (state.empty()) state.assign(static_cast<size_t>(batch * kv * dk * dv), 0);
  const double given = real_attr(step, "scale", 0);
  const double scale = given == 0 ? 1 / std::sqrt(static_cast<double>(dk)) : given;
  if ((gated && step.rank(4) != 3) || (delta && step.rank(5) != 3))
    return bad_node(step, "decay and beta must have rank 3");
  const int64_t decays = gated ? step.dims(4).back() : 0, betas = delta ? step.dims(5).back() : 0;
  const int64_t rows = batch * steps;
  if ((gated && decays != kv && decays != kv * dk) || (delta && betas != kv && betas != 1) ||
      (gated && step.input_array(4).size() != rows * decays) ||
      (delta && step.input_array(5).size() != rows * betas))
    return bad_node(step, "decay or beta has the wrong shape");
  std::vector<double> out(static_cast<size_t>(batch * steps * heads * dv), 0);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < steps; ++t)
      for (int64_t h = 0; h < kv; ++h) {
        const int64_t row = b * steps + t;
        double* s = state.data() + (b * kv + h) * dk * dv;
        const double *key = k.data() + (row * kv + h) * dk, *value = v.data() + (row * kv + h) * dv;
        std::vector<double> add(value, value + dv);
        for (int64_t i = 0; gated && i < dk; ++i) {
          const int64_t at = row * decays + (decays == kv ? h : h * dk + i);
          for (int64_t j = 0; j < dv; ++j)
            s[i * dv + j] *= std::exp(decay[static_cast<size_t>(at)]);
        }
        for (int64_t j = 0; delta && j < dv; ++j) {
          for (int64_t i = 0; i < dk; ++i) add[static_cast<size_t>(j)] -= s[i * dv + j] * key[i];
          add[static_cast<size_t>(j)] *=
              beta[static_cast<size_t>(row * betas + (betas == 1 ? 0 : h))];
        }
        for (int64_t i = 0; i < dk; ++i)
          for (int64_t j = 0; j < dv; ++j) s[i * dv + j] += key[i] * add[static_cast<size_t>(j)];
        const int64_t group = heads / kv;
        for (int64_t g = h * group; g < (h + 1) * group; ++g)
          for (int64_t i = 0; i < dk; ++i)
            for (int64_t j = 0; j < dv; ++j)
              out[static_cast<size_t>((row * heads + g) * dv + j)] +=
                  scale * q[static_cast<size_t>((row * heads + g) * dk + i)] * s[i * dv + j];
      }
  step.put_output(0, out);
  if (step.output_count() > 1) step.put_output(1, state);
  return ok();
}

/// A depthwise convolution along the last dim that continues where the state ends.
Status causal_conv(KernelContext& step) {
  const Dims& x = step.dims(0);
  const int64_t taps = step.dims(1)[2], length = x[2], kept = taps - 1;
  std::vector<double> past = step.reals(3);
  const std::vector<double> in = step.reals(0), w = step.reals(1), bias = step.reals(2);
  const int64_t rows = x[0] * x[1];
  if (past.empty()) past.assign(static_cast<size_t>(rows * kept), 0);
  const std::string activation = step.attr("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return bad_node(step, fmt::format("activation '{}' is unknown", activation));
  std::vector<double> out, state;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> line(past.begin() + r * kept, past.begin() + (r + 1) * kept);
    line.insert(line.end(), in.begin() + r * length, in.begin() + (r + 1) * length);
    const int64_t c = r % x[1];
    for (int64_t i = 0; i < length; ++i) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(c)];
      for (int64_t t = 0; t < taps; ++t)
        sum += line[static_cast<size_t>(i + t)] * w[static_cast<size_t>(c * taps + t)];
      out.push_back(activation == "none" ? sum : sum / (1 + std::exp(-sum)));
    }
    state.insert(state.end(), line.end() - kept, line.end());
  }
  step.put_output(0, out);
  if (step.output_count() > 1) step.put_output(1, state);
  return ok();
}

constexpr KernelRow kAttentionKernels[] = {
    {"Attention", onnx_attention},
    {"CausalConvWithState", causal_conv},
    {"LinearAttention", linear_attention},
    {"RotaryEmbedding", rotary_embedding<false>},
    {"CausalConvWithState", causal_conv, kMicrosoft},
    {"RotaryEmbedding", rotary_embedding<true>, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> attention_kernels() { return kAttentionKernels; }

}  // namespace accsim::sim::ref
