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

constexpr KernelRow kAttentionKernels[] = {{"Attention", onnx_attention}};

}  // namespace

std::span<const KernelRow> attention_kernels() { return kAttentionKernels; }

}  // namespace accsim::sim::ref
