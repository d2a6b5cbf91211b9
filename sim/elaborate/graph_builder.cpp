#include "sim/elaborate/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/elaborate/given_values.h"
#include "sim/elaborate/node_label.h"
#include "sim/elaborate/operator_rules.h"
#include "sim/graph/module_path.h"

namespace accsim::sim {
namespace {

/// Version of ai.onnx that internal nodes are written in: axes of Unsqueeze are an input from it
/// on.
constexpr int64_t kInternalOpset = 13;
/// The id of the first sequence; those after it are smaller.
constexpr TensorId kFirstSequence = kNoTensor - 1;

}  // namespace

TensorId GraphBuilder::add_sequence(TensorIds tensors) {
  sequences_.push_back(std::move(tensors));
  return kFirstSequence - static_cast<TensorId>(sequences_.size() - 1);
}

const TensorIds* GraphBuilder::find_sequence(TensorId id) const {
  return id > kFirstSequence ? nullptr : &sequences_[static_cast<size_t>(kFirstSequence - id)];
}

void GraphBuilder::rewind_to(const Mark& mark) {
  graph_.tensors.resize(mark.tensors);
  graph_.nodes.resize(mark.nodes);
  graph_.assumed.resize(mark.assumed);
  const auto is_gone = [&](TensorId id) { return id >= static_cast<TensorId>(mark.tensors); };
  std::erase_if(asked_, is_gone);
  std::erase_if(given_, [&](const auto& given) { return is_gone(given.second); });
  sequences_.resize(mark.sequences);
}

std::optional<int64_t> GraphBuilder::known_scalar(TensorId id) {
  if (id < 0) return std::nullopt;
  note_asked(id);
  const Tensor& tensor = graph_.tensor(id);
  if (!tensor.value || tensor.value->size() != 1 || !tensor.value->is_integer())
    return std::nullopt;
  return tensor.value->integers().front();
}

void GraphBuilder::set_bindings(std::map<std::string, int64_t> bindings,
                                std::vector<std::string> defaulted) {
  graph_.bindings = std::move(bindings);
  graph_.defaulted = std::move(defaulted);
}

Result<TensorId> GraphBuilder::add_tensor(Tensor tensor) {
  if (const Status taken = budget_.take_tensor(tensor); !taken) return taken.errors();
  graph_.tensors.push_back(std::move(tensor));
  const auto id = static_cast<TensorId>(graph_.tensors.size() - 1);
  if (const Status given = take_given(id); !given) return given.errors();
  return id;
}

Status GraphBuilder::take_given(TensorId id) {
  Tensor& tensor = graph_.tensor(id);
  const auto given = graph_.given_values.find(tensor.name);
  if (given == graph_.given_values.end()) return ok();
  if (tensor.constant && tensor.value)
    return Error{
        Errc::usage,
        fmt::format("--value gives '{}', which is constant: its value is known", tensor.name), ""};
  Result<ConstPtr> value = fit_value(given->second, tensor);
  if (!value) return value.errors();
  tensor.value = std::move(*value);
  given_[tensor.name] = id;
  budget_.take_values(static_cast<int64_t>(tensor.value->size()));
  return ok();
}

Status GraphBuilder::rename_tensor(TensorId id, std::string name) {
  graph_.tensor(id).name = std::move(name);
  return take_given(id);
}

Result<TensorId> GraphBuilder::add_integers(std::string name, Dims dims,
                                            std::vector<int64_t> values, DType dtype) {
  return add_constant(std::move(name), std::move(dims), ConstData(std::move(values)), dtype);
}

Result<TensorId> GraphBuilder::add_constant(std::string name, Dims dims, ConstData values,
                                            DType dtype) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.origin = Tensor::Origin::initializer;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.constant = true;
  tensor.value = std::make_shared<const ConstData>(std::move(values));
  return add_tensor(std::move(tensor));
}

