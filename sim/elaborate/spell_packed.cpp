#include <fmt/format.h>

#include "sim/elaborate/fused_activation.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Where the weights of one MatMulNBits stand among the node's inputs.
struct PackedWeights {
  size_t weights, scales, bias;
  int64_t columns;
};

/// MatMulNBits of x by those weights, with the node's own bits and block size.
TensorId packed_product(Spelling& s, const std::string& what, TensorId x, const PackedWeights& w) {
  const std::vector<Attribute> attributes{{"K", "", s.integer("K", 0)},
                                          {"N", "", w.columns},
                                          {"bits", "", s.integer("bits", 4)},
                                          {"block_size", "", s.integer("block_size", 32)}};
  return s.add_all(std::string(kMicrosoft), "MatMulNBits", what,
                   {x, s.input(w.weights), s.input(w.scales), kNoTensor, kNoTensor,
                    w.bias == 0 ? kNoTensor : s.input(w.bias)},
                   1, attributes)[0];
}

/// What the products of MatMulNBitsMlp and MatMulNBitsQkv read, and the sum before its norm.
struct Normed {
  TensorId x = kNoTensor, sum = kNoTensor;
};
Normed normed_input(Spelling& s) {
  Normed out{s.input(0), s.input(0)};
  if (s.has(1)) out.x = out.sum = s.add(op::kAdd, "sum", {s.input(0), s.input(1)});
  if (s.has(2)) out.x = rms_norm(s, "norm", out.x, s.input(2), s.real("epsilon", 1e-5));
  return out;
}

}  // namespace

TensorIds spell_nbits_mlp(Spelling& s) {
  const int64_t n = s.integer("N", 0);
  const Normed in = normed_input(s);
  const TensorId gate = packed_product(s, "gate", in.x, {3, 4, 5, n});
  const TensorId up = packed_product(s, "up", in.x, {6, 7, 8, n});
  const std::string activation = s.text("activation", "");
  TensorId factor = kNoTensor;
  if (activation == "silu" || activation == "swish")
    factor = silu(s, "activation", gate);
  else if (activation == "gelu")
    factor = gelu(s, "activation", gate, false);
  else if (activation == "relu")
    factor = s.add(op::kRelu, "activation", {gate});
  else
    s.refuse(fmt::format("its activation '{}' isn't known", activation));
  return {s.add(op::kMul, "", {factor, up}), s.call().wants_output(1) ? in.sum : kNoTensor};
}

TensorIds spell_nbits_qkv(Spelling& s) {
  const int64_t nq = s.integer("Nq", 0), nkv = s.integer("Nkv", 0);
  const Normed in = normed_input(s);
  return {packed_product(s, "q", in.x, {3, 4, 5, nq}), packed_product(s, "k", in.x, {6, 7, 8, nkv}),
          packed_product(s, "v", in.x, {9, 10, 11, nkv}),
          s.call().wants_output(3) ? in.sum : kNoTensor};
}

TensorIds spell_nbits_lora(Spelling& s) {
  const int64_t k = s.integer("K", 0), n = s.integer("N", 0), rank = s.dim(s.input(3), 0);
  const auto product = [&](const std::string& what, TensorId x, size_t weights, int64_t from,
                           int64_t to, bool adapter) {
    const std::vector<Attribute> attributes{
        {"K", "", from},
        {"N", "", to},
        {"bits", "", s.integer(adapter ? "lora_bits" : "bits", adapter ? 8 : 4)},
        {"block_size", "", s.integer(adapter ? "lora_block_size" : "block_size", 32)}};
    return s.add_all(std::string(kMicrosoft), "MatMulNBits", what,
                     {x, s.input(weights), s.input(weights + 1)}, 1, attributes)[0];
  };
  const TensorId base = product("base", s.input(0), 1, k, n, false);
  if (rank < 1) return {base};
  const TensorId down = product("down", s.input(0), 3, k, rank, true);
  return {s.add(op::kAdd, "", {base, product("up", down, 5, rank, n, true)})};
}

TensorIds spell_fp8_matmul(Spelling& s) {
  const TensorId a = s.input(0);
  const std::vector<Attribute> blocks{{"axis", "", int64_t{1}},
                                      {"block_size", "", s.integer("block_size", 128)}};
  TensorId w = s.add("DequantizeLinear", "weights", {s.input(1), s.input(2)}, blocks);
  w = s.transpose("columns", w, {1, 0});
  if (s.dtype(w) != s.dtype(a)) w = s.add("CastLike", "cast", {w, a});
  TensorId x = a;
  if (s.has(3)) {
    const TensorId scale = s.dtype(s.input(3)) == s.dtype(a)
                               ? s.input(3)
                               : s.add("CastLike", "scale", {s.input(3), a});
    const TensorId zero = s.number("zero_point", 0, s.dtype(s.input(1)));
    x = s.add("DequantizeLinear", "rounded",
              {s.add("QuantizeLinear", "codes", {a, scale, zero}), scale, zero});
  }
  TensorId y = s.add(op::kMatMul, "product", {x, w});
  if (s.has(4)) y = s.add(op::kAdd, "sum", {y, s.input(4)});
  return {y};
}

}  // namespace accsim::sim
