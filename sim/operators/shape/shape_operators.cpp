#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/fold.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

// Shape and Size need no input's value, so their shape rules set the output's value as well.

Status shape_shape(InferContext& node) {
  const Dims& dims = node.dims(0);
  const int64_t rank = node.rank(0);
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamp(int_attr(node, "start", 0));
  const int64_t end = std::max(start, clamp(int_attr(node, "end", rank)));
  if (Status s = set_shape(node, 0, DType::int64, {end - start}); !s) return s;
  node.set_value(0, std::vector<int64_t>(dims.begin() + start, dims.begin() + end));
  return ok();
}

Status size_shape(InferContext& node) {
  if (Status s = set_shape(node, 0, DType::int64, {}); !s) return s;
  node.set_value(0, std::vector<int64_t>{elements(node.dims(0))});
  return ok();
}

/// The -1 among the wanted dims, if any, replaced so that `total` elements fit.
Result<Dims> fill_wildcard(const NodeView& node, Dims wanted, int64_t total) {
  int64_t known = 1;
  int64_t* wildcard = nullptr;
  for (int64_t& dim : wanted) {
    if (dim < -1) return bad_node(node, fmt::format("shape has a dim of {}", dim));
    if (dim == -1) {
      if (wildcard != nullptr) return bad_node(node, "shape has more than one -1");
      wildcard = &dim;
      continue;
    }
    const std::optional<int64_t> product = size_product(known, dim);
    if (!product) return bad_node(node, "shape has too many elements");
    known = *product;
  }
  const bool fits = wildcard == nullptr ? known == total : known != 0 && total % known == 0;
  if (!fits)
    return bad_node(node, fmt::format("{} elements of shape {} don't fit shape {}", total,
                                      to_string(node.dims(0)), to_string(wanted)));
  if (wildcard != nullptr) *wildcard = total / known;
  return wanted;
}

Status reshape_shape(InferContext& node) {
  Dims wanted;
  if (node.opset() >= 5 || node.has_input(1)) {
    Result<std::vector<int64_t>> shape = need_integers(node, 1, "shape", "the output shape");
    if (!shape) return shape.errors();
    wanted = std::move(*shape);
  } else {
    std::optional<std::vector<int64_t>> shape = node.attr_ints("shape");
    if (!shape) return bad_node(node, "attribute 'shape' is missing");
    wanted = std::move(*shape);
  }
  if (int_attr(node, "allowzero", 0) == 0) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] != 0) continue;
      if (i >= node.dims(0).size())
        return bad_node(node,
                        fmt::format("shape copies dim {} of an input of rank {}", i, node.rank(0)));
      wanted[i] = node.dims(0)[i];
    }
  }
  Result<Dims> dims = fill_wildcard(node, std::move(wanted), elements(node.dims(0)));
  if (!dims) return dims.errors();
  return set_shape(node, 0, node.dtype(0), std::move(*dims));
}

Status flatten_shape(InferContext& node) {
  const int64_t rank = node.rank(0);
  const int64_t given = int_attr(node, "axis", 1);
  // Unlike elsewhere the axis may be the rank itself; a scalar flattens to 1x1 by any legal axis.
  if (given < -rank || given > std::max<int64_t>(rank, 1))
    return bad_node(node, fmt::format("axis {} is outside [{}, {}]", given, -rank, rank));
  const auto axis = static_cast<size_t>(std::min(given < 0 ? given + rank : given, rank));
  const Dims& dims = node.dims(0);
  return set_shape(node, 0, node.dtype(0),
                   {elements(dims, 0, axis), elements(dims, axis, dims.size())});
}

