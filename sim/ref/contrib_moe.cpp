#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"

namespace accsim::sim::ref {
namespace {

using Reals = std::vector<double>;

/// com.microsoft's MoE: its sizes, and what it does between the products.
struct Mixture {
  int64_t tokens = 0, hidden = 0, experts = 0, inner = 0, first = 0;
  int64_t fusion = 0;  ///< of SwiGLU: 1: gate and value in turns, 2: the gates first
  std::string function;
  double alpha = 1, beta = 0, limit = std::numeric_limits<double>::infinity();
};

/// A token that goes to an expert, and what its result counts.
struct Sent {
  int64_t token = 0;
  double weight = 0;
};

double logistic(double v) { return 1 / (1 + std::exp(-v)); }

double tanh_of_gelu(double v) {
  constexpr double kRoot = 0.79788456080286535588;  // of 2 / pi
  return 0.5 * v * (1 + std::tanh(kRoot * (v + 0.044715 * v * v * v)));
}

double apply_activation(const Mixture& m, double v) {
  if (m.function == "relu") return std::max(v, 0.0);
  if (m.function == "silu") return v * logistic(v);
  return m.function == "gelu" ? tanh_of_gelu(v) : v;
}

double swiglu_value(const Mixture& m, double gate, double value) {
  gate = std::min(gate, m.limit);
  return gate * logistic(m.alpha * gate) * (std::clamp(value, -m.limit, m.limit) + m.beta);
}

/// Has every input the dims that the others ask for?
Status check_mixture_dims(const KernelContext& step, const Mixture& m) {
  const Dims wanted[] = {{m.tokens, m.experts}, {m.experts, m.first, m.hidden},
                         {m.experts, m.first},  {m.experts, m.hidden, m.inner},
                         {m.experts, m.hidden}, {m.experts, m.inner, m.hidden},
                         {m.experts, m.inner}};
  for (size_t i = 0; i < std::size(wanted); ++i)
    if (step.has_input(i + 1) && step.dims(i + 1) != wanted[i])
      return bad_node(step, fmt::format("input {} is {}, not {}", i + 1,
                                        to_string(step.dims(i + 1)), to_string(wanted[i])));
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < step.dims(0).size(); ++i) rows *= step.dims(0)[i];
  const int64_t chosen = int_attr(step, "k", 1);
  if (rows != m.tokens || chosen < 1 || chosen > m.experts)
    return bad_node(step, fmt::format("{} tokens go to {} of {} experts, {} are routed", rows,
                                      chosen, m.experts, m.tokens));
  return ok();
}

Result<Mixture> mixture_of(const KernelContext& step) {
  if (!step.has_input(4) || step.dims(0).empty() || step.dims(1).size() != 2 ||
      step.dims(2).size() != 3 || step.dims(4).size() != 3)
    return bad_node(step, "its inputs have other ranks than a mixture's");
  Mixture m;
  m.hidden = step.dims(0).back();
  m.experts = step.dims(1)[1];
  m.tokens = step.dims(1)[0];
  m.first = step.dims(2)[1];
  m.inner = step.dims(4)[2];
  m.fusion = int_attr(step, "swiglu_fusion", 0);
  m.function = step.attr("activation_type", "relu");
  m.alpha = real_attr(step, "activation_alpha", m.alpha);
  m.beta = real_attr(step, "activation_beta", m.beta);
  m.limit = real_attr(step, "swiglu_limit", m.limit);
  for (const char* name : {"relu", "gelu", "silu", "identity", "swiglu"})
    if (m.function == name) {
      const bool fused = m.first == 2 * m.inner && m.inner > 0;
      if (int_attr(step, "use_sparse_mixer", 0) != 0)
        return refuse(step, "a sparse mixer isn't computed");
      if (fused != (m.fusion == 1 || m.fusion == 2) || (fused && m.function != "swiglu") ||
          (fused && step.has_input(6)) || (!fused && m.function == "swiglu" && !step.has_input(6)))
        return bad_node(step, fmt::format("swiglu_fusion {} doesn't go with {} of {} results for "
                                          "{} inner channels",
                                          m.fusion, m.function, m.first, m.inner));
      return m;
    }
  return refuse(step, fmt::format("activation_type '{}' isn't known", m.function));
}

/// The tokens of every expert: those in whose row of the softmax it is one of the k largest, of
/// equal ones the first.
std::vector<std::vector<Sent>> route_tokens(const KernelContext& step, const Mixture& m) {
  const auto chosen = static_cast<size_t>(int_attr(step, "k", 1));
  const bool normalised = int_attr(step, "normalize_routing_weights", 0) != 0;
  const auto experts = static_cast<size_t>(m.experts);
  Reals rows = step.reals(1);
  std::vector<std::vector<Sent>> out(experts);
  for (int64_t token = 0; token < m.tokens; ++token) {
    double* const row = rows.data() + token * m.experts;
    softmax_row(row, m.experts);
    std::vector<size_t> order(experts);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return row[a] > row[b]; });
    double sum = 0;
    for (size_t i = 0; i < chosen; ++i) sum += row[order[i]];
    for (size_t i = 0; i < chosen; ++i)
      out[order[i]].push_back({token, normalised ? row[order[i]] / sum : row[order[i]]});
  }
  return out;
}

