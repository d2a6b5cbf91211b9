#include "sim/run/run_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "sim/base/read_file.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/node_label.h"
#include "sim/elaborate/symbols.h"
#include "sim/ref/npy.h"
#include "sim/ref/raw.h"

namespace accsim::sim {
namespace {

/// The first element that the type can't hold, as text; nullopt: it can hold all.
std::optional<std::string> beyond_type(const ref::Array& array, const ref::Array& converted) {
  if (is_float(array.dtype())) {
    const std::vector<double> from = array.reals(), to = converted.reals();
    for (size_t i = 0; i < from.size(); ++i)
      if (std::isfinite(from[i]) && !std::isfinite(to[i])) return fmt::format("{:g}", from[i]);
    return std::nullopt;
  }
  const std::vector<int64_t> from = array.integers(), to = converted.integers();
  // Beyond 2^63 an unsigned integer has the bits of a negative one.
  const bool is_unsigned = array.kind() == ref::ElementKind::u64;
  const bool of_unsigned = converted.kind() == ref::ElementKind::u64;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i] && (from[i] >= 0 || is_unsigned == of_unsigned)) continue;
    return is_unsigned ? fmt::format("{}", static_cast<uint64_t>(from[i]))
                       : fmt::format("{}", from[i]);
  }
  return std::nullopt;
}

/// The elements of a file as those of an input, converted where they are of another width and fit.
Result<ref::Array> fit_to_input(ref::Array array, DType wanted, const InputSource& source) {
  if (array.dtype() == wanted || !ref::element_kind(wanted)) return array;
  const bool texts = wanted == DType::string || array.dtype() == DType::string;
  if (texts || is_float(wanted) != is_float(array.dtype()))
    return Error{Errc::invalid,
                 fmt::format("holds {}, but input '{}' is {}", name(array.dtype()), source.name,
                             name(wanted)),
                 source.file};
  ref::Array converted = array.converted_to(wanted);
  ref::round_elements(converted);
  if (const auto element = beyond_type(array, converted))
    return Error{Errc::invalid,
                 fmt::format("holds {}, which is beyond {} of input '{}'", *element, name(wanted),
                             source.name),
                 source.file};
  return converted;
}

/// Tensors that a run may be given.
using Givable = std::map<std::string_view, const ValueDef*>;

Givable givable_tensors(const ModelDef& model, const ModelInputs& inputs) {
  Givable out;
  for (const ValueDef& input : model.graph.inputs)
    if (input.is_tensor) out.emplace(input.name, &input);
  for (const ValueDef& tensor : inputs.made) out.emplace(tensor.name, &tensor);
  return out;
}

const ValueDef* declared_input(const Givable& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second;
}

/// The number behind "<sequence>/"; nullopt: it is another name.
std::optional<int64_t> index_in(const std::string& sequence, std::string_view name) {
  if (!name.starts_with(sequence + "/")) return std::nullopt;
  name.remove_prefix(sequence.size() + 1);
  const bool digits = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  if (name.empty() || name.size() > 9 || !digits) return std::nullopt;
  return std::stoll(std::string(name));
}

bool is_left_out(const ValueDef& optional, const ElaborateOptions& options) {
  const auto given = options.sizes.find(optional.name);
  return given != options.sizes.end() && given->second == 0;
}

/// Sequences have the tensors that are given and those before them, where nothing else is said.
void count_given(const ModelDef& model, const std::vector<InputSource>& given,
                 ElaborateOptions& options) {
  std::map<std::string, int64_t> sizes;
  for (const ValueDef& input : model.graph.inputs)
    for (const InputSource& source : given)
      if (const auto i = index_in(input.name, source.name); i && input.is_sequence)
        sizes[input.name] = std::max(sizes[input.name], *i + 1);
      else if (input.is_optional && source.name == input.name)
        sizes[input.name] = 1;
  options.sizes.merge(sizes);
}

Error no_input(const std::string& name, const char* of, const std::vector<std::string>& inputs) {
  return {
      Errc::usage,
      fmt::format("{} has no input '{}'; its inputs are: {}", of, name, fmt::join(inputs, ", ")),
      "--input"};
}

