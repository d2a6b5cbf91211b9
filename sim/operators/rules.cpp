#include "sim/operators/rules.h"

#include <fmt/format.h>

#include "sim/operators/value_advice.h"

namespace accsim::sim {
namespace {

/// size_sum and size_product keep to what checked_elements accepts.
std::optional<int64_t> within_62_bits(bool overflow, int64_t value) {
  constexpr int64_t kMost = int64_t{1} << 62;
  if (overflow || value > kMost || value < -kMost) return std::nullopt;
  return value;
}

}  // namespace

Error bad_node(const NodeView& node, std::string_view what) {
  return {Errc::invalid, fmt::format("{}: {}", node.node().op_type, what), ""};
}

Error unsupported_node(const NodeView& node, std::string_view what) {
  return {Errc::unsupported, fmt::format("{}: {}", node.node().op_type, what), ""};
}

Error unknown_value(const NodeView& node, size_t i, std::string_view input, std::string_view what) {
  const Tensor& tensor = node.input(i);
  return unsupported_node(
      node,
      fmt::format("{} depends on the value of input '{}' (tensor '{}'), which {}; give {}", what,
                  input, tensor.name,
                  tensor.constant ? "is constant but has no elements at hand" : "isn't constant",
                  value_advice(node.graph(), node.node().inputs[i])));
}

Result<std::vector<int64_t>> need_integers(const NodeView& node, size_t i, std::string_view input,
                                           std::string_view what) {
  if (!node.has_input(i)) return bad_node(node, fmt::format("input '{}' is missing", input));
  if (!holds_integers(node.dtype(i)))
    return bad_node(
        node, fmt::format("input '{}' must hold integers, not {}", input, name(node.dtype(i))));
  if (node.value(i) == nullptr) return unknown_value(node, i, input, what);
  return node.known_integers(i);
}

Result<std::vector<double>> need_reals(const NodeView& node, size_t i, std::string_view input,
                                       std::string_view what) {
  if (Status s = want_input(node, i, input); !s) return s.errors();
  const ConstData* value = node.value(i);
  const int64_t count = elements(node.dims(i));
  if (count == 0) return std::vector<double>{};
  if (value == nullptr || value->size() != static_cast<size_t>(count))
    return unknown_value(node, i, input, what);
  std::vector<double> reals(value->size());
  for (size_t k = 0; k < reals.size(); ++k) reals[k] = value->as_double(k);
  return reals;
}

Result<int64_t> need_integer(const NodeView& node, size_t i, std::string_view input,
                             std::string_view what) {
  Result<std::vector<int64_t>> all = need_integers(node, i, input, what);
  if (!all) return all.errors();
  if (all->size() != 1)
    return bad_node(node,
                    fmt::format("input '{}' must hold one number, not {}", input, all->size()));
  return all->front();
}

int64_t int_attr(const NodeView& node, std::string_view name, int64_t fallback) {
  return node.attr(name, fallback);
}

double real_attr(const NodeView& node, std::string_view name, double fallback) {
  return node.attr(name, fallback);
}

Result<DType> dtype_attr(const NodeView& node, std::string_view name, DType fallback) {
  if (!node.has_attr(name)) return fallback;
  const int64_t number = int_attr(node, name, 0);
  const std::optional<DType> type = dtype_from_onnx(number);
  if (!type || *type == DType::undefined)
    return bad_node(node, fmt::format("attribute '{}' = {} is no element type", name, number));
  return *type;
}

Result<int64_t> axis_attr(const NodeView& node, int64_t fallback, int64_t rank) {
  Result<int64_t> axis = normalize_axis(int_attr(node, "axis", fallback), rank);
  if (!axis) return bad_node(node, axis.errors().front().message);
  return axis;
}

Result<std::optional<std::vector<int64_t>>> axes_of(const NodeView& node, size_t i) {
  using Axes = std::optional<std::vector<int64_t>>;
  if (!node.has_input(i)) return Axes(node.attr_ints("axes"));
  Result<std::vector<int64_t>> axes = need_integers(node, i, "axes", "the output shape");
  if (!axes) return axes.errors();
  return Axes(std::move(*axes));
}

std::optional<int64_t> size_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  const bool overflow = __builtin_add_overflow(a, b, &sum);
  return within_62_bits(overflow, sum);
}

std::optional<int64_t> size_product(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product);
  return within_62_bits(overflow, product);
}

Status set_shape(InferContext& node, size_t i, DType dtype, Dims dims) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0) return bad_node(node, fmt::format("output dim {} would be {}", d, dims[d]));
  if (!checked_elements(dims))
    return Error{Errc::overflow,
                 fmt::format("{}: output shape {} has too many elements", node.node().op_type,
                             to_string(dims)),
                 ""};
  node.set_output(i, dtype, std::move(dims));
  return ok();
}

Status set_if_wanted(InferContext& node, size_t i, DType dtype, Dims dims) {
  return node.has_output(i) ? set_shape(node, i, dtype, std::move(dims)) : ok();
}

Result<Dims> broadcast_inputs(const NodeView& node, size_t first, size_t count) {
  Dims dims;
  for (size_t i = first; i < first + count && i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    std::optional<Dims> both = broadcast_dims(dims, node.dims(i));
    if (!both)
      return bad_node(node, fmt::format("input {} of shape {} doesn't broadcast with {}", i,
                                        to_string(node.dims(i)), to_string(dims)));
    dims = std::move(*both);
  }
  return dims;
}

Status want_input(const NodeView& node, size_t i, std::string_view input) {
  if (node.has_input(i)) return ok();
  return bad_node(node, fmt::format("input '{}' is missing", input));
}

Status want_rank(const NodeView& node, size_t i, int64_t rank) {
  if (node.rank(i) == rank) return ok();
  return bad_node(node, fmt::format("input {} must have rank {}, not {}", i, rank, node.rank(i)));
}

Status want_rank_from(const NodeView& node, size_t i, int64_t least) {
  if (node.rank(i) >= least) return ok();
  return bad_node(
      node, fmt::format("input {} must have at least rank {}, not {}", i, least, node.rank(i)));
}

bool holds_integers(DType t) { return is_integer(t) || t == DType::boolean; }

Status same_shape(InferContext& node) { return set_shape(node, 0, node.dtype(0), node.dims(0)); }

Status same_shape_bool(InferContext& node) {
  return set_shape(node, 0, DType::boolean, node.dims(0));
}

Status broadcast_shape(InferContext& node) {
  Result<Dims> dims = broadcast_inputs(node, 0, node.input_count());
  if (!dims) return dims.errors();
  return set_shape(node, 0, node.dtype(0), std::move(*dims));
}

Status broadcast_bool(InferContext& node) {
  Result<Dims> dims = broadcast_inputs(node, 0, node.input_count());
  if (!dims) return dims.errors();
  return set_shape(node, 0, DType::boolean, std::move(*dims));
}

}  // namespace accsim::sim