Status squeeze_shape(InferContext& node) {
  Result<std::optional<std::vector<int64_t>>> given = axes_of(node, 1);
  if (!given) return given.errors();
  const Dims& dims = node.dims(0);
  Dims out;
  if (!*given) {
    std::ranges::copy_if(dims, std::back_inserter(out), [](int64_t d) { return d != 1; });
    return set_shape(node, 0, node.dtype(0), std::move(out));
  }
  const Result<std::vector<int64_t>> axes = normalize_axes(**given, node.rank(0));
  if (!axes) return bad_node(node, axes.errors().front().message);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!std::ranges::binary_search(*axes, static_cast<int64_t>(i))) {
      out.push_back(dims[i]);
    } else if (dims[i] != 1) {
      return bad_node(node,
                      fmt::format("axis {} has {} elements, so it can't be removed", i, dims[i]));
    }
  }
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Status unsqueeze_shape(InferContext& node) {
  Result<std::optional<std::vector<int64_t>>> given = axes_of(node, 1);
  if (!given) return given.errors();
  if (!*given) return bad_node(node, "axes are missing");
  const int64_t rank = node.rank(0) + static_cast<int64_t>((*given)->size());
  const Result<std::vector<int64_t>> axes = normalize_axes(**given, rank);
  if (!axes) return bad_node(node, axes.errors().front().message);
  Dims out = node.dims(0);
  for (const int64_t axis : *axes) out.insert(out.begin() + axis, 1);  // ascending
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

/// What a Constant node holds, whichever attribute states it.
struct Held {
  DType dtype = DType::undefined;
  Dims dims;
  ConstPtr value;
};

template <class T>
Held held_constant(DType dtype, Dims dims, std::vector<T> values) {
  return {dtype, std::move(dims), std::make_shared<const ConstData>(std::move(values))};
}

Result<Held> constant_of(const NodeView& node) {
  for (const Attribute& a : node.node().attributes) {
    if (!a.name.starts_with("value") && a.name != "sparse_value") continue;
    const auto length = [](const auto& v) { return Dims{static_cast<int64_t>(v.size())}; };
    if (const auto* t = std::get_if<std::shared_ptr<const StoredTensor>>(&a.value); t && *t)
      return Held{(*t)->dtype, (*t)->dims, (*t)->value};
    if (a.name == "sparse_value") continue;
    if (const auto* i = std::get_if<int64_t>(&a.value))
      return held_constant<int64_t>(DType::int64, {}, {*i});
    if (const auto* f = std::get_if<double>(&a.value))
      return held_constant<double>(DType::float32, {}, {*f});
    if (const auto* v = std::get_if<std::vector<int64_t>>(&a.value))
      return held_constant(DType::int64, length(*v), *v);
    if (const auto* v = std::get_if<std::vector<double>>(&a.value))
      return held_constant(DType::float32, length(*v), *v);
    if (std::holds_alternative<std::string>(a.value)) return Held{DType::string, {}, nullptr};
    if (const auto* v = std::get_if<std::vector<std::string>>(&a.value))
      return Held{DType::string, length(*v), nullptr};
  }
  return bad_node(node, "it has no value attribute");
}

Status constant_shape(InferContext& node) {
  Result<Held> constant = constant_of(node);
  if (!constant) return constant.errors();
  return set_shape(node, 0, constant->dtype, std::move(constant->dims));
}

Status constant_value(InferContext& node) {
  const Result<Held> constant = constant_of(node);
  if (!constant) return constant.errors();
  const ConstPtr& value = constant->value;
  if (value && node.has_output(0) &&
      static_cast<int64_t>(value->size()) == elements(constant->dims))
    node.set_value(0, value);
  return ok();
}

/// ConstantOfShape's attribute: one element, float 0 when absent.
Result<Held> fill_of(const NodeView& node) {
  if (!node.has_attr("value")) return held_constant<double>(DType::float32, {}, {0.0});
  Result<Held> fill = constant_of(node);
  if (fill && checked_elements(fill->dims) != 1)
    return bad_node(node, "attribute 'value' must hold one element");
  return fill;
}

Status constant_of_shape_shape(InferContext& node) {
  const Result<Held> fill = fill_of(node);
  if (!fill) return fill.errors();
  Result<std::vector<int64_t>> dims = need_integers(node, 0, "input", "the output shape");
  if (!dims) return dims.errors();
  return set_shape(node, 0, fill->dtype, std::move(*dims));
}

Status constant_of_shape_value(InferContext& node) {
  const Result<Held> fill = fill_of(node);
  if (!fill) return fill.errors();
  if (!fill->value || fill->value->size() != 1 || !node.has_output(0)) return ok();
  const auto count = static_cast<size_t>(elements(node.output(0).dims));
  if (fill->value->is_integer())
    node.set_value(0, std::vector<int64_t>(count, fill->value->integers()[0]));
  else
    node.set_value(0, std::vector<double>(count, fill->value->reals()[0]));
  return ok();
}

/// |v|, also of the smallest integer.
uint64_t magnitude(int64_t v) {
  return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

/// Number of steps of Range; its inputs' values are known.
Result<int64_t> range_length(const NodeView& node) {
  const ConstData &start = *node.value(0), &limit = *node.value(1), &delta = *node.value(2);
  if (delta.as_double(0) == 0) return bad_node(node, "delta is 0");
  if (start.is_integer()) {
    int64_t span = 0;
    const int64_t step = delta.integers()[0];
    if (__builtin_sub_overflow(limit.integers()[0], start.integers()[0], &span))
      return bad_node(node, "the range is too long");
    if (span == 0 || (span > 0) != (step > 0)) return 0;
    const uint64_t far = magnitude(span), stride = magnitude(step);
    const uint64_t count = far / stride + (far % stride != 0);
    if (count > uint64_t{1} << 62) return bad_node(node, "the range is too long");
    return static_cast<int64_t>(count);
  }
  const double count = std::ceil((limit.as_double(0) - start.as_double(0)) / delta.as_double(0));
  if (!(count < 0x1p62)) return bad_node(node, "the range is too long");
  return static_cast<int64_t>(std::max(count, 0.0));
}

Status range_shape(InferContext& node) {
  constexpr std::array<std::string_view, 3> kInputs = {"start", "limit", "delta"};
  for (size_t i = 0; i < 3; ++i) {
    if (elements(node.dims(i)) != 1 || node.dtype(i) != node.dtype(0))
      return bad_node(
          node, fmt::format("'{}' must be a scalar of type {}", kInputs[i], name(node.dtype(0))));
    if (node.value(i) == nullptr) return unknown_value(node, i, kInputs[i], "output dim 0");
  }
  const Result<int64_t> length = range_length(node);
  if (!length) return length.errors();
  return set_shape(node, 0, node.dtype(0), {*length});
}

Status range_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  with_type(node.dtype(0), [&]<class T>(T) {
    const T start = read_as<T>(*node.value(0))[0], delta = read_as<T>(*node.value(2))[0];
    std::vector<T> values(static_cast<size_t>(elements(node.output(0).dims)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] =
          *element::Add::result_of(start, *element::Mul::result_of(static_cast<T>(i), delta));
    store_results(node, 0, values);
  });
  return ok();
}

Status eye_like_shape(InferContext& node) {
  if (Status s = want_rank(node, 0, 2); !s) return s;
  const Result<DType> dtype = dtype_attr(node, "dtype", node.dtype(0));
  if (!dtype) return dtype.errors();
  if (Status s = set_shape(node, 0, *dtype, node.dims(0)); !s) return s;
  if (elements(node.dims(0)) > kMostFolded || !is_foldable(*dtype) || !node.has_output(0))
    return ok();
  // Only the shape of the input counts, so the value is known here.
  const int64_t k = int_attr(node, "k", 0);
  const int64_t columns = node.dims(0)[1];
  std::vector<int64_t> eye(static_cast<size_t>(elements(node.dims(0))), 0);
  for (size_t n = 0; n < eye.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    eye[n] = i % columns - i / columns == k;
  }
  store_results(node, 0, eye);
  return ok();
}

Result<Work> no_work(const NodeView&) { return Work{}; }

/// A constant that has to be written at run time all the same.
Result<Work> fill_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  MemoryOp op;
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

constexpr OpRow kShapeOperators[] = {
    {.name = "Constant",
     .max_inputs = 0,
     .attributes = {"sparse_value", "value", "value_float", "value_floats", "value_int",
                    "value_ints", "value_string", "value_strings"},
     .fate = Fate::folded,
     .shape = constant_shape,
     .value = constant_value,
     .cost = no_work},
    {.name = "ConstantOfShape",
     .since = 9,
     .ports = {{"input", PortRole::setting}},
     .attributes = {"value"},
     .fate = Fate::memory,
     .shape = constant_of_shape_shape,
     .value = constant_of_shape_value,
     .cost = fill_cost},
    {.name = "EyeLike",
     .since = 9,
     .attributes = {"dtype", "k"},
     .fate = Fate::memory,
     .shape = eye_like_shape,
     .cost = fill_cost},
    {.name = "Flatten",
     .attributes = {"axis"},
     .fate = Fate::view,
     .shape = flatten_shape,
     .value = pass_value},
    {.name = "Range",
     .since = 11,
     .ports = {{"start", PortRole::setting},
               {"limit", PortRole::setting},
               {"delta", PortRole::setting}},
     .attributes = {"stash_type"},
     .shape = range_shape,
     .value = range_value,
     .cost = pointwise_cost<1>},
    {.name = "Reshape",
     .ports = {{"data"}, {"shape", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"allowzero"},
     .fate = Fate::view,
     .shape = reshape_shape,
     .value = pass_value},
    {.name = "Shape",
     .attributes = {"end", "start"},
     .fate = Fate::folded,
     .shape = shape_shape,
     .cost = no_work,
     .reads_only_shapes = true},
    {.name = "Size",
     .fate = Fate::folded,
     .shape = size_shape,
     .cost = no_work,
     .reads_only_shapes = true},
    {.name = "Squeeze",
     .ports = {{"data"}, {"axes", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"axes"},
     .fate = Fate::view,
     .shape = squeeze_shape,
     .value = pass_value},
    {.name = "Unsqueeze",
     .ports = {{"data"}, {"axes", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"axes"},
     .fate = Fate::view,
     .shape = unsqueeze_shape,
     .value = pass_value},
};

}  // namespace

std::span<const OpRow> shape_rows() { return kShapeOperators; }

}  // namespace accsim::sim
