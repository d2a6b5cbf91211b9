#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/elaborate/fused_activation.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostSteps = 8;  ///< of a recurrence that are spelled out one by one

/// A recurrence over tokens, its tensors batch x tokens x (heads x size), its state batch x heads x
/// key x value.
struct Recurrence {
  TensorId q, k, v, state, decay, beta;
  int64_t q_heads = 1, kv_heads = 1;
  double scale = 0;
  std::string rule;
};

std::vector<Attribute> attributes_of(const Recurrence& r) {
  return {{"q_num_heads", "", r.q_heads},
          {"kv_num_heads", "", r.kv_heads},
          {"scale", "", r.scale},
          {"update_rule", "", r.rule}};
}

/// One token of a tensor, as batch x heads x rows x columns.
TensorId token(Spelling& s, const std::string& what, TensorId x, int64_t t, const Dims& to) {
  const TensorId one = s.dim(x, 1) == 1 ? x : s.slice(what + "_token", x, 1, t, t + 1);
  return s.reshape(what, one, to);
}

/// The steps one by one: decay the state, take off what it says of the key, add the key's outer
/// product with the rest, read it by the queries.
TensorIds spell_steps(Spelling& s, const Recurrence& r) {
  const Dims q = s.dims(r.q);
  const int64_t batch = q[0], steps = q[1], heads = r.kv_heads, group = r.q_heads / heads;
  const int64_t key = q[2] / r.q_heads, value = s.dim(r.v, 2) / heads;
  const double scale = r.scale == 0 ? 1 / std::sqrt(static_cast<double>(key)) : r.scale;
  const bool delta = r.rule.ends_with("delta"), gated = r.rule.starts_with("gated");
  TensorId state = r.state == kNoTensor
                       ? s.zeros("empty", Dims{batch, heads, key, value}, s.dtype(r.q))
                       : r.state;
  TensorIds outs;
  for (int64_t t = 0; t < steps; ++t) {
    const std::string at = steps == 1 ? "" : fmt::format("_{}", t);
    if (gated) {
      const int64_t width = s.dim(r.decay, 2) / heads;
      const TensorId g = token(s, "decay" + at, r.decay, t, Dims{batch, heads, width, 1});
      state = s.add(op::kMul, "decayed" + at, {state, s.add(op::kExp, "factor" + at, {g})});
    }
    TensorId rest = token(s, "value" + at, r.v, t, Dims{batch, heads, 1, value});
    if (delta) {
      const TensorId row = token(s, "key_row" + at, r.k, t, Dims{batch, heads, 1, key});
      const TensorId known = s.add(op::kMatMul, "recall" + at, {row, state});
      const int64_t betas = s.dim(r.beta, 2);
      const TensorId rate = token(s, "rate" + at, r.beta, t, Dims{batch, betas, 1, 1});
      rest = s.add(op::kMul, "rest" + at, {s.add(op::kSub, "news" + at, {rest, known}), rate});
    }
    const TensorId column = token(s, "key" + at, r.k, t, Dims{batch, heads, key, 1});
    state = s.add(op::kAdd, "state" + at, {state, s.add(op::kMul, "outer" + at, {column, rest})});
    const TensorId query = token(s, "query" + at, r.q, t, Dims{batch, heads, group, key});
    const TensorId read = s.add(op::kMatMul, "read" + at, {query, state});
    const TensorId scaled =
        s.add(op::kMul, "scaled" + at, {read, s.number("scale" + at, scale, s.dtype(r.q))});
    outs.push_back(s.reshape("output" + at, scaled, Dims{batch, 1, r.q_heads * value}));
  }
  const TensorId out =
      outs.size() == 1 ? outs[0] : s.add(op::kConcat, "outputs", outs, {{"axis", "", int64_t{1}}});
  return {out, state};
}

/// Heads of x repeated so that each of `times` neighbours has its own.
TensorId repeat_heads(Spelling& s, const std::string& what, TensorId x, int64_t heads,
                      int64_t times) {
  if (times == 1) return x;
  const Dims all = s.dims(x);
  const Dims split{all[0], all[1], heads, 1, all[2] / heads};
  Dims wide = split;
  wide[3] = times;
  const TensorId many = s.add(op::kExpand, what + "_repeated",
                              {s.reshape(what + "_split", x, split),
                               s.integers(what + "_wide", {wide.begin(), wide.end()})});
  return s.reshape(what, many, Dims{all[0], all[1], all[2] * times});
}

