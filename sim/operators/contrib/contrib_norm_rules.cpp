#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/norm/norm_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

Status want_vector(const NodeView& node, size_t i, int64_t size) {
  if (!node.has_input(i) || node.dims(i) == Dims{size}) return ok();
  return bad_node(node, fmt::format("input {} of shape {} must have {} elements", i,
                                    to_string(node.dims(i)), size));
}

/// Adds input and skip (and bias), then normalises the last dim.
VectorOp skip_norm_op(const NodeView& node, size_t bias) {
  VectorOp op = norm_op(node, node.dims(0).back());
  const int64_t adds = capped_product({node.has_input(bias) ? 2 : 1, input_size(node, 0)});
  op[VectorClass::elementwise] = capped_sum(op[VectorClass::elementwise], adds);
  return op;
}

}  // namespace

Status skip_norm_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  const Dims& x = node.dims(0);
  if (broadcast_dims(node.dims(1), x) != x)
    return bad_node(node, fmt::format("skip {} doesn't go with input {}", to_string(node.dims(1)),
                                      to_string(x)));
  for (size_t i = 2; i < node.input_count(); ++i)
    if (Status s = want_vector(node, i, x.back()); !s) return s;
  Dims stats = x;
  stats.back() = 1;
  for (size_t i : {size_t{1}, size_t{2}})
    if (Status s = set_if_wanted(node, i, DType::float32, stats); !s) return s;
  if (Status s = set_if_wanted(node, 3, node.dtype(0), x); !s) return s;
  return same_shape(node);
}

Result<Work> skip_layer_norm_cost(const NodeView& node) {
  return checked_work(node, {skip_norm_op(node, 4)});
}

Result<Work> skip_simplified_norm_cost(const NodeView& node) {
  VectorOp op = skip_norm_op(node, 3);
  op[VectorClass::reduce] = input_size(node, 0);  // squares only
  op.passes = 2;
  return checked_work(node, {op});
}

namespace {

/// Channels of a GroupNorm, and elements that are normalised together.
struct Groups {
  int64_t channels = 0, row = 0;
};

Result<Groups> groups_of(const NodeView& node) {
  if (Status s = want_rank_from(node, 0, 3); !s) return s.errors();
  const Dims& x = node.dims(0);
  const int64_t groups = int_attr(node, "groups", 0);
  const int64_t channels = int_attr(node, "channels_last", 1) != 0 ? x.back() : x[1];
  if (groups < 1 || channels % groups != 0)
    return bad_node(node, fmt::format("{} channels don't split into {} groups", channels, groups));
  return Groups{channels, elements(x, 1, x.size()) / groups};
}

}  // namespace

Status ms_group_norm_rule(InferContext& node) {
  const Result<Groups> groups = groups_of(node);
  if (!groups) return groups.errors();
  for (const size_t i : {size_t{1}, size_t{2}, size_t{4}})
    if (Status s = want_vector(node, i, groups->channels); !s) return s;
  const Dims& x = node.dims(0);
  if (node.has_input(3)) {
    const Dims& skip = node.dims(3);
    const bool alike = skip.size() == x.size() && broadcast_dims(skip, x) == x;
    if (!alike && skip != Dims{x[0], groups->channels})
      return bad_node(
          node, fmt::format("skip {} doesn't go with input {}", to_string(skip), to_string(x)));
  }
  if (Status s = set_if_wanted(node, 1, node.dtype(0), x); !s) return s;
  return same_shape(node);
}

Result<Work> ms_group_norm_cost(const NodeView& node) {
  const Result<Groups> groups = groups_of(node);
  if (!groups) return groups.errors();
  VectorOp op = norm_op(node, groups->row);
  const int64_t adds = (node.has_input(3) ? 1 : 0) + (node.has_input(4) ? 1 : 0);
  const int64_t silu = int_attr(node, "activation", 0) != 0 ? 1 : 0;  // a sigmoid and a product
  const int64_t all = input_size(node, 0);
  op[VectorClass::elementwise] =
      capped_sum(op[VectorClass::elementwise], capped_product({adds + silu, all}));
  op[VectorClass::special] = capped_sum(op[VectorClass::special], capped_product({silu, all}));
  return checked_work(node, {op});
}