Result<NodeId> GraphBuilder::append_node(Node node, const std::vector<std::string>& outputs) {
  int64_t bytes = 0;
  for (const std::string& output : outputs)
    bytes += static_cast<int64_t>(sizeof(Tensor) + output.size());
  if (const Status taken = budget_.take_node(node, bytes); !taken)
    return put_at(node_label(node), taken.errors());
  const NodeId id = next_node();
  for (const std::string& output : outputs) {
    if (output.empty()) {
      node.outputs.push_back(kNoTensor);
      continue;
    }
    node.outputs.push_back(static_cast<TensorId>(graph_.tensors.size()));
    Tensor& tensor = graph_.tensors.emplace_back();
    tensor.name = output;
    tensor.producer = id;
  }
  graph_.nodes.push_back(std::move(node));
  return id;
}

Result<TensorIds> GraphBuilder::add_node(Node node, const std::vector<std::string>& outputs,
                                         const OpRow& row) {
  const Result<NodeId> id = append_node(std::move(node), outputs);
  if (!id) return id.errors();
  const size_t assumed = graph_.assumed.size();
  const Status inferred = apply_rules(row, graph_, *id, budget_);
  const Node& added = graph_.nodes.back();
  for (size_t i = assumed; i < graph_.assumed.size(); ++i)
    graph_.assumed[i].op_type = added.op_type;
  if (!inferred) return put_at(node_label(added), inferred.errors());
  for (const TensorId output : added.outputs)
    if (output != kNoTensor)
      if (const Status given = take_given(output); !given) return given.errors();
  return added.outputs;
}

Result<TensorIds> GraphBuilder::add_unsupported(Node node, const std::vector<std::string>& outputs,
                                                const std::vector<DeclaredType>& declared) {
  const Result<NodeId> appended = append_node(std::move(node), outputs);
  if (!appended) return appended.errors();
  const Node& added = graph_.nodes[static_cast<size_t>(*appended)];
  DeclaredType assumed{DType::float32, Dims{}};
  const auto present = std::ranges::find_if(added.inputs, [](TensorId id) { return id >= 0; });
  if (present != added.inputs.end())
    assumed = {graph_.tensor(*present).dtype, graph_.tensor(*present).dims};
  for (size_t i = 0; i < added.outputs.size(); ++i) {
    if (added.outputs[i] == kNoTensor) continue;
    Tensor& tensor = graph_.tensor(added.outputs[i]);
    const DType dtype = declared[i].dtype;
    tensor.dtype = dtype == DType::undefined ? assumed.dtype : dtype;
    tensor.dims = declared[i].dims ? *declared[i].dims : *assumed.dims;
  }
  for (TensorId id : added.outputs) {
    if (id == kNoTensor) continue;
    const Status taken = budget_.take_tensor(graph_.tensor(id));
    if (!taken) return put_at(node_label(added), taken.errors());
    if (const Status given = take_given(id); !given) return given.errors();
  }
  return added.outputs;
}

Result<TensorId> GraphBuilder::add_internal(std::string op_type, std::string name, TensorIds inputs,
                                            std::vector<Attribute> attributes) {
  const std::string output = name + "_output";
  std::string module = module_from_name(name);
  Node node{std::move(name),
            std::move(op_type),
            "",
            kInternalOpset,
            std::move(inputs),
            {},
            std::move(attributes),
            false,
            std::move(module)};
  if (const Status step = budget_.take_step(); !step)
    return put_at(node_label(node), step.errors());
  const OpRow* row = find_op(node.domain, node.op_type);
  check(row != nullptr, "an internal node of an operator that has no row");
  const Result<TensorIds> outputs = add_node(std::move(node), {output}, *row);
  if (!outputs) return outputs.errors();
  return outputs->front();
}

Graph GraphBuilder::finish_graph(TensorIds inputs, TensorIds outputs) {
  graph_.inputs = std::move(inputs);
  graph_.outputs = std::move(outputs);
  return std::move(graph_);
}

}  // namespace accsim::sim
