#include "sim/elaborate/model_inputs.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "sim/elaborate/budget.h"
#include "sim/elaborate/node_label.h"

namespace accsim::sim {
namespace {

std::string input_label(const ValueDef& input) { return fmt::format("input '{}'", input.name); }

Tensor initializer_tensor(std::string name, const StoredTensor& stored) {
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

constexpr int64_t kMostTensors = kMostIterations;  ///< of a sequence

/// How many tensors an input stands for.
Result<int64_t> count_tensors(const ValueDef& input, const ElaborateOptions& options) {
  if (!input.is_tensor && !input.is_sequence)
    return Error{Errc::unsupported,
                 "is a map or sparse tensor; only dense tensors, and sequences and optionals of "
                 "them, are supported",
                 input_label(input)};
  if (input.dtype == DType::undefined)
    return Error{Errc::invalid, "has no element type", input_label(input)};
  if (!input.is_sequence && !input.is_optional) return 1;
  const auto given = options.sizes.find(input.name);
  if (given == options.sizes.end()) return 1;
  const int64_t most = input.is_sequence ? kMostTensors : 1;
  if (given->second <= most) return given->second;
  return Error{
      Errc::usage,
      fmt::format("--assume gives {} tensors, of which there are at most {}", given->second, most),
      input_label(input)};
}

/// Tensor i of a sequence.
ValueDef tensor_of(const ValueDef& sequence, int64_t i) {
  ValueDef out = sequence;
  out.name = fmt::format("{}/{}", sequence.name, i);
  out.is_tensor = true;
  out.is_sequence = out.is_optional = false;
  out.part_of = sequence.name;
  return out;
}

Tensor input_tensor(const ValueDef& input, Dims dims) {
  Tensor tensor;
  tensor.name = input.name;
  tensor.origin = Tensor::Origin::input;
  tensor.dtype = input.dtype;
  tensor.dims = std::move(dims);
  return tensor;
}

/// Who calls the model decides how many tensors an optional or sequence has.
Status note_tensors(const ValueDef& input, int64_t tensors, GraphBuilder& builder) {
  if (!input.is_sequence && !input.is_optional) return ok();
  const Result<int64_t> noted =
      builder.assume_size({.node = input.name,
                           .op_type = input.is_sequence ? "sequence inputs" : "optional inputs",
                           .of = "tensors",
                           .bound = input.is_sequence ? kMostTensors : 1,
                           .size = tensors,
                           .input = true});
  if (!noted) return put_at(input_label(input), noted.errors());
  return ok();
}

}  // namespace

Result<ModelInputs> model_inputs(const ModelDef& model, const ElaborateOptions& options) {
  ModelInputs out;
  Errors errors;
  for (const ValueDef* input : not_stored(model)) {
    if (options.constants.contains(input->name)) {
      out.all.push_back({input, {input}});
      continue;
    }
    const Result<int64_t> tensors = count_tensors(*input, options);
    if (!tensors) {
      const Errors& found = tensors.errors();
      errors.insert(errors.end(), found.begin(), found.end());
      continue;
    }
    out.all.push_back({input, {}});
    for (int64_t i = 0; i < *tensors; ++i) {
      const ValueDef* const tensor =
          input->is_sequence ? &out.made.emplace_back(tensor_of(*input, i)) : input;
      out.all.back().tensors.push_back(tensor);
      if (!options.constants.contains(tensor->name)) out.free.push_back(tensor);
    }
  }
  if (!errors.empty()) return errors;
  return out;
}

Result<TensorIds> add_model_inputs(const ElaborateOptions& options, const ModelInputs& inputs,
                                   BoundInputs bound, GraphBuilder& builder, Scope& scope) {
  builder.set_bindings(std::move(bound.bindings), std::move(bound.defaulted));
  TensorIds free;
  size_t next = 0;
  for (const ModelInputs::Input& input : inputs.all) {
    TensorIds ids;
    for (const ValueDef* tensor : input.tensors) {
      const auto fixed = options.constants.find(tensor->name);
      const bool is_fixed = fixed != options.constants.end();
      const Result<TensorId> id =
          builder.add_tensor(is_fixed ? initializer_tensor(tensor->name, fixed->second)
                                      : input_tensor(*tensor, std::move(bound.dims[next++])));
      if (!id) return id.errors();
      ids.push_back(*id);
      if (!is_fixed) free.push_back(*id);
    }
    if (const Status s = note_tensors(*input.declared, std::ssize(ids), builder); !s)
      return s.errors();
    const TensorId id =
        input.declared->is_sequence && (!ids.empty() || !input.declared->is_optional)
            ? builder.add_sequence(std::move(ids))
        : ids.empty() ? kNoTensor
                      : ids.front();
    if (!scope.names.emplace(input.declared->name, id).second)
      return Error{Errc::invalid, "is listed twice", input_label(*input.declared)};
  }
  return free;
}

Status add_initializers(const GraphDef& graph, GraphBuilder& builder, Scope& scope) {
  for (const StoredTensor& stored : graph.initializers) {
    const Result<TensorId> id =
        builder.add_tensor(initializer_tensor(scope.prefix + stored.name, stored));
    if (!id) return id.errors();
    if (!scope.names.emplace(stored.name, *id).second)
      return Error{Errc::invalid, "is stored twice, or once as an input's fixed value",
                   fmt::format("initializer '{}'", stored.name)};
  }
  return ok();
}

}  // namespace accsim::sim
