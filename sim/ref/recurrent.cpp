#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/quant.h"

namespace accsim::sim::ref {
namespace {

struct NamedActivation {
  std::string_view name;
  Activation activation;
  int parameters;  ///< how many of alpha and beta it takes
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

constexpr NamedActivation kActivations[] = {
    {"affine", {[](double v, double a, double b) { return a * v + b; }, 1, 0}, 2},
    {"elu", {[](double v, double a, double) { return v < 0 ? a * std::expm1(v) : v; }, 1, 0}, 1},
    {"hardsigmoid",
     {[](double v, double a, double b) { return std::clamp(a * v + b, 0.0, 1.0); }, 0.2, 0.5},
     2},
    {"leakyrelu", {[](double v, double a, double) { return v < 0 ? a * v : v; }, 0.01, 0}, 1},
    {"relu", {[](double v, double, double) { return std::max(v, 0.0); }, 0, 0}, 0},
    {"scaledtanh", {[](double v, double a, double b) { return a * std::tanh(b * v); }, 1, 1}, 2},
    {"sigmoid", {[](double v, double, double) { return sigmoid(v); }, 0, 0}, 0},
    {"softplus", {[](double v, double, double) { return std::log1p(std::exp(v)); }, 0, 0}, 0},
    {"softsign", {[](double v, double, double) { return v / (1 + std::abs(v)); }, 0, 0}, 0},
    {"tanh", {[](double v, double, double) { return std::tanh(v); }, 0, 0}, 0},
    {"thresholdedrelu", {[](double v, double a, double) { return v > a ? v : 0; }, 1, 0}, 1},
};

const NamedActivation* known_activation(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = std::ranges::find(kActivations, lower, &NamedActivation::name);
  return found == std::end(kActivations) ? nullptr : found;
}

template <class T>
std::vector<T> list_attr(const KernelContext& step, std::string_view name) {
  const Attribute* a = step.find_attribute(name);
  const auto* list = a == nullptr ? nullptr : std::get_if<std::vector<T>>(&a->value);
  return list == nullptr ? std::vector<T>{} : *list;
}

struct Sizes {
  int64_t gates = 1, steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false;
};

/// Everything one direction works with.
struct Direction {
  std::vector<Activation> f;
  const double *w = nullptr, *r = nullptr, *bias = nullptr, *peepholes = nullptr;
  double clip = 0;
  bool linear_before_reset = false, input_forget = false;
  bool rounds = false;  ///< inputs and states to 8 bits of the range that they have

