#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/expert_groups.h"
#include "sim/operators/fold.h"
#include "sim/operators/movement/index_rules.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

Status reduction_known(const NodeView& node) {
  const std::string reduction = node.attr("reduction", "none");
  for (const std::string_view known : {"none", "add", "mul", "max", "min"})
    if (reduction == known) return ok();
  return bad_node(node,
                  fmt::format("reduction '{}' is none of none, add, mul, max, min", reduction));
}

template <class T>
T merge_update(const std::string& reduction, T old, T update) {
  if (reduction == "add") return *element::Add::result_of(old, update);
  if (reduction == "mul") return *element::Mul::result_of(old, update);
  if (reduction == "max") return *element::Max::result_of(old, update);
  if (reduction == "min") return *element::Min::result_of(old, update);
  return update;
}

/// Puts update n at offset at[n / slice] + n % slice of a copy of the data.
void scatter_updates(InferContext& node, const std::vector<int64_t>& at, int64_t slice) {
  const std::string reduction = node.attr("reduction", "none");
  with_type(node.dtype(0), [&]<class T>(T) {
    std::vector<T> values = read_as<T>(*node.value(0));
    const std::vector<T> updates = read_as<T>(*node.value(2));
    for (size_t n = 0; n < updates.size(); ++n) {
      const auto i = static_cast<int64_t>(n);
      T& value = values[static_cast<size_t>(at[static_cast<size_t>(i / slice)] + i % slice)];
      value = element::fit_to_type(node.dtype(0), merge_update(reduction, value, updates[n]));
    }
    store_results(node, 0, values);
  });
}

int64_t tuple_slice(const NodeView& node) {
  const Dims& dims = node.dims(0);
  return elements(dims, static_cast<size_t>(node.dims(1).back()), dims.size());
}

/// OneHot's depth and the axis that it adds.
Result<int64_t> one_hot_depth(const NodeView& node) {
  if (elements(node.dims(1)) != 1) return bad_node(node, "input 'depth' must be a scalar");
  const ConstData* depth = node.value(1);
  if (depth == nullptr) return unknown_value(node, 1, "depth", "the output shape");
  const double value = depth->as_double(0);
  if (!(value >= 1 && value < 0x1p31)) return bad_node(node, fmt::format("depth is {}", value));
  return static_cast<int64_t>(value);
}

/// Is a constant input that number everywhere, as far as its elements are at hand? Those of large
/// ones aren't.
bool may_hold_only(const NodeView& node, size_t i, double number) {
  const ConstData* data = node.value(i);
  if (data == nullptr) return node.input(i).constant;
  for (size_t at = 0; at < data->size(); ++at)
    if (data->as_double(at) != number) return false;
  return true;
}

/// Does it count how often each index comes? Then that is how many rows each expert has. Numbers
/// that aren't at hand are taken for zeros and ones where a router's TopK gives the indices.
bool counts_indices(const NodeView& node) {
  return node.rank(0) == 1 && node.attr("reduction", "none") == "add" && node.value(1) == nullptr &&
         is_foldable(node.dtype(0)) && elements(node.dims(1)) > 0 &&
         elements(node.dims(0)) <= kMostFolded && may_hold_only(node, 0, 0) &&
         may_hold_only(node, 2, 1) &&
         ((node.value(0) != nullptr && node.value(2) != nullptr) ||
          top_k_behind(node.graph(), node.node().inputs[1], elements(node.dims(0))));
}

/// The counts, as even as they can be over so many experts as are assumed to be at work.
Status assume_counts(InferContext& node) {
  if (node.is_output_given(0)) return ok();
  const int64_t experts = elements(node.dims(0)), rows = elements(node.dims(1));
  const ExpertChoice choice = choice_behind(node.graph(), node.node().inputs[1], experts);
  const Result<int64_t> used = node.assumed_size({.of = std::string(kExpertsAtWork),
                                                  .bound = std::min(experts, rows),
                                                  .size = usual_experts(experts, choice)});
  if (!used) return used.errors();
  if (*used < 1) return bad_node(node, "--assume gives no expert any of the rows");
  std::vector<double> reals(static_cast<size_t>(experts), 0);
  std::vector<int64_t> integers(reals.size(), 0);
  for (size_t e = 0; e < static_cast<size_t>(*used); ++e) {
    integers[e] = rows / *used + (static_cast<int64_t>(e) < rows % *used ? 1 : 0);
    reals[e] = static_cast<double>(integers[e]);
  }
  node.set_assumed_value(0, is_float(node.dtype(0))
                                ? std::make_shared<const ConstData>(std::move(reals))
                                : std::make_shared<const ConstData>(std::move(integers)));
  return ok();
}

