#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// The node itself, as the operator of ai.onnx of that name.
TensorIds same_as(Spelling& s, const std::string& name, size_t outputs = 1) {
  return s.add_all("", name, "", s.call().inputs, outputs, s.call().attributes);
}

TensorId cast(Spelling& s, const std::string& what, TensorId x, DType to) {
  if (x == kNoTensor || s.dtype(x) == to) return x;
  return s.add(op::kCast, what, {x}, {{"to", "", static_cast<int64_t>(to)}});
}

/// Bucket of a distance from query to key, as T5 has them.
int64_t bucket_of(int64_t distance, bool both_ways, int64_t buckets, int64_t most) {
  int64_t out = 0, n = -distance;
  if (both_ways) {
    buckets /= 2;
    out = n < 0 ? buckets : 0;
    n = std::abs(n);
  } else {
    n = std::max<int64_t>(n, 0);
  }
  const int64_t exact = buckets / 2;
  if (n < exact) return out + n;
  const double scaled = std::log(static_cast<double>(n) / static_cast<double>(exact)) /
                        std::log(static_cast<double>(most) / static_cast<double>(exact)) *
                        static_cast<double>(buckets - exact);
  return out + std::min(exact + static_cast<int64_t>(scaled), buckets - 1);
}

}  // namespace

TensorIds spell_gather_nd(Spelling& s) { return same_as(s, "GatherND"); }
TensorIds spell_trilu(Spelling& s) { return same_as(s, "Trilu"); }
TensorIds spell_range(Spelling& s) { return same_as(s, "Range"); }
TensorIds spell_resize(Spelling& s) { return same_as(s, "Resize"); }
TensorIds spell_identity(Spelling& s) { return same_as(s, op::kIdentity); }

TensorIds spell_expand_dims(Spelling& s) {
  const std::vector<int64_t> axis = s.known_integers(s.input(1));
  if (axis.size() != 1) return s.refuse("its axis is only known in a run"), TensorIds{};
  return {s.add(op::kUnsqueeze, "", {s.input(0), s.integers("axis", axis)})};
}

TensorIds spell_ms_pad(Spelling& s) {
  TensorId pads = s.input(1), value = s.input(2);
  if (s.rank(pads) == 2) pads = s.reshape("pads", pads, Dims{s.dim(pads, 1)});
  if (s.rank(value) == 1) value = s.reshape("value", value, Dims{});
  return {s.add(op::kPad, "", {s.input(0), pads, value}, s.call().attributes)};
}

TensorIds spell_torch_embedding(Spelling& s) {
  return {s.add(op::kGather, "", {s.input(0), s.input(1)}, {{"axis", "", int64_t{0}}})};
}

TensorIds spell_unique(Spelling& s) {
  const TensorIds made = s.add_all("", "Unique", "", {s.input(0)}, 4, {{"sorted", "", int64_t{0}}});
  return {made[0], made[2], made[3]};
}

TensorIds spell_transpose_matmul(Spelling& s) {
  return s.add_all(std::string(kMicrosoft), "FusedMatMul", "", s.call().inputs, 1,
                   s.call().attributes);
}

TensorIds spell_grid_sample(Spelling& s) {
  std::vector<Attribute> attributes = s.call().attributes;
  for (Attribute& a : attributes)
    if (const auto* mode = held_value<std::string>(&a); mode != nullptr && a.name == "mode")
      a.value = std::string(*mode == "bilinear" ? "linear" : *mode == "bicubic" ? "cubic" : *mode);
  return {s.add("GridSample", "", {s.input(0), s.input(1)}, attributes)};
}

TensorIds spell_mul_integer(Spelling& s) {
  const auto operand = [&](const std::string& what, size_t i) {
    const TensorId x = cast(s, what, s.input(i), DType::int32);
    if (!s.has(i + 1)) return x;
    return s.add(op::kSub, what + "_centred",
                 {x, cast(s, what + "_zero_point", s.input(i + 1), DType::int32)});
  };
  return {s.add(op::kMul, "", {operand("a", 0), operand("b", 2)})};
}

TensorIds spell_reduce_sum_integer(Spelling& s) {
  const DType type = s.dtype(s.input(0)) == DType::int8 ? DType::int32 : DType::uint32;
  return {s.add(
      op::kReduceSum, "",
      {cast(s, "wide", s.input(0), type), s.integers("axes", s.call().integers_attribute("axes"))},
      {{"keepdims", "", s.integer("keepdims", 1)}})};
}