  double clip_input(double v) const { return clip > 0 ? std::clamp(v, -clip, clip) : v; }
};

/// The activations of all directions, `per_direction` each.
Result<std::vector<Activation>> activations_of(const KernelContext& step, size_t count,
                                               const std::vector<std::string>& defaults) {
  std::vector<std::string> names = list_attr<std::string>(step, "activations");
  if (names.empty())
    while (names.size() < count) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != count)
    return bad_node(step, fmt::format("{} activations are given, not {}", names.size(), count));
  const auto alphas = list_attr<double>(step, "activation_alpha");
  const auto betas = list_attr<double>(step, "activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> out;
  for (const std::string& name : names) {
    const NamedActivation* known = known_activation(name);
    if (known == nullptr) return bad_node(step, fmt::format("activation '{}' is unknown", name));
    Activation a = known->activation;
    if (known->parameters > 0 && alpha < alphas.size()) a.alpha = alphas[alpha++];
    if (known->parameters > 1 && beta < betas.size()) a.beta = betas[beta++];
    out.push_back(a);
  }
  return out;
}

/// One batch entry's next hidden (and cell) state from x W^T in `in` and h R^T in `state`, both
/// with their gates one after the other.
void rnn_cell(const Direction& d, int64_t n, const double* in, const double* state, double* h) {
  for (int64_t i = 0; i < n; ++i) h[i] = d.f[0](d.clip_input(in[i] + state[i]));
}

/// Gates z, r, h. `again` gives h R_h^T for another h (the one that r has scaled).
template <class F>
void gru_cell(const Direction& d, int64_t n, const double* in, const double* state, double* h,
              F again) {
  std::vector<double> z(static_cast<size_t>(n)), r(z), reset(z), mixed(z);
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    z[k] = d.f[0](d.clip_input(in[i] + state[i]));
    r[k] = d.f[0](d.clip_input(in[n + i] + state[n + i]));
    reset[k] = r[k] * h[i];
  }
  if (!d.linear_before_reset) again(reset.data(), mixed.data());
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    const double part = d.linear_before_reset ? r[k] * state[2 * n + i] : mixed[k];
    const double next = d.f[1](d.clip_input(in[2 * n + i] + part));
    h[i] = (1 - z[k]) * next + z[k] * h[i];
  }
}

/// Gates i, o, f, c; peepholes i, o, f.
void lstm_cell(const Direction& d, int64_t n, const double* in, const double* state, double* h,
               double* c) {
  const auto gate = [&](int64_t g, int64_t i) { return in[g * n + i] + state[g * n + i]; };
  const auto peep = [&](int64_t g, int64_t i, double cell) {
    return d.peepholes != nullptr ? d.peepholes[g * n + i] * cell : 0;
  };
  for (int64_t i = 0; i < n; ++i) {
    const double input = d.f[0](d.clip_input(gate(0, i) + peep(0, i, c[i])));
    const double forget =
        d.input_forget ? 1 - input : d.f[0](d.clip_input(gate(2, i) + peep(2, i, c[i])));
    const double next = forget * c[i] + input * d.f[1](d.clip_input(gate(3, i)));
    const double output = d.f[0](d.clip_input(gate(1, i) + peep(1, i, next)));
    c[i] = next;
    h[i] = output * d.f[2](next);
  }
}

/// What one direction reads: `x` is [steps][batch][inputs], `lengths` by batch entry.
struct Sequence {
  const std::vector<double>& x;
  const std::vector<int64_t>& lengths;
  bool reverse = false;
};

/// Hidden and cell state, [batch][hidden].
struct States {
  std::vector<double> h, c;
};

/// Runs one direction; visit(t, b, h) sees every state.
template <class F>
void run_direction(KernelContext& step, const Sizes& s, const Direction& d, const Sequence& over,
                   States& states, F visit) {
  const int64_t rows = s.gates * s.hidden;
  std::vector<double> in(static_cast<size_t>(s.steps * s.batch * rows));
  std::vector<double> state(static_cast<size_t>(rows));
  if (!in.empty())
    multiply(step.pool(), {s.steps * s.batch, s.inputs, rows, false, true}, over.x.data(), d.w,
             in.data());
  for (int64_t i = 0; i < s.steps; ++i) {
    std::vector<double> before = states.h;
    if (d.rounds) round_to_found_scale(before);
    for (int64_t b = 0; b < s.batch; ++b) {
      const int64_t length = over.lengths[static_cast<size_t>(b)];
      if (i >= length) continue;
      double *hidden = states.h.data() + b * s.hidden, *cell = states.c.data() + b * s.hidden;
      const int64_t t = over.reverse ? length - 1 - i : i;
      double* at = in.data() + (t * s.batch + b) * rows;
      multiply(step.pool(), {rows, s.hidden, 1, false, false}, d.r, before.data() + b * s.hidden,
               state.data());
      for (int64_t r = 0; r < rows && d.bias != nullptr; ++r) {
        at[r] += d.bias[r];
        state[static_cast<size_t>(r)] += d.bias[rows + r];
      }
      if (s.gates == 1)
        rnn_cell(d, s.hidden, at, state.data(), hidden);
      else if (s.gates == 4)
        lstm_cell(d, s.hidden, at, state.data(), hidden, cell);
      else
        gru_cell(d, s.hidden, at, state.data(), hidden, [&](const double* with, double* out) {
          multiply(step.pool(), {s.hidden, s.hidden, 1, false, false},
                   d.r + 2 * s.hidden * s.hidden, with, out);
          for (int64_t k = 0; k < s.hidden && d.bias != nullptr; ++k)
            out[k] += d.bias[rows + 2 * s.hidden + k];
        });
      visit(t, b, hidden);
    }
  }
}

Sizes sizes_of(const KernelContext& step, int64_t gates) {
  Sizes s;
  s.gates = gates;
  s.batch_first = int_attr(step, "layout", 0) != 0;
  const Dims& x = step.dims(0);
  s.steps = x[s.batch_first ? 1 : 0];
  s.batch = x[s.batch_first ? 0 : 1];
  s.inputs = x[2];
  s.hidden = step.dims(2)[2];
  s.directions = step.dims(1)[0];
  return s;
}

/// [batch][first][inner] turned to [first][batch][inner] when the layout asks for it.
std::vector<double> time_first(std::vector<double> in, const Sizes& s, int64_t first,
                               int64_t inner) {
  if (!s.batch_first || in.empty()) return in;
  std::vector<double> out(in.size());
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t t = 0; t < first; ++t)
      std::copy_n(in.begin() + (b * first + t) * inner, inner,
                  out.begin() + (t * s.batch + b) * inner);
  return out;
}