/// Queries and keys may have fewer heads than the state has; neighbours of it share one.
TensorIds recurrence(Spelling& s, Recurrence r) {
  const int64_t size = r.q_heads > 0 ? s.dim(r.q, 2) / r.q_heads : 0;
  const int64_t key_heads = size > 0 ? s.dim(r.k, 2) / size : 0;
  if (key_heads > 0 && r.kv_heads > key_heads)
    r.k = repeat_heads(s, "keys", r.k, key_heads, r.kv_heads / key_heads);
  if (r.kv_heads > r.q_heads && r.q_heads > 0) {
    r.q = repeat_heads(s, "queries", r.q, r.q_heads, r.kv_heads / r.q_heads);
    r.q_heads = r.kv_heads;
  }
  return s.add_all("", "LinearAttention", "recurrence", {r.q, r.k, r.v, r.state, r.decay, r.beta},
                   2, attributes_of(r));
}

Recurrence linear_attention(const Spelling& s) {
  return {s.input(0),
          s.input(1),
          s.input(2),
          s.input(3),
          s.input(4),
          s.input(5),
          s.integer("q_num_heads", 0),
          s.integer("kv_num_heads", 0),
          s.real("scale", 0),
          s.text("update_rule", "gated_delta")};
}

/// x divided by the root of its squares' sum, head by head.
TensorId l2_norm(Spelling& s, const std::string& what, TensorId x, int64_t heads) {
  const Dims all = s.dims(x);
  const TensorId split = s.reshape(what + "_heads", x, Dims{all[0], all[1], heads, all[2] / heads});
  const TensorId sum =
      s.add("ReduceSumSquare", what + "_squares", {split, s.integers(what + "_axis", {-1})});
  const TensorId near =
      s.add(op::kAdd, what + "_sum", {sum, s.number(what + "_epsilon", 1e-6, s.dtype(x))});
  const TensorId root = s.add(op::kSqrt, what + "_root", {near});
  return s.reshape(what, s.add(op::kDiv, what + "_divided", {split, root}), all);
}

/// What `decay` or `beta` is before the recurrence.
TensorId gate_of_net(Spelling& s, TensorId x) {
  const std::string how = s.text("gate_activation", "none");
  if (how == "none" || x == kNoTensor) return x;
  TensorId bias = s.input(8), rate = s.add(op::kExp, "rate_of_decay", {s.input(7)});
  const Dims dims = s.dims(x);
  const int64_t heads = elements(s.dims(s.input(7)));
  if (heads < 1) return s.refuse("its a_log is empty"), kNoTensor;
  if (dims.back() != heads) {  // one rate a head for each of its dims
    const int64_t width = dims.back() / heads;
    rate = s.add(
        op::kExpand, "rates",
        {s.reshape("rate_column", rate, Dims{heads, 1}), s.integers("rate_dims", {heads, width})});
    rate = s.reshape("rate_row", rate, Dims{dims.back()});
    if (bias != kNoTensor) {
      if (elements(s.dims(bias)) == heads)
        bias = s.add(op::kExpand, "gate_biases",
                     {s.reshape("bias_column", bias, Dims{heads, 1}),
                      s.integers("bias_dims", {heads, width})});
      bias = s.reshape("bias_row", bias, Dims{dims.back()});
    }
  }
  if (bias != kNoTensor) x = s.add(op::kAdd, "gate_biased", {x, bias});
  if (how == "softplus" || how == "qwen")
    return s.add(op::kNeg, "gate",
                 {s.add(op::kMul, "gate_scaled", {s.add(op::kSoftplus, "softplus", {x}), rate})});
  if (how != "sigmoid" && how != "kda")
    s.refuse(fmt::format("its gate_activation '{}' isn't known", how));
  const TensorId inside = s.add(op::kSigmoid, "gate_inside", {s.add(op::kMul, "gated", {x, rate})});
  return s.add(op::kMul, "gate",
               {inside, s.number("lower", s.real("gate_lower_bound", -5), s.dtype(x))});
}

}  // namespace

TensorIds spell_linear_steps(Spelling& s) {
  const Recurrence r = linear_attention(s);
  if (s.rank(r.q) != 3 || s.dim(r.q, 1) > kMostSteps || s.dim(r.q, 1) < 1 || s.has(6)) return {};
  return spell_steps(s, r);
}

TensorIds spell_ms_linear_attention(Spelling& s) {
  Recurrence r = linear_attention(s);
  if (s.integer("state_window", 0) > 0)
    return s.refuse("it keeps a window of states, for tokens that are taken back"), TensorIds{};
  if (r.q_heads < 1 || r.kv_heads < 1 || s.rank(r.q) != 3)
    return s.refuse("it needs query heads, key heads and a query of three dims"), TensorIds{};
  return recurrence(s, r);
}

