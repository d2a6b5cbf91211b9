#include "sim/ref/kernel_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/limits.h"
#include "sim/operators/fold.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim::ref {

KernelContext::KernelContext(const Graph& graph, const Node& node, std::vector<Array> inputs,
                             RunState& state)
    : NodeView(graph, node),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size()),
      state_(state) {}

const Array& KernelContext::input_array(size_t i) const {
  check(i < inputs_.size() && !inputs_[i].empty(), "a kernel read an absent input");
  return inputs_[i];
}

void KernelContext::hold_converted(size_t i) const {
  constexpr int64_t kBytes = sizeof(double);  // and of int64_t
  int64_t largest = 0, results = 0;
  for (size_t k = 0; k < inputs_.size(); ++k)
    if (has_input(k) && !inputs_[k].empty()) largest = std::max(largest, inputs_[k].size());
  for (size_t k = 0; k < outputs_.size(); ++k)
    if (has_output(k)) results += elements(output(k).dims);
  held_.emplace_back(state_.memory, kBytes * input_array(i).size());
  if (holds_results_ || input_array(i).size() < largest) return;
  holds_results_ = true;
  held_.emplace_back(state_.memory, kBytes * results);
}

std::vector<double> KernelContext::reals(size_t i) const {
  if (!has_input(i)) return {};
  hold_converted(i);
  return input_array(i).reals();
}

std::vector<int64_t> KernelContext::integers(size_t i) const {
  if (!has_input(i)) return {};
  hold_converted(i);
  return input_array(i).integers();
}

double KernelContext::real_or(size_t i, double fallback) const {
  if (!has_input(i) || input_array(i).size() == 0) return fallback;
  return with_element_kind(input_array(i).kind(), [&]<class T>(T) {
    return static_cast<double>(input_array(i).data<T>()[0]);
  });
}

Status KernelContext::spend_operations(double operations) const {
  state_.operations += operations;
  if (state_.operations <= state_.most_operations) return ok();
  return Error{Errc::capacity,
               fmt::format("{}: with these values the run would compute more than {} billion "
                           "operations; {} N takes N",
                           node().op_type, state_.most_operations / 1e9, kOperationsOption),
               ""};
}

Array& KernelContext::output_array(size_t i) {
  Array& array = outputs_.at(i);
  if (array.empty()) array = Array(output(i).dtype, output(i).dims, state_.memory);
  return array;
}

template <class Value>
void KernelContext::put_values(size_t i, std::span<const Value> values,
                               int64_t (*whole)(DType, Value)) {
  if (!has_output(i)) return;
  Array& array = output_array(i);
  check(static_cast<int64_t>(values.size()) == array.size(), "a kernel gave too many elements");
  const DType dtype = array.dtype();
  with_element_kind(array.kind(), [&]<class T>(T) {
    T* to = array.data<T>();
    for (size_t n = 0; n < values.size(); ++n) {
      if constexpr (std::is_floating_point_v<T>)
        to[n] = static_cast<T>(values[n]);
      else
        to[n] = static_cast<T>(whole(dtype, values[n]));
    }
  });
}

void KernelContext::put_output(size_t i, std::span<const double> values) {
  put_values(i, values, &to_integer);
}

void KernelContext::put_output(size_t i, std::span<const int64_t> values) {
  put_values(i, values, &wrap_to_type);
}

void KernelContext::share_output(size_t i, const Array& array) {
  if (has_output(i)) outputs_.at(i) = array.reshaped(output(i).dims).retyped(output(i).dtype);
}

Error refuse(const NodeView& node, std::string_view what) { return unsupported_node(node, what); }

Status one_of(const NodeView& node, const char* attribute, const char* fallback,
              std::string_view words) {
  const std::string value = node.attr(attribute, fallback);
  for (std::string_view rest = words; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == value) return ok();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return bad_node(node,
                  fmt::format("attribute '{}' is '{}', none of: {}", attribute, value, words));
}

namespace {

ConstPtr value_of(const Array& array) {
  if (array.kind() == ElementKind::f32 || array.kind() == ElementKind::f64)
    return std::make_shared<const ConstData>(array.reals());
  return std::make_shared<const ConstData>(array.integers());
}

/// A graph of one node whose inputs are initializers with values.
Graph graph_of(const KernelContext& step) {
  Graph small;
  Node node = step.node();
  for (TensorId& id : node.inputs) {
    if (id == kNoTensor) continue;
    const auto i = static_cast<size_t>(&id - node.inputs.data());
    Tensor tensor{step.input(i).name,
                  Tensor::Origin::initializer,
                  step.input_array(i).dtype(),
                  step.input_array(i).dims(),
                  kNoNode,
                  true,
                  value_of(step.input_array(i)),
                  {}};
    id = static_cast<TensorId>(small.tensors.size());
    small.tensors.push_back(std::move(tensor));
  }
  for (TensorId& id : node.outputs) {
    if (id == kNoTensor) continue;
    Tensor tensor;
    tensor.name = step.graph().tensor(id).name;
    tensor.producer = 0;
    id = static_cast<TensorId>(small.tensors.size());
    small.tensors.push_back(std::move(tensor));
  }
  small.nodes.push_back(std::move(node));
  return small;
}

/// What the graph and the rule make of the elements: inputs, copies of them in one type, results.
int64_t bytes_by_value(const KernelContext& step) {
  int64_t in = 0, out = 0;
  for (size_t i = 0; i < step.input_count(); ++i)
    if (step.has_input(i)) in += step.input_array(i).size();
  for (size_t i = 0; i < step.output_count(); ++i)
    if (step.has_output(i)) out += elements(step.out_dims(i));
  return (2 * in + out) * static_cast<int64_t>(sizeof(double));
}

}  // namespace

namespace {

bool has_nan(const KernelContext& step) {
  for (size_t i = 0; i < step.input_count(); ++i)
    if (step.has_input(i) && is_float(step.dtype(i)) &&
        std::ranges::any_of(step.reals(i), [](double v) { return std::isnan(v); }))
      return true;
  return false;
}

}  // namespace

Status by_value_rule(KernelContext& step) {
  const OpRow* row = find_op(step.node().domain, step.node().op_type);
  check(row != nullptr && row->value != nullptr, "no value rule for a kernel that uses it");
  const Held converted(step.memory(), bytes_by_value(step));
  Graph small = graph_of(step);
  InferContext context(small, small.nodes.front());
  if (Status s = row->shape(context); !s) return s;
  if (Status s = row->value(context); !s) return s;
  for (size_t i = 0; i < step.output_count(); ++i) {
    if (!step.has_output(i)) continue;
    const Tensor& tensor = small.tensor(small.nodes.front().outputs[i]);
    if (tensor.dims != step.output(i).dims)
      return refuse(step, fmt::format("output {} would be {} where {} was planned", i,
                                      to_string(tensor.dims), to_string(step.output(i).dims)));
    if (!tensor.value && has_nan(step))
      return refuse(step, "isn't defined for an input that has a NaN");
    if (!tensor.value)
      return refuse(
          step, fmt::format("isn't defined for these inputs, or not for {}", name(step.dtype(0))));
    if (tensor.value->is_integer())
      step.put_output(i, tensor.value->integers());
    else
      step.put_output(i, tensor.value->reals());
  }
  return ok();
}

}  // namespace accsim::sim::ref
