#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/matmul/attention_rules.h"
#include "sim/operators/norm/norm_rules.h"
#include "sim/operators/norm/row_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

VectorOp norm_op(const NodeView& node, int64_t row) {
  VectorOp op = vector_op(node);
  const int64_t count = input_size(node, 0);
  op[VectorClass::reduce] = capped_product({2, count});
  op[VectorClass::elementwise] = capped_product({2, count});
  op[VectorClass::special] = row > 0 ? count / row : 0;
  op.row = std::max<int64_t>(row, 1);
  op.passes = 3;
  return op;
}

namespace {

Status want_per_channel(const NodeView& node, size_t i, int64_t channels) {
  if (!node.has_input(i) || node.dims(i) == Dims{channels}) return ok();
  return bad_node(node, fmt::format("input {} of shape {} must have {} elements, one per channel",
                                    i, to_string(node.dims(i)), channels));
}

// --- BatchNormalization ---

bool is_training(const NodeView& node) { return int_attr(node, "training_mode", 0) != 0; }

Status batch_norm_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  const Dims& x = node.dims(0);
  // Before opset 9, spatial = 0 kept statistics per element.
  Dims stats{x.size() > 1 ? x[1] : 1};
  if (node.opset() < 9 && int_attr(node, "spatial", 1) == 0) stats.assign(x.begin() + 1, x.end());
  for (size_t i = 1; i <= 4; ++i)
    if (node.dims(i) != stats)
      return bad_node(node, fmt::format("input {} of shape {} must be {}", i,
                                        to_string(node.dims(i)), to_string(stats)));
  if (Status s = set_shape(node, 0, node.dtype(0), x); !s) return s;
  if (node.opset() >= 14 && !is_training(node) && (node.has_output(1) || node.has_output(2)))
    return bad_node(node, "running mean and variance are outputs only with training_mode = 1");
  for (size_t i = 1; i < node.output_count(); ++i)
    if (Status s = set_if_wanted(node, i, node.dtype(3), stats); !s) return s;
  return ok();
}

/// Of constants, y = factor x + addend for each channel: a depthwise convolution of one tap, whose
/// weights and biases are known off line. nullopt where it isn't.
std::optional<GemmOp> scaled_channels(const NodeView& node) {
  const Dims& x = node.dims(0);
  if (is_training(node) || x.size() < 2 || x.size() > 5 || node.dims(1) != Dims{x[1]})
    return std::nullopt;
  for (size_t port = 1; port < node.input_count(); ++port)
    if (!node.input(port).constant) return std::nullopt;
  for (size_t i = 1; i < node.output_count(); ++i)
    if (node.has_output(i)) return std::nullopt;
  GemmOp op;
  op.grouped = x[1] > 1;
  op.batch = x[1];
  op.images = x[0];
  for (size_t d = 2; d < x.size(); ++d) op.in[3 - x.size() + d] = x[d];
  op.out = op.in;
  op.bias_port = op.b_port;  // both are made of all constants
  return op;
}

Result<Work> batch_norm_cost(const NodeView& node) {
  if (const auto product = scaled_channels(node)) return checked_work(node, {*product});
  const int64_t count = input_size(node, 0), channels = input_size(node, 1);
  VectorOp op = norm_op(node, 1);
  op[VectorClass::special] = 0;
  op.passes = 1;
  if (is_training(node)) {
    op.row = channels > 0 ? std::max<int64_t>(count / channels, 1) : 1;
    op[VectorClass::special] = channels;
    op.passes = 3;
  } else {  // mean and variance have been folded into scale and shift
    op[VectorClass::reduce] = 0;
  }
  return checked_work(node, {op});
}

// --- Instance, group, RMS and the others that keep the shape ---

Status instance_norm_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  for (size_t i : {size_t{1}, size_t{2}})
    if (Status s = want_per_channel(node, i, node.dims(0)[1]); !s) return s;
  return same_shape(node);
}