Result<std::string> read_source(const InputSource& source) {
  return read_bytes(source.file, "a .npy file, or one of raw elements");
}

bool is_npy(const InputSource& source, std::string_view bytes) {
  return source.file.ends_with(".npy") || ref::begins_as_npy(bytes);
}

/// Shapes of input files for inputs whose declared shape leaves something open.
void take_shapes(const Givable& tensors, const ref::Arrays& arrays, ElaborateOptions& options) {
  for (const auto& [name, tensor] : tensors) {
    const ValueDef& input = *tensor;
    const auto given = arrays.find(input.name);
    if (given == arrays.end() || given_shape(input, options) != nullptr) continue;
    const bool open = !input.dims ||
                      std::ranges::any_of(*input.dims, [](const DimDef& d) { return d.value < 0; });
    const bool fits = !input.dims || input.dims->size() == given->second.dims().size();
    if (open && fits) options.input_shapes[input.name] = given->second.dims();
  }
}

/// Element i of each array along its first axis.
ref::Array slice_of(const ref::Array& all, int64_t i) {
  const int64_t each = all.size() / all.dims()[0];
  ref::Array out(all.dtype(), Dims(all.dims().begin() + 1, all.dims().end()));
  const auto bytes = static_cast<size_t>(each * kind_bytes(all.kind()));
  std::memcpy(out.raw_data(),
              static_cast<const char*>(all.raw_data()) + static_cast<size_t>(i) * bytes, bytes);
  out.set_texts(all.texts());
  return out;
}

/// Takes apart files with an axis more than their input has: so many inputs one behind the other.
void take_series(size_t rank, int64_t count, const std::string& name, GivenInputs& given) {
  ref::Array& array = given.arrays.at(name);
  if (count == 1 || array.dims().size() != rank + 1 || array.dims()[0] != count) return;
  for (int64_t i = 0; i < count; ++i) given.series[name].push_back(slice_of(array, i));
  array = given.series[name].front();
}

/// The shapes of what the model is given, by name, as elaboration binds them.
Result<std::map<std::string, Dims>> bound_shapes(const ModelDef& model, const InputDefs& inputs,
                                                 const ElaborateOptions& options) {
  const Result<BoundInputs> bound = bind_symbols(inputs, options);
  if (!bound) return put_at(model.file, bound.errors());
  std::map<std::string, Dims> out;
  for (size_t i = 0; i < inputs.size(); ++i) out.emplace(inputs[i]->name, bound->dims[i]);
  return out;
}

/// Raw elements of an input, or of `count` of them one behind the other.
Result<ref::Array> raw_input(const InputSource& source, std::string_view bytes, DType dtype,
                             Dims dims, int64_t count) {
  const std::optional<int64_t> each = checked_elements(dims);
  const auto holds = static_cast<int64_t>(bytes.size());
  if (count > 1 && each && *each > 0 && holds / count == storage_bytes(dtype, *each) &&
      holds % count == 0)
    dims.insert(dims.begin(), count);
  Result<ref::Array> array = ref::from_raw(bytes, dtype, dims, source.file);
  if (array) return array;
  Errors errors = array.errors();
  for (Error& e : errors)
    e.message += fmt::format(", as input '{}' is; --input-shape or --bind gives it another shape",
                             source.name);
  return errors;
}

}  // namespace

void drop_defaults(const RunRequest& request, ModelDef& model) {
  std::erase_if(model.graph.initializers, [&](const StoredTensor& stored) {
    return std::ranges::find(request.inputs, stored.name, &InputSource::name) !=
               request.inputs.end() &&
           std::ranges::find(model.graph.inputs, stored.name, &ValueDef::name) !=
               model.graph.inputs.end();
  });
}

namespace {

/// Names of the tensors that may be given.
std::vector<std::string> givable_names(const ModelDef& model, const ModelInputs& inputs) {
  std::vector<std::string> out;
  for (const ValueDef& input : model.graph.inputs)
    if (!input.is_sequence) out.push_back(input.name);
  for (const ValueDef& tensor : inputs.made) out.push_back(tensor.name);
  return out;
}

}  // namespace

