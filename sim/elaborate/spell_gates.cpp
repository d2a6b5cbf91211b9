#include <cmath>

#include "sim/elaborate/fused_activation.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Half `i` of the last dim.
TensorId half(Spelling& s, const std::string& what, TensorId x, int64_t i) {
  const int64_t size = s.dim(x, -1) / 2;
  return s.slice(what, x, s.rank(x) - 1, i * size, (i + 1) * size);
}

/// x + bias, where there is one.
TensorId biased(Spelling& s, TensorId x, TensorId bias) {
  return bias == kNoTensor ? x : s.add(op::kAdd, "biased", {x, bias});
}

/// x min and max such a limit; x itself where it is 0 or less.
TensorId clamp(Spelling& s, const std::string& what, TensorId x, bool below, double limit) {
  if (limit <= 0) return x;
  const DType type = s.dtype(x);
  const TensorId least = below ? s.number(what + "_least", -limit, type) : kNoTensor;
  return s.add(op::kClip, what, {x, least, s.number(what + "_most", limit, type)});
}

/// The gated activation of SwiGLU and its kin, by the node's attributes.
TensorId swiglu(Spelling& s, TensorId gate, TensorId up) {
  const double limit = s.real("limit", 0), beta = s.real("activation_beta", 0);
  TensorId linear = clamp(s, "up_limit", up, true, limit);
  if (beta != 0) linear = s.add(op::kAdd, "up_beta", {linear, s.number("beta", beta, s.dtype(up))});
  const TensorId g = clamp(s, "gate_limit", gate, false, limit);
  return s.add(op::kMul, "gated", {silu(s, "gate", g, s.real("activation_alpha", 1)), linear});
}

TensorId real_part(Spelling& s, const std::string& what, TensorId x, int64_t i) {
  return s.slice(what, x, s.rank(x) - 1, i, i + 1);
}

/// (a + bi)(c + di), or with c - di.
TensorIds complex_product(Spelling& s, bool conjugate) {
  const TensorId x = s.input(0), y = s.input(1);
  const TensorId a = real_part(s, "a", x, 0), b = real_part(s, "b", x, 1),
                 c = real_part(s, "c", y, 0), d = real_part(s, "d", y, 1);
  const TensorId ac = s.add(op::kMul, "ac", {a, c}), bd = s.add(op::kMul, "bd", {b, d}),
                 ad = s.add(op::kMul, "ad", {a, d}), bc = s.add(op::kMul, "bc", {b, c});
  const TensorId real = s.add(conjugate ? op::kAdd : op::kSub, "real", {ac, bd});
  const TensorId imaginary =
      conjugate ? s.add(op::kSub, "imaginary", {bc, ad}) : s.add(op::kAdd, "imaginary", {ad, bc});
  return {s.add(op::kConcat, "", {real, imaginary}, {{"axis", "", int64_t{-1}}})};
}

/// The streams of hyper-connections as [..., C, H].
Dims grouped_dims(Spelling& s, TensorId streams) {
  Dims out = s.dims(streams);
  const int64_t branches = s.integer("num_branches", 0);
  if (out.size() < 2 || (branches > 0 && out.back() % branches != 0)) {
    s.refuse("its streams don't split into branches");
    return Dims{1, 1};
  }
  if (branches > 0) {
    out.back() /= branches;
    out.insert(out.end() - 1, branches);
  }
  return out;
}

/// Gates of (..., C), (..., C, 1), (..., C, H) or (..., C * H) as they broadcast to the streams.
TensorId gates(Spelling& s, const std::string& what, TensorId mix, const Dims& grouped) {
  const Dims have = s.dims(mix);
  if (have.size() == grouped.size()) return mix;
  Dims to = grouped;
  if (elements(have) != elements(grouped)) to.back() = 1;
  return s.reshape(what, mix, to);
}