/// What all directions read; empty where the node has no such input.
struct Operands {
  std::vector<double> x, w, r, bias, h0, c0, peepholes;
  std::vector<int64_t> lengths;
};

/// An error when an optional input is there and has another shape.
Status want_dims(const KernelContext& step, size_t i, std::string_view input, const Dims& wanted) {
  if (!step.has_input(i) || step.dims(i) == wanted) return ok();
  return bad_node(
      step, fmt::format("{} {} must be {}", input, to_string(step.dims(i)), to_string(wanted)));
}

/// The elements of all inputs, steps before batch entries. The shape rule has checked X, W, R and
/// B, the others are checked here.
Result<Operands> read_operands(const KernelContext& step, const Sizes& s) {
  const Dims state =
      s.batch_first ? Dims{s.batch, s.directions, s.hidden} : Dims{s.directions, s.batch, s.hidden};
  if (Status d = want_dims(step, 4, "sequence_lens", {s.batch}); !d) return d.errors();
  if (Status d = want_dims(step, 5, "initial_h", state); !d) return d.errors();
  Operands all;
  if (s.gates == 4) {
    if (Status d = want_dims(step, 6, "initial_c", state); !d) return d.errors();
    if (Status d = want_dims(step, 7, "P", {s.directions, 3 * s.hidden}); !d) return d.errors();
    all.c0 = time_first(step.reals(6), s, s.directions, s.hidden);
    all.peepholes = step.reals(7);
  }
  all.x = time_first(step.reals(0), s, s.steps, s.inputs);
  all.w = step.reals(1);
  all.r = step.reals(2);
  all.bias = step.reals(3);
  all.h0 = time_first(step.reals(5), s, s.directions, s.hidden);
  all.lengths = step.integers(4);
  if (!step.has_input(4)) all.lengths.assign(static_cast<size_t>(s.batch), s.steps);
  if (std::ranges::any_of(all.lengths, [&](int64_t l) { return l < 0 || l > s.steps; }))
    return bad_node(step, fmt::format("sequence_lens must be in [0, {}]", s.steps));
  return all;
}

/// Direction n of all.
Direction direction_of(const KernelContext& step, const Sizes& s, const Operands& all,
                       const std::vector<Activation>& f, int64_t n) {
  const int64_t rows = s.gates * s.hidden;
  const auto functions = static_cast<int64_t>(f.size()) / s.directions;
  Direction d;
  d.f.assign(f.begin() + n * functions, f.begin() + (n + 1) * functions);
  d.w = all.w.data() + n * rows * s.inputs;
  d.r = all.r.data() + n * rows * s.hidden;
  d.bias = all.bias.empty() ? nullptr : all.bias.data() + n * 2 * rows;
  d.peepholes = all.peepholes.empty() ? nullptr : all.peepholes.data() + n * 3 * s.hidden;
  d.clip = real_attr(step, "clip", 0);
  d.linear_before_reset = int_attr(step, "linear_before_reset", 0) != 0;
  d.input_forget = int_attr(step, "input_forget", 0) != 0;
  return d;
}

/// Direction n of an initial state; zeros without one.
std::vector<double> initial_state(const Sizes& s, const std::vector<double>& given, int64_t n) {
  const int64_t size = s.batch * s.hidden;
  std::vector<double> state(static_cast<size_t>(size), 0);
  if (!given.empty()) std::copy_n(given.begin() + n * size, size, state.begin());
  return state;
}

template <int kGates>
std::vector<std::string> default_activations() {
  if constexpr (kGates == 1) return {op::kTanh};
  if constexpr (kGates == 3) return {op::kSigmoid, op::kTanh};
  return {op::kSigmoid, op::kTanh, op::kTanh};
}