Result<Work> instance_norm_cost(const NodeView& node) {
  const Dims& x = node.dims(0);
  return checked_work(node, {norm_op(node, elements(x, 2, x.size()))});
}

Status group_norm_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  const int64_t groups = int_attr(node, "num_groups", 0), channels = node.dims(0)[1];
  if (groups < 1 || channels % groups != 0)
    return bad_node(
        node, fmt::format("{} channels don't split into {} groups (num_groups)", channels, groups));
  // Opset 18 had scale and bias per group; 21 made them per channel.
  for (size_t i : {size_t{1}, size_t{2}})
    if (Status s = want_per_channel(node, i, node.opset() < 21 ? groups : channels); !s) return s;
  return same_shape(node);
}

Result<Work> group_norm_cost(const NodeView& node) {
  const Dims& x = node.dims(0);
  const int64_t groups = std::max<int64_t>(int_attr(node, "num_groups", 1), 1);
  return checked_work(node, {norm_op(node, elements(x, 1, x.size()) / groups)});
}

/// The row that the last dims from `axis` on make; layer and RMS normalisation.
Result<int64_t> row_from_axis(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis) return axis.errors();
  return elements(node.dims(0), static_cast<size_t>(*axis), node.dims(0).size());
}

/// Scale and bias must broadcast to the normalised dims without widening the input.
Status check_affine(const NodeView& node, size_t i) {
  if (!node.has_input(i) || broadcast_dims(node.dims(i), node.dims(0)) == node.dims(0)) return ok();
  return bad_node(node, fmt::format("input {} of shape {} doesn't broadcast to {}", i,
                                    to_string(node.dims(i)), to_string(node.dims(0))));
}

Status rms_norm_rule(InferContext& node) {
  if (const Result<int64_t> row = row_from_axis(node); !row) return row.errors();
  if (Status s = check_affine(node, 1); !s) return s;
  return set_shape(node, 0, node.dtype(1), node.dims(0));
}

Result<Work> lrn_cost(const NodeView& node) {
  const int64_t size = int_attr(node, "size", 0), count = input_size(node, 0);
  VectorOp op = vector_op(node);
  op[VectorClass::elementwise] = capped_product({count, std::max<int64_t>(size, 1)});
  op[VectorClass::special] = count;
  return checked_work(node, {op});
}

Status lrn_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  if (int_attr(node, "size", 0) < 1) return bad_node(node, "attribute 'size' must be at least 1");
  return same_shape(node);
}

Status lp_norm_rule(InferContext& node) {
  if (const Result<int64_t> axis = axis_attr(node, -1, node.rank(0)); !axis) return axis.errors();
  if (const int64_t p = int_attr(node, "p", 2); p != 1 && p != 2)
    return bad_node(node, fmt::format("attribute 'p' is {}, not 1 or 2", p));
  return same_shape(node);
}

Result<Work> lp_norm_cost(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  if (!axis) return axis.errors();
  VectorOp op = norm_op(node, node.dims(0)[static_cast<size_t>(*axis)]);
  op[VectorClass::reduce] = input_size(node, 0);
  op.passes = 2;
  return checked_work(node, {op});
}

Result<std::vector<int64_t>> mvn_axes(const NodeView& node) {
  Result<std::vector<int64_t>> axes =
      normalize_axes(node.attr("axes", std::vector<int64_t>{0, 2, 3}), node.rank(0));
  if (!axes) return bad_node(node, axes.errors().front().message);
  return axes;
}

Status mvn_rule(InferContext& node) {
  if (const auto axes = mvn_axes(node); !axes) return axes.errors();
  return same_shape(node);
}

Result<Work> mvn_cost(const NodeView& node) {
  const auto axes = mvn_axes(node);
  if (!axes) return axes.errors();
  int64_t row = 1;
  for (int64_t a : *axes) row = capped_product({row, node.dims(0)[static_cast<size_t>(a)]});
  return checked_work(node, {norm_op(node, row)});
}

// --- RotaryEmbedding ---

