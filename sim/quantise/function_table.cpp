#include "sim/quantise/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/ref/executor.h"

namespace accsim::sim {
namespace {

ref::Array array_of_reals(DType dtype, const std::vector<double>& values) {
  ref::Array out(dtype, {static_cast<int64_t>(values.size())});
  const auto real = [&](double v) { return dtype == DType::boolean && v != 0 ? 1 : v; };
  with_element_kind(out.kind(), [&]<class T>(T) {
    for (size_t i = 0; i < values.size(); ++i) out.data<T>()[i] = static_cast<T>(real(values[i]));
  });
  ref::round_elements(out);
  return out;
}

/// The function's nodes as a graph of their own, of a row of arguments; its inputs are the argument
/// and the constants.
class FunctionGraph {
 public:
  FunctionGraph(const Graph& whole, const UnaryFunction& function, const Constants& constants)
      : whole_(whole), function_(function), constants_(constants) {
    graph_.file = whole.file;
    graph_.opset = whole.opset;
    graph_.ir_version = whole.ir_version;
  }

  Result<std::vector<double>> values_at(const std::vector<double>& at) {
    const Dims row = {static_cast<int64_t>(at.size())};
    ref::Arrays inputs;
    const TensorId argument = add_tensor(function_.of, row, Tensor::Origin::input);
    inputs[graph_.tensor(argument).name] = array_of_reals(whole_.tensor(function_.of).dtype, at);
    for (const NodeId id : function_.nodes)
      if (Status s = add_node(whole_.nodes[static_cast<size_t>(id)], row, inputs); !s)
        return s.errors();
    graph_.outputs = {graph_.nodes.back().outputs[0]};
    const Result<ref::RunResult> result = ref::run_graph(graph_, inputs, {});
    if (!result) return result.errors();
    return result->outputs.begin()->second.reals();
  }

 private:
  TensorId add_tensor(TensorId id, Dims dims, Tensor::Origin origin) {
    Tensor t = whole_.tensor(id);
    t.name = fmt::format("{}", id);
    t.dims = std::move(dims);
    t.origin = origin;
    t.producer = kNoNode;
    const auto copy = static_cast<TensorId>(graph_.tensors.size());
    graph_.tensors.push_back(std::move(t));
    if (origin == Tensor::Origin::input) graph_.inputs.push_back(copy);
    copies_[id] = copy;
    return copy;
  }

  Status add_node(Node node, const Dims& row, ref::Arrays& inputs) {
    for (TensorId& id : node.inputs) {
      if (id == kNoTensor) continue;
      if (!copies_.contains(id)) {
        Result<ref::Array> value = constants_(id);
        if (!value) return value.errors();
        const TensorId copy = add_tensor(id, {}, Tensor::Origin::input);
        // Of all elements the same.
        const ref::Array one = value->size() == 1
                                   ? std::move(*value)
                                   : array_of_reals(value->dtype(), {value->reals().front()});
        inputs[graph_.tensor(copy).name] = one.reshaped({});
      }
      id = copies_.at(id);
    }
    for (TensorId& id : node.outputs) {
      if (id == kNoTensor) continue;
      id = add_tensor(id, row, Tensor::Origin::node);
      graph_.tensor(id).producer = static_cast<NodeId>(graph_.nodes.size());
    }
    graph_.nodes.push_back(std::move(node));
    return ok();
  }

  const Graph& whole_;
  const UnaryFunction& function_;
  const Constants& constants_;
  Graph graph_;
  std::map<TensorId, TensorId> copies_;
};

}  // namespace

Result<std::vector<double>> evaluate_function(const Graph& graph, const UnaryFunction& function,
                                              const Constants& constants,
                                              const std::vector<double>& at) {
  return FunctionGraph(graph, function, constants).values_at(at);
}

Result<std::vector<int8_t>> function_table(const Graph& graph, const UnaryFunction& function,
                                           const Constants& constants,
                                           const hw::ElementScale& argument,
                                           const hw::ElementScale& result) {
  std::vector<double> at;
  for (int v = kLowestCode; v <= kHighestCode; ++v)
    at.push_back((v - argument.zero) * argument.scale);
  const Result<std::vector<double>> values = evaluate_function(graph, function, constants, at);
  if (!values) return values.errors();
  std::vector<int8_t> out;
  for (const double y : *values) {
    const double steps = std::isnan(y) ? 0 : std::round(y / result.scale);
    out.push_back(static_cast<int8_t>(
        std::clamp(steps + result.zero, double{kLowestCode}, double{kHighestCode})));
  }
  return out;
}

Result<AffineFunction> affine_function(const Graph& graph, const UnaryFunction& function,
                                       const Constants& constants, double range) {
  const Result<std::vector<double>> ends =
      evaluate_function(graph, function, constants, {-range, range});
  if (!ends) return ends.errors();
  return AffineFunction{((*ends)[1] - (*ends)[0]) / (2 * range), ((*ends)[1] + (*ends)[0]) / 2};
}

}  // namespace accsim::sim