/// The sum over the branches, the second dim from behind.
TensorId over_branches(Spelling& s, const std::string& what, TensorId x) {
  return s.add(op::kReduceSum, what, {x, s.integers(what + "_axis", {-2})},
               {{"keepdims", "", int64_t{0}}});
}

TensorId scaled(Spelling& s, const std::string& what, TensorId x, double factor) {
  if (factor == 1) return x;
  return s.add(op::kMul, what, {x, s.number(what + "_factor", factor, s.dtype(x))});
}

}  // namespace

TensorIds spell_bias_gelu(Spelling& s) {
  return {gelu(s, "", biased(s, s.input(0), s.input(1)), false)};
}
TensorIds spell_fast_gelu(Spelling& s) {
  return {gelu(s, "", biased(s, s.input(0), s.input(1)), true)};
}
TensorIds spell_bias_split_gelu(Spelling& s) {
  const TensorId sum = biased(s, s.input(0), s.input(1));
  return {s.add(op::kMul, "",
                {half(s, "left", sum, 0), gelu(s, "gelu", half(s, "right", sum, 1), false)})};
}
TensorIds spell_bias_add(Spelling& s) {
  return {s.add(op::kAdd, "", {biased(s, s.input(0), s.input(1)), s.input(2)})};
}
TensorIds spell_bias_dropout(Spelling& s) {
  if (s.call().wants_output(1)) s.refuse("its mask is of training; export it for inference");
  const bool has_bias = s.call().def.op_type != "BitmaskDropout";
  TensorId x = has_bias ? biased(s, s.input(0), s.input(1)) : s.input(0);
  if (has_bias && s.has(2)) x = s.add(op::kAdd, "sum", {x, s.input(2)});
  return {x};
}
TensorIds spell_bias_softmax(Spelling& s) {
  const TensorId x = s.input(0);
  TensorId bias = s.input(1);
  const int64_t rank = s.rank(x);
  int64_t axis = s.integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 1 || axis >= rank) return s.refuse("its axis leaves no rows"), TensorIds{};
  // Inner broadcast: the bias's outer dims are those of x, its inner ones up to the axis are 1.
  if (s.rank(bias) < rank && s.integer("is_inner_broadcast", 0) != 0) {
    Dims to = s.dims(bias);
    to.insert(to.begin() + std::min<int64_t>(axis, static_cast<int64_t>(to.size())) - 1,
              static_cast<size_t>(rank) - to.size(), 1);
    bias = s.reshape("bias", bias, to);
  }
  TensorId sum = s.add(op::kAdd, "sum", {x, bias});
  if (axis == rank - 1) return {s.add(op::kSoftmax, "", {sum}, {{"axis", "", int64_t{-1}}})};
  const Dims all = s.dims(x);
  Dims flat(all.begin(), all.begin() + axis);
  flat.push_back(elements(all, static_cast<size_t>(axis), all.size()));
  sum = s.add(op::kSoftmax, "softmax", {s.reshape("rows", sum, flat)}, {{"axis", "", int64_t{-1}}});
  return {s.reshape("", sum, all)};
}