Status rotary_rule(InferContext& node) {
  if (node.rank(0) != 3 && node.rank(0) != 4)
    return bad_node(node, fmt::format("input 0 must have rank 3 or 4, not {}", node.rank(0)));
  if (node.rank(0) == 3) {
    const auto size = head_size(node, node.dims(0)[2], int_attr(node, "num_heads", 0));
    if (!size)
      return bad_node(node, "a 3-D input needs attribute 'num_heads' that divides its channels");
  }
  const int64_t angles = node.has_input(3) ? 2 : 3;
  for (size_t i : {size_t{1}, size_t{2}})
    if (Status s = want_rank(node, i, angles); !s) return s;
  return same_shape(node);
}

Result<Work> rotary_cost(const NodeView& node) { return rotary_cost_at(node, 3, 1, 2); }

}  // namespace

Result<Work> rotary_cost_at(const NodeView& node, size_t ids, size_t cos, size_t sin) {
  const Dims& x = node.dims(0);
  const int64_t heads = x.size() == 3 ? int_attr(node, "num_heads", 0) : 0;
  // Without heads stated, two angles' width is the head, as the caches were made for it.
  const int64_t width = capped_product({2, node.dims(cos).empty() ? 0 : node.dims(cos).back()});
  const int64_t head = heads > 0 ? x.back() / heads : x.size() == 4 ? x.back() : width;
  const int64_t part = int_attr(node, "rotary_embedding_dim", 0);
  const int64_t rotated_width = part > 0 && part < head ? part : head;
  const int64_t count = input_size(node, 0);
  const int64_t rotated = head > 0 ? capped_product({count / head, rotated_width}) : 0;
  VectorOp op;
  read_input(node, 0, op.inputs);
  if (node.has_input(ids)) {  // rows of the caches are gathered, one a token
    read_input(node, ids, op.inputs);
    const int64_t tokens = capped_product({x[0], x.size() == 4 ? x[2] : x[1]});
    for (size_t cache : {cos, sin})
      read_part(node, cache, capped_product({tokens, rotated_width / 2}), rotated_width / 2,
                op.inputs);
  } else {
    read_input(node, cos, op.inputs);
    read_input(node, sin, op.inputs);
  }
  write_output(node, 0, op.outputs);
  op[VectorClass::elementwise] = capped_product({3, rotated});  // two products and a sum an element
  return checked_work(node, {op});
}

Status layer_norm_outputs(InferContext& node, size_t mean, size_t deviation) {
  if (const Result<int64_t> row = row_from_axis(node); !row) return row.errors();
  for (size_t i : {size_t{1}, size_t{2}})
    if (Status s = check_affine(node, i); !s) return s;
  const Result<DType> stash = dtype_attr(node, "stash_type", DType::float32);
  if (!stash) return stash.errors();
  const Result<int64_t> axis = axis_attr(node, -1, node.rank(0));
  Dims stats = node.dims(0);
  std::fill(stats.begin() + static_cast<ptrdiff_t>(*axis), stats.end(), 1);
  for (size_t i : {mean, deviation})
    if (i > 0)
      if (Status s = set_if_wanted(node, i, *stash, stats); !s) return s;
  return same_shape(node);
}

Status layer_norm_rule(InferContext& node) { return layer_norm_outputs(node, 1, 2); }
Status simplified_layer_norm_rule(InferContext& node) { return layer_norm_outputs(node, 0, 1); }

Result<Work> layer_norm_cost(const NodeView& node) {
  const Result<int64_t> row = row_from_axis(node);
  if (!row) return row.errors();
  return checked_work(node, {norm_op(node, *row)});
}

Result<Work> simplified_layer_norm_cost(const NodeView& node) {
  const Result<int64_t> row = row_from_axis(node);
  if (!row) return row.errors();
  VectorOp op = norm_op(node, *row);
  // One sum (of squares) instead of mean and variance.
  op[VectorClass::reduce] = input_size(node, 0);
  op.passes = 2;
  return checked_work(node, {op});
}

