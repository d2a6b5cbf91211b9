#include "sim/operators/node_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/operators/value_advice.h"

namespace accsim::sim {

std::vector<int64_t> NodeView::in_order(const std::vector<int64_t>& by_axis) const {
  if (order_.empty()) return by_axis;
  std::vector<int64_t> out;
  for (const size_t axis : order_) out.push_back(by_axis[axis]);
  return out;
}

int64_t NodeView::place_of(int64_t axis) const {
  if (order_.empty()) return axis;
  return std::ranges::find(order_, static_cast<size_t>(axis)) - order_.begin();
}

const Tensor& NodeView::input(size_t i) const {
  check(has_input(i), "a rule read an absent input");
  return graph_.tensor(node_.inputs[i]);
}

const Tensor& NodeView::output(size_t i) const {
  check(has_output(i), "a rule read an absent output");
  return graph_.tensor(node_.outputs[i]);
}

const ConstData* NodeView::value(size_t i) const {
  if (!has_input(i)) return nullptr;
  if (i < kCounted) asked_ |= uint64_t{1} << i;
  const Tensor& tensor = input(i);
  static const ConstData kNoIntegers{std::vector<int64_t>{}}, kNoReals{std::vector<double>{}};
  if (std::ranges::find(tensor.dims, 0) != tensor.dims.end())
    return is_float(tensor.dtype) ? &kNoReals : &kNoIntegers;
  // A value that doesn't fit its tensor is of no use, and rules index by the tensor's dims.
  if (!tensor.value || tensor.value->is_integer() == is_float(tensor.dtype)) return nullptr;
  const std::optional<int64_t> count = checked_elements(tensor.dims);
  if (!count || static_cast<size_t>(*count) != tensor.value->size()) return nullptr;
  return tensor.value.get();
}

std::optional<NodeView> NodeView::maker(size_t i) const {
  const NodeId id = input(i).producer;
  if (id == kNoNode) return std::nullopt;
  return NodeView(graph_, graph_.nodes[static_cast<size_t>(id)]);
}

Result<std::vector<int64_t>> NodeView::known_integers(size_t i) const {
  const auto fail = [&](Errc code, std::string_view tensor, std::string_view why) {
    return Error{code, fmt::format("{}: input {} ('{}') {}", node_.op_type, i, tensor, why), ""};
  };
  if (!has_input(i)) return fail(Errc::invalid, "", "is missing");
  const Tensor& tensor = input(i);
  if (!is_integer(tensor.dtype) && tensor.dtype != DType::boolean)
    return fail(Errc::invalid, tensor.name, "must hold integers");
  if (std::ranges::find(tensor.dims, 0) != tensor.dims.end()) return std::vector<int64_t>{};
  const ConstData* data = value(i);
  if (data == nullptr)
    return fail(Errc::unsupported, tensor.name,
                fmt::format("must be known, but {}; give {}",
                            tensor.constant ? "has no elements at hand" : "isn't constant",
                            value_advice(graph_, node_.inputs[i])));
  return data->integers();
}

std::optional<int64_t> NodeView::noted_size(std::string_view of) const {
  for (const Assumption& a : graph_.assumed)
    if (a.of == of && a.node == node_.name) return a.size;
  return std::nullopt;
}

const Attribute* NodeView::find_attribute(std::string_view name) const {
  for (const Attribute& a : node_.attributes)
    if (a.name == name) return &a;
  return nullptr;
}

int64_t NodeView::attr(std::string_view name, int64_t fallback) const {
  const auto* v = held_value<int64_t>(find_attribute(name));
  return v != nullptr ? *v : fallback;
}

double NodeView::attr(std::string_view name, double fallback) const {
  const auto* v = held_value<double>(find_attribute(name));
  return v != nullptr ? *v : fallback;
}

std::string NodeView::attr(std::string_view name, const char* fallback) const {
  const auto* v = held_value<std::string>(find_attribute(name));
  return v != nullptr ? *v : fallback;
}

std::vector<int64_t> NodeView::attr(std::string_view name,
                                    const std::vector<int64_t>& fallback) const {
  const auto* v = held_value<std::vector<int64_t>>(find_attribute(name));
  return v != nullptr ? *v : fallback;
}

std::optional<std::vector<int64_t>> NodeView::attr_ints(std::string_view name) const {
  const auto* v = held_value<std::vector<int64_t>>(find_attribute(name));
  return v != nullptr ? std::optional(*v) : std::nullopt;
}

void InferContext::set_output(size_t i, DType dtype, Dims dims) {
  if (!has_output(i)) return;
  Tensor& tensor = mutable_graph_.tensor(node_.outputs[i]);
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
}

Result<int64_t> InferContext::assumed_size(std::string_view of, int64_t bound) {
  return assumed_size({.of = std::string(of), .bound = bound, .size = bound});
}

Result<int64_t> InferContext::assumed_size(Assumption asked) {
  asked.node = node_.name;
  return assume_size(mutable_graph_, std::move(asked));
}

void InferContext::set_value(size_t i, std::vector<int64_t> integers) {
  set_value(i, std::make_shared<const ConstData>(std::move(integers)));
}

void InferContext::set_value(size_t i, std::vector<double> reals) {
  set_value(i, std::make_shared<const ConstData>(std::move(reals)));
}

void InferContext::set_value(size_t i, ConstPtr value) {
  if (!has_output(i)) return;
  Tensor& tensor = mutable_graph_.tensor(node_.outputs[i]);
  check(value && static_cast<int64_t>(value->size()) == elements(tensor.dims),
        "a rule set a value of another size than its tensor");
  // Shape rules know some values that no input's value is needed for (Shape of an activation).
  tensor.constant = true;
  tensor.value = std::move(value);
}

void InferContext::set_assumed_value(size_t i, ConstPtr value) {
  if (!has_output(i) || is_output_given(i)) return;
  const bool constant = output(i).constant;
  set_value(i, std::move(value));
  mutable_graph_.tensor(node_.outputs[i]).constant = constant;
}

bool InferContext::is_output_given(size_t i) const {
  return has_output(i) && graph_.given_values.contains(output(i).name);
}

Result<int64_t> normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return Error{
        Errc::invalid,
        fmt::format("axis {} is outside [{}, {}) of a tensor of rank {}", axis, -rank, rank, rank),
        ""};
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> normalize_axes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    const Result<int64_t> normal = normalize_axis(axis, rank);
    if (!normal) return normal.errors();
    axis = *normal;
  }
  std::ranges::sort(axes);
  const auto twin = std::ranges::adjacent_find(axes);
  if (twin != axes.end())
    return Error{Errc::invalid, fmt::format("axis {} is given twice", *twin), ""};
  return axes;
}

}  // namespace accsim::sim