TensorIds spell_swiglu(Spelling& s) {
  const TensorId x = s.input(0);
  if (s.has(1)) return {swiglu(s, x, s.input(1))};
  return {swiglu(s, half(s, "gate_half", x, 0), half(s, "up_half", x, 1))};
}
TensorIds spell_onnx_swiglu(Spelling& s) {
  return {s.add(op::kMul, "", {silu(s, "gate", s.input(0), s.real("alpha", 1)), s.input(1)})};
}
TensorIds spell_router_gate_up(Spelling& s) {
  const TensorId y = s.add(op::kMatMul, "product", {s.input(0), s.input(1)});
  const int64_t router = s.integer("router_size", 0), inter = (s.dim(y, -1) - router) / 2;
  const int64_t axis = s.rank(y) - 1;
  if (router < 1 || inter < 1) return s.refuse("its columns don't split"), TensorIds{};
  const TensorId gate = s.slice("gate_columns", y, axis, router, router + inter);
  const TensorId up = s.slice("up_columns", y, axis, router + inter, router + 2 * inter);
  return {s.slice("router", y, axis, 0, router), swiglu(s, gate, up)};
}
TensorIds spell_scaled_silu(Spelling& s) {
  const TensorId x = s.input(0);
  if (!s.has(1)) return {silu(s, "", scaled(s, "scaled", x, s.real("alpha", 1)))};
  return {silu(s, "", s.add(op::kMul, "scaled", {x, s.input(1)}))};
}
TensorIds spell_gated_add(Spelling& s) {
  TensorId gate = s.input(2);
  if (s.has(3))
    gate = s.add(op::kSigmoid, "gate", {s.add(op::kMatMul, "product", {gate, s.input(3)})});
  return {s.add(op::kAdd, "", {s.input(0), s.add(op::kMul, "scaled", {s.input(1), gate})})};
}
TensorIds spell_linear_attention_gate(Spelling& s) {
  const TensorId sum = s.add(op::kAdd, "sum", {s.input(0), s.input(1)});
  const TensorId decay =
      s.add(op::kMul, "decay", {s.add(op::kSoftplus, "softplus", {sum}), s.input(2)});
  return {decay, s.has(3) ? s.add(op::kSigmoid, "beta", {s.input(3)}) : kNoTensor};
}
TensorIds spell_complex_mul(Spelling& s) { return complex_product(s, false); }
TensorIds spell_complex_mul_conj(Spelling& s) { return complex_product(s, true); }