namespace {

constexpr OpRow kNormOperators[] = {
    {.name = "BatchNormalization",
     .ports = {{"X"},
               {"scale", PortRole::gain},
               {"B", PortRole::shift},
               {"input_mean", PortRole::mean},
               {"input_var", PortRole::variance}},
     .attributes = {"epsilon", "momentum", "spatial", "training_mode"},
     .shape = batch_norm_rule,
     .cost = batch_norm_cost,
     .kind = OpKind::normalization,
     .in_place = true,
     .weights = WeightLayout::gain,
     .fusion = Fusion::affine},
    {.name = "InstanceNormalization",
     .ports = {{"input"}, {"scale", PortRole::gain}, {"B", PortRole::shift}},
     .attributes = {"epsilon"},
     .shape = instance_norm_rule,
     .cost = instance_norm_cost,
     .rows = instance_norm_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::channels_last},
    // Since 17, but optimised older models have it too, in this domain.
    {.name = "LayerNormalization",
     .ports = {{"X"}, {"Scale", PortRole::gain}, {"B", PortRole::shift}},
     .min_inputs = 2,
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = layer_norm_rule,
     .cost = layer_norm_cost,
     .rows = layer_norm_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::from_axis},
    {.name = "SimplifiedLayerNormalization",
     .ports = {{"X"}, {"scale", PortRole::gain}},
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = simplified_layer_norm_rule,
     .cost = simplified_layer_norm_cost,
     .rows = rms_norm_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::from_axis},
    {.name = "GroupNormalization",
     .since = 18,
     .ports = {{"X"}, {"scale", PortRole::gain}, {"bias", PortRole::shift}},
     .attributes = {"epsilon", "num_groups", "stash_type"},
     .shape = group_norm_rule,
     .cost = group_norm_cost,
     .rows = group_norm_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::channels_last},
    {.name = "RMSNormalization",
     .since = 23,
     .ports = {{"X"}, {"scale", PortRole::gain}},
     .attributes = {"axis", "epsilon", "stash_type"},
     .shape = rms_norm_rule,
     .cost = simplified_layer_norm_cost,
     .rows = rms_norm_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::from_axis},
    {.name = "LRN",
     .attributes = {"alpha", "beta", "bias", "size"},
     .shape = lrn_rule,
     .cost = lrn_cost,
     .lie = LayoutRule::channels_last},
    {.name = "LpNormalization",
     .attributes = {"axis", "p"},
     .shape = lp_norm_rule,
     .cost = lp_norm_cost,
     .rows = lp_norm_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::along_axis},
    {.name = "MeanVarianceNormalization",
     .since = 9,
     .attributes = {"axes"},
     .shape = mvn_rule,
     .cost = mvn_cost,
     .rows = mvn_rows,
     .kind = OpKind::normalization,
     .lie = LayoutRule::by_axes},
    {.name = "RotaryEmbedding",
     .since = 23,
     .ports = {{"X"}, {"cos_cache"}, {"sin_cache"}, {"position_ids"}},
     .min_inputs = 3,
     .attributes = {"interleaved", "num_heads", "rotary_embedding_dim"},
     .shape = rotary_rule,
     .cost = rotary_cost},
    {.name = "NegativeLogLikelihoodLoss",
     .since = 12,
     .ports = {{"input"}, {"target"}, {"weight"}},
     .min_inputs = 2,
     .attributes = {"ignore_index", "reduction"},
     .shape = nll_loss_rule,
     .cost = nll_loss_cost},
    {.name = "SoftmaxCrossEntropyLoss",
     .since = 12,
     .ports = {{"scores"}, {"labels"}, {"weights"}},
     .min_inputs = 2,
     .attributes = {"ignore_index", "reduction"},
     .shape = cross_entropy_rule,
     .cost = cross_entropy_cost},
};

}  // namespace

std::span<const OpRow> norm_rows() { return kNormOperators; }

}  // namespace accsim::sim