Status run_recurrent(KernelContext& step, const Sizes& s, const std::vector<std::string>& defaults,
                     const Operands& all, bool rounds) {
  const auto f =
      activations_of(step, defaults.size() * static_cast<size_t>(s.directions), defaults);
  if (!f) return f.errors();
  const bool reverse = step.attr("direction", "forward") == "reverse";
  const auto states = static_cast<size_t>(s.directions * s.batch * s.hidden);
  std::vector<double> y(states * static_cast<size_t>(s.steps), 0), last_h(states), last_c(states);
  for (int64_t n = 0; n < s.directions; ++n) {
    States now{initial_state(s, all.h0, n), initial_state(s, all.c0, n)};
    Direction direction = direction_of(step, s, all, *f, n);
    direction.rounds = rounds;
    run_direction(step, s, direction, {all.x, all.lengths, reverse || n == 1}, now,
                  [&](int64_t t, int64_t b, const double* state) {
                    const int64_t at = s.batch_first ? (b * s.steps + t) * s.directions + n
                                                     : (t * s.directions + n) * s.batch + b;
                    std::copy_n(state, s.hidden, y.begin() + at * s.hidden);
                  });
    for (int64_t b = 0; b < s.batch; ++b) {
      const int64_t at = (s.batch_first ? b * s.directions + n : n * s.batch + b) * s.hidden;
      std::copy_n(now.h.begin() + b * s.hidden, s.hidden, last_h.begin() + at);
      std::copy_n(now.c.begin() + b * s.hidden, s.hidden, last_c.begin() + at);
    }
  }
  if (step.output_count() > 0) step.put_output(0, y);
  if (step.output_count() > 1) step.put_output(1, last_h);
  if (step.output_count() > 2) step.put_output(2, last_c);
  return ok();
}

/// Weights of integers whose columns are what rows of an LSTM's are, as its reals; their scale and
/// zero point are inputs from `scale` on, one or one a column of each direction.
std::vector<double> turned_weights(const KernelContext& step, size_t port, size_t scale) {
  const Dims& d = step.dims(port);
  const std::vector<double> integers = step.reals(port), scales = step.reals(scale),
                            zeros = step.reals(scale + 1);
  std::vector<double> out(integers.size());
  const auto each = [&](const std::vector<double>& v, int64_t n, int64_t column) {
    return v[static_cast<size_t>(std::ssize(v) == d[0] ? n : n * d[2] + column)];
  };
  for (int64_t n = 0; n < d[0]; ++n)
    for (int64_t k = 0; k < d[1]; ++k)
      for (int64_t c = 0; c < d[2]; ++c)
        out[static_cast<size_t>((n * d[2] + c) * d[1] + k)] =
            (integers[static_cast<size_t>((n * d[1] + k) * d[2] + c)] - each(zeros, n, c)) *
            each(scales, n, c);
  return out;
}

template <int kGates>
Status recurrent_layer(KernelContext& step) {
  const Sizes s = sizes_of(step, kGates);
  const Result<Operands> all = read_operands(step, s);
  if (!all) return all.errors();
  return run_recurrent(step, s, default_activations<kGates>(), *all, false);
}

Status dynamic_lstm(KernelContext& step) {
  Sizes s = sizes_of(step, 4);
  s.hidden = step.dims(2)[1];
  Result<Operands> all = read_operands(step, s);
  if (!all) return all.errors();
  all->w = turned_weights(step, 1, 8);
  all->r = turned_weights(step, 2, 10);
  round_to_found_scale(all->x);
  return run_recurrent(step, s, default_activations<4>(), *all, true);
}

constexpr KernelRow kRecurrentKernels[] = {{"GRU", recurrent_layer<3>},
                                           {"LSTM", recurrent_layer<4>},
                                           {"RNN", recurrent_layer<1>},
                                           {"DynamicQuantizeLSTM", dynamic_lstm, kMicrosoft}};

}  // namespace

std::optional<Activation> find_activation(std::string_view name) {
  const NamedActivation* known = known_activation(name);
  if (known == nullptr) return std::nullopt;
  return known->activation;
}

std::span<const KernelRow> recurrent_kernels() { return kRecurrentKernels; }

}  // namespace accsim::sim::ref