TensorIds spell_pre_mix(Spelling& s) {
  const Dims grouped = grouped_dims(s, s.input(0));
  const TensorId x = s.reshape("streams", s.input(0), grouped);
  const TensorId mixed = s.add(op::kMul, "mixed", {x, gates(s, "gates", s.input(1), grouped)});
  return {scaled(s, "scaled", over_branches(s, "sum", mixed), s.real("reduction_scale", 1))};
}
TensorIds spell_post_mix(Spelling& s) {
  const Dims all = s.dims(s.input(0)), grouped = grouped_dims(s, s.input(0));
  TensorId x = s.reshape("streams", s.input(0), grouped);
  if (s.has(3)) {  // sum_c mix[c, k] x[c, h]
    const int64_t rank = s.rank(s.input(3));
    std::vector<int64_t> perm;
    for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
    if (rank > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    x = s.add(op::kMatMul, "mixed", {s.transpose("mix", s.input(3), perm), x});
  }
  Dims one = grouped;
  one[one.size() - 2] = 1;
  const TensorId block = s.reshape("block", s.input(1), one);
  const TensorId added = s.add(op::kMul, "added", {block, gates(s, "gates", s.input(2), grouped)});
  return {s.reshape("", s.add(op::kAdd, "sum", {x, added}), all)};
}
TensorIds spell_low_rank_mix(Spelling& s) {
  const Dims all = s.dims(s.input(0)), grouped = grouped_dims(s, s.input(0));
  if (grouped.size() < 2) return {};
  TensorId x = s.reshape("streams", s.input(0), grouped);
  Dims one = grouped;
  one[one.size() - 2] = 1;
  if (s.has(5))
    x = s.add(op::kAdd, "entered",
              {x, s.add(op::kMul, "injected",
                        {s.reshape("block", s.input(5), one),
                         gates(s, "post_gate_before", s.input(6), grouped)})});
  const int64_t count = grouped[grouped.size() - 2], width = grouped.back();
  const TensorId ones =
      s.add(op::kExpand, "ones", {s.number("one", 1, s.dtype(x)), s.integers("width", {width})});
  TensorId normed = rms_norm(s, "norm", x, ones, s.real("epsilon", 1e-5));
  normed = s.add(op::kMul, "scaled", {normed, s.reshape("scale", s.input(1), Dims{count, width})});
  const TensorId flat = s.reshape("flat", normed, all);
  const TensorId down = scaled(s, "down_scaled", s.add(op::kMatMul, "down", {flat, s.input(2)}),
                               s.real("silu_alpha", 1));
  const TensorId up = s.add(op::kMatMul, "up", {silu(s, "hidden", down), s.input(3)});
  const TensorId gate = s.reshape("gate", s.add(op::kSigmoid, "gates", {up}), grouped);
  const TensorId pre =
      scaled(s, "pre_scaled", over_branches(s, "pre", s.add(op::kMul, "gated", {normed, gate})),
             s.real("reduction_scale", 1));
  TensorId inject = s.add(op::kMatMul, "inject", {flat, s.input(4)});
  inject = s.add(op::kSigmoid, "post", {scaled(s, "divided", inject, 1 / s.real("gate_div", 1))});
  return {pre, scaled(s, "post_scaled", inject, s.real("gate_mul", 1)),
          s.call().wants_output(2) ? s.reshape("streams_out", x, all) : kNoTensor};
}

TensorIds spell_engram_gate(Spelling& s) {
  const double epsilon = s.real("epsilon", 1e-5);
  const Dims all = s.dims(s.input(0));
  if (all.size() != 4) return s.refuse("its keys must have four dims"), TensorIds{};
  const TensorId ones = s.add(op::kExpand, "ones",
                              {s.number("one", 1, s.dtype(s.input(0))), s.integers("w", {all[3]})});
  const auto normed = [&](const std::string& what, TensorId x, TensorId scale) {
    return s.add(op::kMul, what, {rms_norm(s, what + "_norm", x, ones, epsilon), scale});
  };
  const TensorId product =
      s.add(op::kMul, "product",
            {normed("key", s.input(0), s.input(3)), normed("query", s.input(1), s.input(4))});
  TensorId dot = s.add(op::kReduceSum, "dot", {product, s.integers("dot_axis", {-1})});
  dot = scaled(s, "dot_scaled", dot, 1 / std::sqrt(static_cast<double>(all[3])));
  const TensorId size = s.add(
      op::kClip, "size", {s.add(op::kAbs, "abs", {dot}), s.number("least", 1e-6, s.dtype(dot))});
  const TensorId signed_root =
      s.add(op::kMul, "root", {s.add("Sign", "sign", {dot}), s.add(op::kSqrt, "sqrt", {size})});
  const TensorId value = s.reshape("value", s.input(2), Dims{all[0], all[1], 1, all[3]});
  const TensorId out =
      s.add(op::kMul, "gated", {s.add(op::kSigmoid, "gate", {signed_root}), value});
  return {out, s.call().wants_output(1) ? normed("gated_norm", out, s.input(5)) : kNoTensor};
}

TensorIds spell_gemma_rotary(Spelling& s) {
  const TensorId emb = s.input(0);
  const Dims dims = s.dims(emb);
  if (dims.size() != 3) return s.refuse("its embedding must have three dims"), TensorIds{};
  const Dims to{dims[0], 1, dims[1], dims[2]};
  const auto angles = [&](const std::string& name) {
    const TensorId a = s.add(name, name, {emb});
    const TensorId cast =
        s.dtype(a) == s.dtype(s.input(1)) ? a : s.add("CastLike", name + "_cast", {a, s.input(1)});
    return s.reshape(name + "_heads", cast, to);
  };
  const TensorId sine = angles("Sin"), cosine = angles("Cos");
  const auto turned = [&](const std::string& what, size_t x, size_t rotated) {
    return s.add(op::kAdd, what,
                 {s.add(op::kMul, what + "_cos", {s.input(x), cosine}),
                  s.add(op::kMul, what + "_sin", {s.input(rotated), sine})});
  };
  return {turned("q", 1, 2), turned("k", 3, 4)};
}

}  // namespace accsim::sim
