#include "sim/elaborate/fused_activation.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

constexpr int64_t kLastAxis = -1;

/// The sum of inputs 0 and 1, and of the bias, which goes to the product that it stands behind.
TensorId residual_sum(Spelling& s, TensorId bias) {
  TensorId x = s.input(0), skip = s.input(1);
  if (bias != kNoTensor) {
    TensorId& biased = s.is_product(skip) && !s.is_product(x) ? skip : x;
    biased = s.add(op::kAdd, "biased", {biased, bias});
  }
  return s.add(op::kAdd, "sum", {x, skip});
}

/// Output i where it is asked for.
TensorId wanted(const Spelling& s, size_t i, TensorId id) {
  return s.call().wants_output(i) ? id : kNoTensor;
}

}  // namespace

TensorIds spell_skip_layer_norm(Spelling& s) {
  const TensorId sum = residual_sum(s, s.input(4));
  const bool statistics = s.call().wants_output(1) || s.call().wants_output(2);
  const TensorIds norm =
      s.add_all("", "LayerNormalization", "norm", {sum, s.input(2), s.input(3)}, statistics ? 3 : 1,
                {{"axis", "", kLastAxis}, {"epsilon", "", s.real("epsilon", 1e-12)}});
  const TensorId none = kNoTensor;
  return {norm[0], wanted(s, 1, statistics ? norm[1] : none),
          wanted(s, 2, statistics ? norm[2] : none), wanted(s, 3, sum)};
}

TensorIds spell_skip_rms_norm(Spelling& s) {
  if (s.call().wants_output(1) || s.call().wants_output(2)) return {};
  const TensorId sum = residual_sum(s, s.input(3));
  return {rms_norm(s, "norm", sum, s.input(2), s.real("epsilon", 1e-12)), kNoTensor, kNoTensor,
          wanted(s, 3, sum)};
}

TensorIds spell_group_norm(Spelling& s) {
  TensorId x = s.input(0), skip = s.input(3);
  const bool last = s.integer("channels_last", 1) != 0;
  if (s.rank(x) < 3) return {};
  const int64_t channels = last ? s.dim(x, -1) : s.dim(x, 1);
  if (s.has(4)) {  // one a channel
    const TensorId bias = last ? s.input(4) : s.reshape("bias", s.input(4), Dims{channels, 1, 1});
    x = s.add(op::kAdd, "biased", {x, bias});
  }
  if (skip != kNoTensor) {
    if (s.rank(skip) == 2) {
      Dims to(static_cast<size_t>(s.rank(x)), 1);
      to[0] = s.dim(skip, 0);
      (last ? to.back() : to[1]) = channels;
      skip = s.reshape("skip", skip, to);
    }
    x = s.add(op::kAdd, "sum", {x, skip});
  }
  const TensorId y =
      s.add("GroupNormalization", "norm",
            {last ? s.channels_first("input", x) : x, s.input(1), s.input(2)},
            {{"num_groups", "", s.integer("groups", 0)}, {"epsilon", "", s.real("epsilon", 1e-5)}});
  const TensorId behind = s.integer("activation", 0) != 0 ? silu(s, "activation", y) : y;
  return {last ? s.channels_last("output", behind) : behind, wanted(s, 1, x)};
}

TensorIds spell_embed_layer_norm(Spelling& s) {
  const TensorId ids = s.input(0);
  const std::vector<Attribute> rows{{"axis", "", int64_t{0}}};
  const TensorId words = s.add(op::kGather, "words", {s.input(2), ids}, rows);
  const TensorId positions = s.has(8)
                                 ? s.add(op::kGather, "positions", {s.input(3), s.input(8)}, rows)
                                 : s.slice("positions", s.input(3), 0, 0, s.dim(ids, 1));
  const bool has_segments = s.has(4) && s.has(1);
  const TensorId segments =
      has_segments ? s.add(op::kGather, "segments", {s.input(4), s.input(1)}, rows) : kNoTensor;
  TensorId sum = s.add(op::kAdd, "sum", {words, positions});
  if (has_segments) sum = s.add(op::kAdd, "sum_of_all", {sum, segments});
  const TensorId norm = s.add("LayerNormalization", "norm", {sum, s.input(5), s.input(6)},
                              {{"axis", "", kLastAxis}, {"epsilon", "", s.real("epsilon", 1e-12)}});
  TensorId index = kNoTensor;
  if (s.call().wants_output(1))
    index = s.has(7)
                ? s.add(op::kReduceSum, "mask_index", {s.input(7), s.integers("mask_axis", {1})},
                        {{"keepdims", "", int64_t{0}}})
                : s.zeros("mask_index", Dims{s.dim(ids, 0)}, DType::int32);
  return {norm, index, wanted(s, 2, sum)};
}

TensorIds spell_gated_rms_norm(Spelling& s) {
  const TensorId x = s.input(0), gate = s.input(2);
  const int64_t width = s.dim(s.input(1), -1);
  const Dims all = s.dims(x);
  const bool heads = !all.empty() && width > 0 && all.back() != width;
  if (width < 1 || all.empty() || all.back() % width != 0)
    s.refuse("its last dim is no multiple of the scale's");
  Dims split = all;
  if (heads && width > 0) {
    split.back() /= width;
    split.push_back(width);
  }
  const double epsilon = s.real("epsilon", 1e-5);
  TensorId y = rms_norm(s, "norm", heads ? s.reshape("heads", x, split) : x, s.input(1), epsilon);
  if (heads) y = s.reshape("together", y, all);
  const std::string activation = s.text("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    s.refuse("its activation is none of silu, swish and sigmoid");
  const TensorId factor =
      activation == "sigmoid" ? s.add(op::kSigmoid, "gate", {gate}) : silu(s, "gate", gate);
  return {s.add(op::kMul, "", {y, factor})};
}

TensorIds spell_branchwise_rms_norm(Spelling& s) {
  const TensorId x = s.input(0);
  const Dims all = s.dims(x);
  const int64_t branches = s.integer("num_branches", 0);
  if (all.size() < 2 || (branches > 0 && all.back() % branches != 0))
    s.refuse("its last dim doesn't split into branches");
  if (!s.errors().empty()) return {};
  Dims split = all;
  if (branches > 0) {
    split.back() /= branches;
    split.insert(split.end() - 1, branches);
  }
  const int64_t count = split[split.size() - 2], width = split.back();
  const double epsilon = s.real("epsilon", 1e-5);
  TensorId ones = s.number("one", 1, s.dtype(x));
  TensorId y = branches > 0 ? s.reshape("branches", x, split) : x;
  const bool shared = s.has(1) && s.dims(s.input(1)) == Dims{width};
  if (!shared) ones = s.add(op::kExpand, "ones", {ones, s.integers("width", {width})});
  y = rms_norm(s, "norm", y, shared ? s.input(1) : ones, epsilon);
  if (s.has(1) && !shared)
    y = s.add(op::kMul, "scaled", {y, s.reshape("scale", s.input(1), Dims{count, width})});
  return {branches > 0 ? s.reshape("", y, all) : y};
}

}  // namespace accsim::sim