namespace {

/// Sizes of EmbedLayerNormalization and its quantised kin.
Status embed_norm_shape(InferContext& node, DType type) {
  if (Status s = want_rank(node, 0, 2); !s) return s;
  constexpr std::pair<size_t, std::string_view> kNeeded[] = {
      {2, "word_embedding"}, {3, "position_embedding"}, {5, "gamma"}, {6, "beta"}};
  for (const auto& [i, name] : kNeeded)
    if (Status s = want_input(node, i, name); !s) return s;
  if (Status s = want_rank(node, 2, 2); !s) return s;
  const int64_t hidden = node.dims(2)[1];
  for (size_t i : {size_t{3}, size_t{4}})
    if (node.has_input(i) && (node.rank(i) != 2 || node.dims(i)[1] != hidden))
      return bad_node(
          node, fmt::format("embedding {} must have {} columns", to_string(node.dims(i)), hidden));
  for (size_t i : {size_t{5}, size_t{6}})
    if (Status s = want_vector(node, i, hidden); !s) return s;
  const Dims& ids = node.dims(0);
  if (Status s = set_shape(node, 0, type, {ids[0], ids[1], hidden}); !s) return s;
  if (Status s = set_if_wanted(node, 1, DType::int32, {ids[0]}); !s) return s;
  return set_if_wanted(node, 2, type, {ids[0], ids[1], hidden});
}

/// The inputs in `whole` are read once, and of every table (inputs 2 to 4) a row a token.
Result<Work> embed_norm_work(const NodeView& node, std::initializer_list<size_t> whole) {
  const int64_t count = output_size(node, 0), hidden = node.output(0).dims.back();
  VectorOp op;
  for (const size_t i : whole) read_input(node, i, op.inputs);
  for (size_t i : {size_t{2}, size_t{3}, size_t{4}}) read_part(node, i, count, hidden, op.inputs);
  for (size_t i = 0; i < node.output_count(); ++i) write_output(node, i, op.outputs);
  op[VectorClass::reduce] = capped_product({2, count});
  op[VectorClass::elementwise] = capped_product({node.has_input(4) ? 4 : 3, count});
  op[VectorClass::special] = hidden > 0 ? count / hidden : 0;
  op.row = std::max<int64_t>(hidden, 1);
  op.passes = 3;
  return checked_work(node, {op});
}

}  // namespace

Status embed_norm_rule(InferContext& node) {
  if (Status s = want_input(node, 2, "word_embedding"); !s) return s;
  return embed_norm_shape(node, node.dtype(2));
}
Result<Work> embed_norm_cost(const NodeView& node) {
  return embed_norm_work(node, {0, 1, 5, 6, 7, 8});
}
Status qembed_norm_rule(InferContext& node) {
  for (size_t i = 8; i < 13; ++i)  // of the tables and vectors that are there
    if (node.has_input(i - 6))
      if (Status s = want_input(node, i, "scale"); !s) return s;
  if (Status s = want_input(node, 8, "scale"); !s) return s;
  return embed_norm_shape(node, node.dtype(8));
}
Result<Work> qembed_norm_cost(const NodeView& node) {
  return embed_norm_work(node, {0, 1, 5, 6, 7});
}

Status bias_gelu_rule(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  if (Status s = want_vector(node, 1, node.dims(0).back()); !s) return s;
  return same_shape(node);
}

Status bias_split_gelu_rule(InferContext& node) {
  if (Status s = want_rank(node, 0, 3); !s) return s;
  Dims half = node.dims(0);
  if (Status s = want_vector(node, 1, half.back()); !s) return s;
  if (half.back() % 2 != 0)
    return bad_node(node,
                    fmt::format("input {} has no two halves of its last dim", to_string(half)));
  half.back() /= 2;
  return set_shape(node, 0, node.dtype(0), half);
}

Result<Work> fast_gelu_cost(const NodeView& node) {
  // 0.5 x (1 + tanh(x (a + b x x)))
  return per_element(node, node.has_input(1) ? 8 : 7, 1);
}

}  // namespace accsim::sim