Result<int64_t> one_hot_axis(const NodeView& node) { return axis_attr(node, -1, node.rank(0) + 1); }

}  // namespace

Status scatter_elements_shape(InferContext& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  if (Status s = same_rank_indices(node, 1); !s) return s;
  if (Status s = reduction_known(node); !s) return s;
  if (!holds_integers(node.dtype(1))) return bad_node(node, "indices must be integers");
  if (node.dims(1) != node.dims(2) || node.dtype(2) != node.dtype(0))
    return bad_node(node, "updates must have the shape of the indices and the type of the data");
  if (Status s = same_shape(node); !s) return s;
  return counts_indices(node) ? assume_counts(node) : ok();
}

Status scatter_elements_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!axis) return axis.errors();
  const Result<std::vector<int64_t>> at = element_offsets(node, *axis, node.dims(1));
  if (!at) return at.errors();
  scatter_updates(node, *at, 1);
  return ok();
}

Status scatter_nd_shape(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 1); !s) return s;
  if (Status s = want_rank_from(node, 1, 1); !s) return s;
  if (Status s = reduction_known(node); !s) return s;
  if (!holds_integers(node.dtype(1))) return bad_node(node, "indices must be integers");
  const Dims &data = node.dims(0), &indices = node.dims(1);
  if (indices.back() < 1 || indices.back() > node.rank(0))
    return bad_node(node, fmt::format("index tuples of {} don't fit data of rank {}",
                                      indices.back(), node.rank(0)));
  Dims updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + indices.back(), data.end());
  if (node.dims(2) != updates || node.dtype(2) != node.dtype(0))
    return bad_node(
        node, fmt::format("updates must be {} of shape {}, not {} of shape {}", name(node.dtype(0)),
                          to_string(updates), name(node.dtype(2)), to_string(node.dims(2))));
  return same_shape(node);
}

Status scatter_nd_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<std::vector<int64_t>> at = tuple_offsets(node, 0);
  if (!at) return at.errors();
  scatter_updates(node, *at, tuple_slice(node));
  return ok();
}

namespace {

/// Updates that come in slices.
Result<Work> scatter_work(const NodeView& node, int64_t slice) {
  if (node.attr("reduction", "none") == "none") return copy_cost(node);
  MemoryOp copy;
  read_input(node, 0, copy.inputs);
  write_output(node, 0, copy.outputs);
  const int64_t updates = input_size(node, 2);
  VectorOp combine;
  read_part(node, 0, updates, slice, combine.inputs);
  read_input(node, 1, combine.inputs);
  read_input(node, 2, combine.inputs);
  if (updates > 0 && node.has_output(0))
    combine.outputs.push_back({0, updates, slice >= updates ? 0 : slice});
  combine[VectorClass::elementwise] = updates;
  return checked_work(node, {copy, combine});
}

}  // namespace

Result<Work> scatter_elements_cost(const NodeView& node) { return scatter_work(node, 1); }

Result<Work> scatter_nd_cost(const NodeView& node) {
  return scatter_work(node, std::max<int64_t>(1, tuple_slice(node)));
}

namespace {

bool replaces(const NodeView& node) { return node.attr("reduction", "none") == "none"; }

/// The first dim of the indices from which on they stay the same, as an Expand made them.
size_t expanded_from(const NodeView& node, size_t input) {
  const size_t rank = node.dims(input).size();
  const std::optional<NodeView> maker = node.maker(input);
  const OpRow* row = maker ? find_op(maker->node()) : nullptr;
  if (row == nullptr || row->shape != expand_shape) return rank;
  const Dims& once = maker->dims(0);
  size_t out = rank;
  while (out > 0 && (out + once.size() <= rank || once[out + once.size() - rank - 1] == 1)) --out;
  return out;
}

}  // namespace