TensorIds spell_gated_delta_net(Spelling& s) {
  if (s.has(3) || s.integer("state_update_capacity", 0) > 0 || !s.has(6))
    return s.refuse(
               "its sequences are packed, or its updates are kept: a serving runtime's form; "
               "export LinearAttention"),
           TensorIds{};
  const Dims state = s.dims(s.input(6));  // batch x heads x value x key
  if (state.size() != 4 || elements(state) == 0 || s.rank(s.input(0)) < 2)
    return s.refuse("its state must have four dims"), TensorIds{};
  const int64_t batch = state[0], v_heads = state[1], dv = state[2], dk = state[3];
  TensorId q = s.input(0), k = s.input(1), v = s.input(2);
  const Dims shape = s.dims(q);
  const bool apart = k != kNoTensor;
  if (elements(shape) == 0) return s.refuse("it has no tokens"), TensorIds{};
  const int64_t width = apart ? 0 : (shape.back() - v_heads * dv) / 2;
  const int64_t heads = apart ? shape[shape.size() - 2] : width / dk;
  if (heads < 1) return s.refuse("its heads don't go with its state"), TensorIds{};
  const int64_t rows = elements(shape) / (apart ? heads * dk : shape.back()), tokens = rows / batch;
  if (tokens < 1 || tokens * batch != rows || v_heads % heads != 0)
    return s.refuse("its heads or tokens don't go with its state"), TensorIds{};
  if (!apart) {
    const int64_t axis = s.rank(q) - 1;
    v = s.slice("packed_v", q, axis, 2 * width, shape.back());
    k = s.slice("packed_k", q, axis, width, 2 * width);
    q = s.slice("packed_q", q, axis, 0, width);
  }
  const auto flat = [&](const std::string& what, TensorId x) {
    return x == kNoTensor ? x : s.reshape(what, x, Dims{batch, tokens, elements(s.dims(x)) / rows});
  };
  Recurrence r{flat("q", q),
               flat("k", k),
               flat("v", v),
               s.transpose("state_in", s.input(6), {0, 1, 3, 2}),
               flat("decay", s.input(4)),
               flat("beta", s.input(5)),
               heads,
               v_heads,
               s.real("scale", 0),
               s.text("update_rule", "gated_delta")};
  if (s.integer("qk_l2_norm", 0) != 0) {
    r.q = l2_norm(s, "q_normed", r.q, heads);
    r.k = l2_norm(s, "k_normed", r.k, heads);
  }
  r.decay = gate_of_net(s, r.decay);
  if (s.text("beta_activation", "none") == "sigmoid" && r.beta != kNoTensor)
    r.beta = s.add(op::kSigmoid, "beta_gate", {r.beta});
  r.k = repeat_heads(s, "keys", r.k, heads, v_heads / heads);
  const TensorIds made = recurrence(s, r);
  Dims out = s.dims(s.input(0));
  out.resize(apart ? out.size() - 2 : out.size() - 1);
  out.push_back(v_heads);
  out.push_back(dv);
  return {s.reshape("", made[0], out),
          s.call().wants_output(1) ? s.transpose("state_out", made[1], {0, 1, 3, 2}) : kNoTensor};
}

TensorIds spell_causal_conv(Spelling& s) {
  const int64_t dilation = s.integer("dilation", 1);
  if (dilation < 1 || dilation > s.most_values() || s.integer("ndim", 1) != 1 ||
      s.integer("state_window", 0) > 0 || s.integer("state_update_capacity", 0) > 0 ||
      s.integer("state_length", 0) > 0 || s.integer("input_channels", 0) > 0)
    return s.refuse("only one dim without a window of states is spelled out"), TensorIds{};
  const bool last = s.integer("channels_last", 0) != 0;
  const auto first = [&](const std::string& what, TensorId x) {
    return last && x != kNoTensor ? s.channels_first(what, x) : x;
  };
  TensorId x = first("input", s.input(0));
  if (s.rank(x) != 3 || s.rank(s.input(1)) != 3) return {};
  const int64_t channels = s.dim(x, 1), kept = (s.dim(s.input(1), 2) - 1) * dilation;
  const TensorId past = first("past", s.input(3));
  std::vector<Attribute> attributes{{"group", "", channels},
                                    {"dilations", "", std::vector<int64_t>{dilation}}};
  if (past != kNoTensor)
    x = s.add(op::kConcat, "joined", {past, x}, {{"axis", "", int64_t{2}}});
  else if (s.call().wants_output(1))
    x = s.add(op::kPad, "joined", {x, s.integers("pads", {0, 0, kept, 0, 0, 0})});
  else
    attributes.push_back({"pads", "", std::vector<int64_t>{kept, 0}});
  TensorId y = s.add(op::kConv, "conv", {x, s.input(1), s.input(2)}, attributes);
  const std::string activation = s.text("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = silu(s, "activation", y);
  else if (activation != "none")
    s.refuse(fmt::format("its activation '{}' isn't known", activation));
  TensorId present = kNoTensor;
  if (s.call().wants_output(1)) {
    present = s.slice("present", x, 2, s.dim(x, 2) - kept, s.dim(x, 2));
    if (last) present = s.channels_last("present_last", present);
  }
  return {last ? s.channels_last("output", y) : y, present};
}

}  // namespace accsim::sim