TensorIds spell_matmul_int16(Spelling& s) {
  return {s.add(op::kMatMul, "",
                {cast(s, "a", s.input(0), DType::int32), cast(s, "b", s.input(1), DType::int32)})};
}

TensorIds spell_cdist(Spelling& s) {
  const TensorId a = s.input(0), b = s.input(1);
  const std::string metric = s.text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    return s.refuse(fmt::format("its metric '{}' isn't spelled out", metric)), TensorIds{};
  const auto squares = [&](const std::string& what, TensorId x) {
    return s.add("ReduceSumSquare", what, {x, s.integers(what + "_axis", {1})});
  };
  const TensorId product = s.add(op::kMatMul, "product", {a, s.transpose("turned", b, {1, 0})});
  const TensorId twice = s.add(op::kMul, "twice", {product, s.number("factor", -2, s.dtype(a))});
  const TensorId sums = s.add(op::kAdd, "left", {twice, squares("a2", a)});
  TensorId out = s.add(op::kAdd, "both", {sums, s.transpose("row", squares("b2", b), {1, 0})});
  out = s.add(op::kMax, "at_least_0", {out, s.number("least", 0, s.dtype(a))});
  return {metric == "euclidean" ? s.add(op::kSqrt, "", {out}) : out};
}

TensorIds spell_conv_transpose_pads(Spelling& s) {
  std::vector<Attribute> attributes = s.call().attributes;
  if (s.has(2)) {
    const std::vector<int64_t> pads = s.known_integers(s.input(2));
    if (pads.empty()) return s.refuse("its pads are only known in a run"), TensorIds{};
    attributes.push_back({"pads", "", pads});
  }
  return {s.add("ConvTranspose", "", {s.input(0), s.input(1), s.input(3)}, attributes)};
}

TensorIds spell_rfft(Spelling& s) {
  if (s.integer("signal_ndim", 1) != 1) return s.refuse("only one dim is spelled out"), TensorIds{};
  const TensorId x = s.add(op::kUnsqueeze, "real", {s.input(0), s.integers("axis", {-1})});
  return {s.add("DFT", "", {x, kNoTensor, s.number("dft_axis", -2, DType::int64)},
                {{"onesided", "", int64_t{1}}})};
}

TensorIds spell_irfft(Spelling& s) {
  if (s.integer("signal_ndim", 1) != 1) return s.refuse("only one dim is spelled out"), TensorIds{};
  const TensorId x = s.input(0);
  const int64_t rank = s.rank(x), half = s.dim(x, -2);
  if (half < 2 || half > s.most_values())
    return s.refuse("its signal is too short or too long"), TensorIds{};
  // The other half of the spectrum mirrors this one, conjugate.
  std::vector<int64_t> back;
  for (int64_t i = half - 2; i > 0; --i) back.push_back(i);
  TensorId all = x;
  if (!back.empty()) {
    const TensorId mirrored =
        s.add(op::kGather, "mirrored", {x, s.integers("back", back)}, {{"axis", "", rank - 2}});
    const TensorId real = s.slice("real", mirrored, rank - 1, 0, 1);
    const TensorId minus =
        s.add(op::kNeg, "minus", {s.slice("imaginary", mirrored, rank - 1, 1, 2)});
    const TensorId conjugate =
        s.add(op::kConcat, "conjugate", {real, minus}, {{"axis", "", int64_t{-1}}});
    all = s.add(op::kConcat, "spectrum", {x, conjugate}, {{"axis", "", rank - 2}});
  }
  const TensorId y = s.add("DFT", "dft", {all, kNoTensor, s.number("dft_axis", -2, DType::int64)},
                           {{"inverse", "", int64_t{1}}});
  Dims out = s.dims(y);
  if (!out.empty()) out.pop_back();
  return {s.reshape("", s.slice("of_reals", y, rank - 1, 0, 1), out)};
}

TensorIds spell_unfold(Spelling& s) {
  const TensorId x = s.input(0);
  const int64_t rank = s.rank(x), size = s.integer("size", 0), step = s.integer("step", 1);
  int64_t axis = s.integer("dim", -1);
  if (axis < 0) axis += rank;
  const int64_t length = s.dim(x, axis);
  if (axis < 0 || axis >= rank || size < 1 || step < 1 || size > length)
    return s.refuse("its windows don't fit the dim"), TensorIds{};
  const int64_t count = (length - size) / step + 1;
  if (count > s.most_values() / size) return s.refuse("it has too many windows"), TensorIds{};
  std::vector<int64_t> at;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < size; ++j) at.push_back(i * step + j);
  const TensorId windows = s.add(
      op::kGather, "windows", {x, s.integers("at", Dims{count, size}, at)}, {{"axis", "", axis}});
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= rank; ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  return {s.transpose("", windows, perm)};
}