std::optional<Update> scatter_elements_update(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, 0, node.rank(0));
  if (!replaces(node) || !axis) return std::nullopt;
  const size_t same = std::max(expanded_from(node, 1), static_cast<size_t>(*axis) + 1);
  const Dims &all = node.dims(0), &some = node.dims(2);
  size_t whole = all.size();
  while (whole > same && all[whole - 1] == some[whole - 1]) --whole;
  return Update{2, whole};
}

std::optional<Update> scatter_nd_update(const NodeView& node) {
  if (!replaces(node) || node.dims(1).empty()) return std::nullopt;
  return Update{2, static_cast<size_t>(node.dims(1).back())};
}

std::optional<Update> tensor_scatter_update(const NodeView& node) {
  const Result<int64_t> axis = axis_attr(node, -2, node.rank(0));
  if (!axis) return std::nullopt;
  return Update{1, static_cast<size_t>(*axis) + 1};
}

Status tensor_scatter_shape(InferContext& node) {
  const Result<int64_t> axis = axis_attr(node, -2, node.rank(0));
  if (!axis) return axis.errors();
  const std::string mode = node.attr("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return bad_node(node, fmt::format("mode '{}' is neither linear nor circular", mode));
  const auto a = static_cast<size_t>(*axis);
  Dims update = node.dims(1);
  if (a == 0 || update.size() != node.dims(0).size() || update[a] > node.dims(0)[a])
    return bad_node(node, fmt::format("update of shape {} doesn't fit a cache of shape {}",
                                      to_string(node.dims(1)), to_string(node.dims(0))));
  update[a] = node.dims(0)[a];
  if (update != node.dims(0) || node.dtype(1) != node.dtype(0))
    return bad_node(node, fmt::format("update must be {} and differ from the cache along axis {} "
                                      "only",
                                      name(node.dtype(0)), a));
  if (node.has_input(2) && node.dims(2) != Dims{node.dims(0)[0]})
    return bad_node(node, "write_indices must have one index per batch entry");
  return same_shape(node);
}

/// The operator is made for a cache that is updated in place, so only the update moves.
Result<Work> tensor_scatter_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Result<int64_t> axis = axis_attr(node, -2, node.rank(0));
  if (!axis) return axis.errors();
  const Lines l = lines_along(node.dims(1), *axis);
  MemoryOp op;
  read_input(node, 1, op.inputs);
  read_input(node, 2, op.inputs);
  const int64_t count = elements(node.dims(1));
  if (count > 0 && node.has_output(0)) op.outputs.push_back({0, count, l.length * l.inner});
  return Work{std::move(op)};
}

Status one_hot_shape(InferContext& node) {
  const Result<int64_t> axis = one_hot_axis(node);
  if (!axis) return axis.errors();
  if (node.dims(2) != Dims{2}) return bad_node(node, "values must hold two elements");
  const Result<int64_t> depth = one_hot_depth(node);
  if (!depth) return depth.errors();
  Dims dims = node.dims(0);
  dims.insert(dims.begin() + *axis, *depth);
  return set_shape(node, 0, node.dtype(2), std::move(dims));
}

Status one_hot_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> axis = one_hot_axis(node);
  if (!axis) return axis.errors();
  const Lines l = lines_along(node.output(0).dims, *axis);
  // Element 0 of the values everywhere, element 1 where the index says.
  std::vector<int64_t> at(static_cast<size_t>(elements(node.output(0).dims)), 0);
  for (int64_t o = 0; o < l.outer; ++o)
    for (int64_t i = 0; i < l.inner; ++i) {
      const double index = node.value(0)->as_double(static_cast<size_t>(o * l.inner + i));
      const double n = index < 0 ? index + static_cast<double>(l.length) : index;
      if (n >= 0 && n < static_cast<double>(l.length))
        at[static_cast<size_t>(l.offset_of(o, i, static_cast<int64_t>(n)))] = 1;
    }
  take_elements(node, 0, 2, at);
  return ok();
}

Result<Work> one_hot_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  MemoryOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

}  // namespace accsim::sim
