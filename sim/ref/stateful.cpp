#include <fmt/format.h>

#include <cmath>

#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

// Operators that go on from a state which a run before has left.

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

constexpr KernelRow kStatefulKernels[] = {
    {"CausalConvWithState", causal_conv},
    {"LinearAttention", linear_attention},
};

}  // namespace

std::span<const KernelRow> stateful_kernels() { return kStatefulKernels; }

}  // namespace accsim::sim::ref