TensorIds spell_restore_padding(Spelling& s) {
  const TensorId x = s.input(0);
  const int64_t batch = s.dim(s.input(1), 0), tokens = s.dim(s.input(1), 1);
  const TensorId rows = token_rows(s, s.input(1), s.dim(x, 0));
  const TensorId padded =
      s.add("ScatterND", "padded",
            {s.zeros("zeros", Dims{batch * tokens, s.dim(x, 1)}, s.dtype(x)), rows, x});
  return {s.reshape("", padded, Dims{batch, tokens, s.dim(x, 1)})};
}

TensorId token_rows(Spelling& s, TensorId offsets, int64_t count) {
  const TensorId flat = s.reshape("offsets", offsets, Dims{s.dim(offsets, 0) * s.dim(offsets, 1)});
  const TensorId first = s.slice("rows", flat, 0, 0, count);
  return cast(s, "row_indices", s.reshape("row_column", first, Dims{count, 1}), DType::int64);
}

TensorIds spell_relative_position_bias(Spelling& s) {
  const std::vector<int64_t> q = s.known_integers(s.input(1)), k = s.known_integers(s.input(2));
  if (q.size() != 1 || k.size() != 1)
    return s.refuse("its lengths are only known in a run"), TensorIds{};
  const int64_t buckets = s.dim(s.input(0), 0), heads = s.dim(s.input(0), 1);
  if (q[0] < 0 || k[0] < 1 || q[0] > s.most_values() / k[0])
    return s.refuse("its lengths are too large"), TensorIds{};
  const bool both = s.integer("is_bidirectional", 0) != 0;
  const int64_t most = s.integer("max_distance", 128);
  if (buckets < 4 || most <= buckets)
    return s.refuse("it has too few buckets, or distances that aren't more"), TensorIds{};
  std::vector<int64_t> at;
  for (int64_t i = 0; i < q[0]; ++i)
    for (int64_t j = 0; j < k[0]; ++j) at.push_back(bucket_of(j - i, both, buckets, most));
  // The table lies column by column: a head's buckets behind each other.
  const TensorId table = s.reshape("table", s.input(0), Dims{heads, buckets});
  const TensorId rows =
      s.add(op::kGather, "biases", {table, s.integers("at", Dims{q[0], k[0]}, at)},
            {{"axis", "", int64_t{1}}});
  return {s.reshape("", rows, Dims{1, heads, q[0], k[0]})};
}

TensorIds spell_gated_position_bias(Spelling& s) {
  if (s.has(6)) return s.refuse("its tokens are packed"), TensorIds{};
  const int64_t heads = s.integer("num_heads", 0);
  const Dims x = s.dims(s.input(0));
  if (x.size() != 3 || heads < 1 || x[2] % heads != 0)
    return s.refuse("its query must be batch x tokens x (heads x size)"), TensorIds{};
  const int64_t size = x[2] / heads, columns = s.dim(s.input(3), 1) / 2;
  TensorId q = s.add(op::kAdd, "biased", {s.input(0), s.input(1)});
  q = s.transpose("heads", s.reshape("split", q, Dims{x[0], x[1], heads, size}), {0, 2, 1, 3});
  const TensorId ur =
      s.add(op::kAdd, "ur", {s.add(op::kMatMul, "product", {q, s.input(3)}), s.input(4)});
  const TensorId pairs = s.reshape("pairs", ur, Dims{x[0], heads, x[1], 2, columns});
  const TensorId sums = s.add(op::kReduceSum, "sums", {pairs, s.integers("sum_axis", {-1})},
                              {{"keepdims", "", int64_t{0}}});
  const TensorId gates = s.add(op::kSigmoid, "gates", {sums});
  const TensorId u = s.slice("u", gates, 3, 0, 1), r = s.slice("r", gates, 3, 1, 2);
  const DType type = s.dtype(q);
  const TensorId minus =
      s.add(op::kSub, "minus", {s.add(op::kMul, "eco", {r, s.input(5)}), s.number("one", 1, type)});
  const TensorId gate =
      s.add(op::kAdd, "gate", {s.add(op::kMul, "of_u", {u, minus}), s.number("two", 2, type)});
  return {s.add(op::kMul, "", {gate, s.input(2)})};
}

}  // namespace accsim::sim
