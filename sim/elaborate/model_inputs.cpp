#include "sim/elaborate/model_inputs.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

namespace accsim::sim {
namespace {

std::string input_label(const ValueDef& input) { return fmt::format("input '{}'", input.name); }

Tensor initializer(std::string name, const StoredTensor& stored) {
  return {std::move(name), Tensor::Origin::initializer,
          stored.dtype,    stored.dims,
          kNoNode,         true,
          stored.value,    stored.payload};
}

/// Up to IR 3 initializers are listed as inputs too.
std::vector<const ValueDef*> not_stored(const ModelDef& model) {
  std::set<std::string_view> stored;
  for (const StoredTensor& tensor : model.graph.initializers) stored.insert(tensor.name);
  std::vector<const ValueDef*> out;
  for (const ValueDef& input : model.graph.inputs)
    if (!stored.contains(input.name)) out.push_back(&input);
  return out;
}

}  // namespace

Result<InputDefs> free_inputs(const ModelDef& model, const ElaborateOptions& options) {
  InputDefs inputs = not_stored(model);
  std::erase_if(inputs,
                [&](const ValueDef* input) { return options.constants.contains(input->name); });
  Errors errors;
  for (const ValueDef* input : inputs)
    if (!input->is_tensor)
      errors.push_back({Errc::unsupported,
                        "is a sequence, map, optional or sparse tensor; only dense tensors are "
                        "supported",
                        input_label(*input)});
    else if (input->dtype == DType::undefined)
      errors.push_back({Errc::invalid, "has no element type", input_label(*input)});
  if (!errors.empty()) return errors;
  return inputs;
}

Result<TensorIds> add_model_inputs(const ModelDef& model, const ElaborateOptions& options,
                                   const InputDefs& inputs, BoundInputs bound,
                                   GraphBuilder& builder, Scope& scope) {
  for (const ValueDef* input : not_stored(model)) {
    const auto fixed = options.constants.find(input->name);
    if (fixed == options.constants.end()) continue;
    const Result<TensorId> id = builder.add_tensor(initializer(input->name, fixed->second));
    if (!id) return id.errors();
    scope.names.emplace(input->name, *id);
  }
  builder.bind(std::move(bound.bindings), std::move(bound.defaulted));
  TensorIds ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueDef& input = *inputs[i];
    Tensor tensor;
    tensor.name = input.name;
    tensor.origin = Tensor::Origin::input;
    tensor.dtype = input.dtype;
    tensor.dims = std::move(bound.dims[i]);
    const Result<TensorId> id = builder.add_tensor(std::move(tensor));
    if (!id) return id.errors();
    if (!scope.names.emplace(input.name, *id).second)
      return Error{Errc::invalid, "is listed twice", input_label(input)};
    ids.push_back(*id);
  }
  return ids;
}

Status add_initializers(const GraphDef& graph, GraphBuilder& builder, Scope& scope) {
  for (const StoredTensor& stored : graph.initializers) {
    const Result<TensorId> id = builder.add_tensor(initializer(scope.prefix + stored.name, stored));
    if (!id) return id.errors();
    if (!scope.names.emplace(stored.name, *id).second)
      return Error{Errc::invalid, "is stored twice, or once as an input's fixed value",
                   fmt::format("initializer '{}'", stored.name)};
  }
  return ok();
}

}  // namespace accsim::sim