/// Stored weights of all experts, each outputs x inputs, and their biases.
struct Layer {
  Reals weights, biases;
  int64_t outputs = 0, inputs = 0;

  static Layer of_step(const KernelContext& step, size_t port) {
    if (!step.has_input(port)) return {};
    return {step.reals(port), step.reals(port + 1), step.dims(port)[1], step.dims(port)[2]};
  }
  Reals apply_expert(const KernelContext& step, size_t expert, const Reals& rows) const {
    const int64_t count = static_cast<int64_t>(rows.size()) / std::max<int64_t>(inputs, 1);
    const auto at = static_cast<int64_t>(expert) * outputs;
    Reals out(static_cast<size_t>(count * outputs));
    if (out.empty()) return out;
    multiply(step.pool(), {count, inputs, outputs, false, true}, rows.data(),
             weights.data() + at * inputs, out.data());
    for (size_t i = 0; i < out.size() && !biases.empty(); ++i)
      out[i] += biases[static_cast<size_t>(at) + i % static_cast<size_t>(outputs)];
    return out;
  }
};

/// What is between the products: `made` of the first, `gated` of the one beside it, if there is.
Reals between_products(const Mixture& m, const Reals& made, const Reals& gated) {
  const auto inner = static_cast<size_t>(m.inner), first = static_cast<size_t>(m.first);
  Reals out(m.first > 0 ? made.size() / first * inner : 0);
  for (size_t i = 0; i < out.size(); ++i) {
    const double* const row = made.data() + i / inner * first;
    const size_t n = i % inner;
    if (m.fusion == 1)
      out[i] = swiglu_value(m, row[2 * n], row[2 * n + 1]);
    else if (m.fusion == 2)
      out[i] = swiglu_value(m, row[n], row[inner + n]);
    else if (m.function == "swiglu")
      out[i] = swiglu_value(m, row[n], gated[i]);
    else
      out[i] = apply_activation(m, row[n]) * (gated.empty() ? 1 : gated[i]);
  }
  return out;
}

/// com.microsoft's MoE: every token goes through the experts that a router gives it most of, and
/// their results are summed by these weights.
Status mixture_kernel(KernelContext& step) {
  const Result<Mixture> m = mixture_of(step);
  if (!m) return m.errors();
  if (Status s = check_mixture_dims(step, *m); !s) return s;
  const Layer first = Layer::of_step(step, 2), last = Layer::of_step(step, 4),
              gates = Layer::of_step(step, 6);
  const Reals x = step.reals(0);
  const auto hidden = static_cast<size_t>(m->hidden);
  Reals out(x.size());
  const std::vector<std::vector<Sent>> sent = route_tokens(step, *m);
  for (size_t expert = 0; expert < sent.size(); ++expert) {
    Reals rows;
    for (const Sent& s : sent[expert])
      rows.insert(rows.end(), x.begin() + s.token * m->hidden,
                  x.begin() + (s.token + 1) * m->hidden);
    const Reals gated = step.has_input(6) ? gates.apply_expert(step, expert, rows) : Reals();
    const Reals results = last.apply_expert(
        step, expert, between_products(*m, first.apply_expert(step, expert, rows), gated));
    for (size_t i = 0; i < results.size(); ++i) {
      const Sent& s = sent[expert][i / hidden];
      out[static_cast<size_t>(s.token) * hidden + i % hidden] += s.weight * results[i];
    }
  }
  step.put_output(0, out);
  return ok();
}

constexpr KernelRow kContribMoeKernels[] = {
    {"MoE", mixture_kernel, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> contrib_moe_kernels() { return kContribMoeKernels; }

}  // namespace accsim::sim::ref