Result<GivenInputs> read_model_inputs(const ModelDef& model, const RunRequest& request,
                                      ElaborateOptions& options) {
  GivenInputs out;
  count_given(model, request.inputs, options);
  const Result<ModelInputs> inputs = model_inputs(model, options);
  if (!inputs) return put_at(model.file, inputs.errors());
  const Givable tensors = givable_tensors(model, *inputs);
  std::vector<std::pair<const InputSource*, std::string>> raw;
  Errors errors;
  const auto note = [&](const Errors& found) {
    errors.insert(errors.end(), found.begin(), found.end());
  };
  const std::vector<std::string> names = givable_names(model, *inputs);
  for (const InputSource& source : request.inputs) {
    const ValueDef* const input = declared_input(tensors, source.name);
    if (input == nullptr && options.cut.empty())
      errors.push_back(no_input(source.name, "the model", names));
    const bool left_out = input != nullptr && input->is_optional && is_left_out(*input, options);
    if (left_out)
      errors.push_back(
          {Errc::usage, "an optional that --assume leaves out", "input '" + source.name + "'"});
    if (input == nullptr || left_out || source.file.empty()) continue;
    Result<std::string> bytes = read_source(source);
    if (!bytes) {
      note(bytes.errors());
      continue;
    }
    if (!is_npy(source, *bytes)) {
      raw.emplace_back(&source, std::move(*bytes));
      continue;
    }
    Result<ref::Array> array = ref::from_npy(*bytes, source.file);
    if (array) array = fit_to_input(std::move(*array), input->dtype, source);
    if (!array) {
      note(array.errors());
      continue;
    }
    out.arrays[source.name] = std::move(*array);
    if (input->dims) take_series(input->dims->size(), request.count, source.name, out);
  }
  if (!errors.empty()) return errors;
  take_shapes(tensors, out.arrays, options);
  if (raw.empty()) return out;
  const auto shapes = bound_shapes(model, inputs->free, options);
  if (!shapes) return shapes.errors();
  for (const auto& [source, bytes] : raw) {
    const auto shape = shapes->find(source->name);
    if (shape == shapes->end()) continue;  // fixed to a value
    const Dims& dims = shape->second;
    const DType dtype = declared_input(tensors, source->name)->dtype;
    Result<ref::Array> array = raw_input(*source, bytes, dtype, dims, request.count);
    if (!array) {
      note(array.errors());
      continue;
    }
    out.arrays[source->name] = std::move(*array);
    take_series(dims.size(), request.count, source->name, out);
  }
  if (!errors.empty()) return errors;
  return out;
}

Status read_part_inputs(const Graph& graph, const RunRequest& request,
                        const std::map<std::string, StoredTensor>& fixed, ref::Arrays& arrays) {
  std::map<std::string, const Tensor*> inputs;
  std::vector<std::string> names;
  for (const TensorId id : graph.inputs) {
    names.push_back(graph.tensor(id).name);
    inputs.emplace(names.back(), &graph.tensor(id));
  }
  Errors errors;
  for (const InputSource& source : request.inputs) {
    if (fixed.contains(source.name)) continue;
    const auto input = inputs.find(source.name);
    if (input == inputs.end()) errors.push_back(no_input(source.name, "the part", names));
    if (input == inputs.end() || source.file.empty() || arrays.contains(source.name)) continue;
    const Tensor& tensor = *input->second;
    const Result<std::string> bytes = read_source(source);
    Result<ref::Array> array = !bytes ? Result<ref::Array>(bytes.errors())
                               : is_npy(source, *bytes)
                                   ? ref::from_npy(*bytes, source.file)
                                   : raw_input(source, *bytes, tensor.dtype, tensor.dims, 1);
    if (array) array = fit_to_input(std::move(*array), tensor.dtype, source);
    if (array)
      arrays[source.name] = std::move(*array);
    else
      errors.insert(errors.end(), array.errors().begin(), array.errors().end());
  }
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
