#include "sim/elaborate/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/sums.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/iterations.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/subgraph_outputs.h"
#include "sim/operators/names.h"
#include "sim/operators/value_advice.h"

namespace accsim::sim {
namespace {

/// The tensors of the sequence that is input 0.
Result<TensorIds> sequence_of(const NodeCall& call, const GraphBuilder& builder) {
  if (const TensorIds* tensors = builder.find_sequence(call.input(0))) return *tensors;
  return call.error_at_node(Errc::invalid, "its input 0 isn't a sequence of tensors");
}

/// Input i, which must be a tensor.
Result<TensorId> tensor_of(const NodeCall& call, size_t i, const GraphBuilder& builder) {
  if (call.input(i) != kNoTensor && !builder.find_sequence(call.input(i))) return call.input(i);
  return call.error_at_node(Errc::invalid, fmt::format("its input {} isn't a tensor", i));
}

/// Where input i points in a list of so many tensors, from their end when it is negative, `most` at
/// most; `fallback` when it is absent.
Result<int64_t> known_position(const NodeCall& call, size_t i, int64_t tensors, int64_t most,
                               int64_t fallback, GraphBuilder& builder) {
  if (call.input(i) == kNoTensor) return fallback;
  const std::optional<int64_t> at = builder.known_scalar(call.input(i));
  if (!at)
    return call.error_at_node(Errc::unsupported, "its position isn't constant; give " +
                                                     value_advice(builder.graph(), call.input(i)));
  if (*at < -tensors || *at > most)
    return call.error_at_node(
        Errc::invalid, fmt::format("position {} is outside of its {} tensors", *at, tensors));
  return *at < 0 ? *at + tensors : *at;
}

Status give_tensor(const NodeCall& call, TensorId id, NodeId first_node, GraphBuilder& builder) {
  return bind_outputs(call, {id}, first_node, builder);
}

Status give_sequence(const NodeCall& call, TensorIds tensors, GraphBuilder& builder) {
  return give_tensor(call, builder.add_sequence(std::move(tensors)), builder.next_node(), builder);
}

/// Input 0 of a SplitToSequence, and how it is cut.
struct Cut {
  TensorId of = kNoTensor;
  int64_t axis = 0;
  bool squeezed = false;       ///< parts of one index each, without the axis
  std::vector<int64_t> sizes;  ///< of the parts along the axis
};

Status check_count(const NodeCall& call, int64_t parts) {
  if (parts <= kMostIterations) return ok();
  return call.error_at_node(Errc::capacity, fmt::format("would make {} parts, at most {} are made",
                                                        parts, kMostIterations));
}

/// Sizes of parts: one each, all alike but for a smaller last one, or as listed.
Status set_sizes(const NodeCall& call, GraphBuilder& builder, int64_t length, Cut& cut) {
  const TensorId split = call.input(1);
  if (split == kNoTensor) {
    if (Status s = check_count(call, length); !s) return s;
    cut.sizes.assign(static_cast<size_t>(length), 1);
    return ok();
  }
  const Result<TensorId> sizes = tensor_of(call, 1, builder);
  if (!sizes) return sizes.errors();
  builder.note_asked(split);
  const Tensor& tensor = builder.graph().tensor(split);
  if (!tensor.value || !tensor.value->is_integer())
    return call.error_at_node(Errc::unsupported, "the sizes of its parts aren't constant; give " +
                                                     value_advice(builder.graph(), split));
  const std::vector<int64_t>& values = tensor.value->integers();
  if (!tensor.dims.empty()) {
    cut.sizes = values;
  } else {
    if (values.front() < 1)
      return call.error_at_node(Errc::invalid, fmt::format("asks for parts of {}", values.front()));
    if (Status s = check_count(call, length / values.front()); !s) return s;
    for (int64_t left = length; left > 0; left -= cut.sizes.back())
      cut.sizes.push_back(std::min(left, values.front()));
  }
  int64_t sum = 0;
  for (const int64_t size : cut.sizes) sum = size < 0 ? -1 : add_counts(sum, size);
  if (sum == length) return ok();
  return call.error_at_node(
      Errc::invalid,
      fmt::format("its parts don't add up to the {} along axis {}", length, cut.axis));
}

Result<Cut> plan_cut(const NodeCall& call, GraphBuilder& builder) {
  const Result<TensorId> of = tensor_of(call, 0, builder);
  if (!of) return of.errors();
  const Dims& dims = builder.graph().tensor(*of).dims;
  const Result<int64_t> axis =
      normalize_axis(call.integer_attribute("axis", 0), static_cast<int64_t>(dims.size()));
  if (!axis) return call.errors_at_node(axis.errors());
  Cut cut{*of, *axis, call.input(1) == kNoTensor && call.integer_attribute("keepdims", 1) == 0, {}};
  if (Status s = set_sizes(call, builder, dims[static_cast<size_t>(*axis)], cut); !s)
    return s.errors();
  return cut;
}

/// One part of a cut, from `begin` on.
Result<TensorId> make_part(const Cut& cut, const std::string& name, int64_t begin, int64_t size,
                           GraphBuilder& builder) {
  const auto constant = [&](const char* what, Dims dims, int64_t value) {
    return builder.add_integers(fmt::format("{}_{}", name, what), std::move(dims), {value});
  };
  if (cut.squeezed) {
    const Result<TensorId> index = constant("index", {}, begin);
    if (!index) return index.errors();
    return builder.add_internal(op::kGather, name, {cut.of, *index}, {{"axis", "", cut.axis}});
  }
  TensorIds inputs{cut.of};
  for (const auto& [what, value] :
       {std::pair("starts", begin), std::pair("ends", begin + size), std::pair("axes", cut.axis)}) {
    const Result<TensorId> id = constant(what, {1}, value);
    if (!id) return id.errors();
    inputs.push_back(*id);
  }
  return builder.add_internal(op::kSlice, name, std::move(inputs), {});
}

/// An input of a SequenceMap: tensors that its calls take one by one, or one that all are given.
struct MapInput {
  TensorIds tensors;
  bool is_sequence = false;
  TensorId of_call(size_t n) const { return is_sequence ? tensors[n] : tensors.front(); }
};

/// What a SequenceMap does.
struct Mapped {
  const GraphDef* body = nullptr;
  size_t calls = 0;
  std::vector<MapInput> inputs;
};

Result<Mapped> plan_map(const NodeCall& call, const GraphBuilder& builder) {
  const Result<TensorIds> first = sequence_of(call, builder);
  if (!first) return first.errors();
  Mapped map{call.graph_attribute("body"), first->size(), {}};
  if (map.body == nullptr) return call.error_at_node(Errc::invalid, "lacks its body");
  if (map.body->inputs.size() != call.inputs.size())
    return call.error_at_node(Errc::invalid,
                              fmt::format("has {} inputs, but its body has {}", call.inputs.size(),
                                          map.body->inputs.size()));
  if (map.calls > static_cast<size_t>(kMostIterations))
    return call.error_at_node(Errc::capacity, fmt::format("maps {} tensors, at most {} are mapped",
                                                          map.calls, kMostIterations));
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorIds* tensors = builder.find_sequence(call.inputs[i]);
    if (tensors != nullptr && tensors->size() != map.calls)
      return call.error_at_node(Errc::invalid,
                                fmt::format("its input {} has {} tensors where input 0 has {}", i,
                                            tensors->size(), map.calls));
    if (tensors == nullptr && call.inputs[i] == kNoTensor)
      return call.error_at_node(Errc::invalid, fmt::format("lacks its input {}", i));
    map.inputs.push_back(
        {tensors != nullptr ? *tensors : TensorIds{call.inputs[i]}, tensors != nullptr});
  }
  return map;
}

}  // namespace

Status construct_sequence(const NodeCall& call, Expander& expander) {
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (const Result<TensorId> id = tensor_of(call, i, expander.builder()); !id) return id.errors();
  return give_sequence(call, call.inputs, expander.builder());
}

Status split_to_sequence(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const Result<Cut> cut = plan_cut(call, builder);
  if (!cut) return cut.errors();
  TensorIds parts;
  int64_t begin = 0;
  for (const int64_t size : cut->sizes) {
    const Result<TensorId> part =
        make_part(*cut, fmt::format("{}/part_{}", call.name, parts.size()), begin, size, builder);
    if (!part) return part.errors();
    parts.push_back(*part);
    begin += size;
  }
  return give_sequence(call, std::move(parts), builder);
}

Status sequence_at(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const Result<TensorIds> tensors = sequence_of(call, builder);
  if (!tensors) return tensors.errors();
  if (call.input(1) == kNoTensor) return call.error_at_node(Errc::invalid, "lacks its position");
  const int64_t count = std::ssize(*tensors);
  const Result<int64_t> at = known_position(call, 1, count, count - 1, 0, builder);
  if (!at) return at.errors();
  return give_tensor(call, (*tensors)[static_cast<size_t>(*at)], builder.next_node(), builder);
}

Status insert_in_sequence(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  Result<TensorIds> tensors = sequence_of(call, builder);
  if (!tensors) return tensors.errors();
  const Result<TensorId> tensor = tensor_of(call, 1, builder);
  if (!tensor) return tensor.errors();
  const int64_t count = std::ssize(*tensors);
  const Result<int64_t> at = known_position(call, 2, count, count, count, builder);
  if (!at) return at.errors();
  tensors->insert(tensors->begin() + *at, *tensor);
  return give_sequence(call, std::move(*tensors), builder);
}

Status erase_from_sequence(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  Result<TensorIds> tensors = sequence_of(call, builder);
  if (!tensors) return tensors.errors();
  if (tensors->empty()) return call.error_at_node(Errc::invalid, "the sequence is empty");
  const int64_t count = std::ssize(*tensors);
  const Result<int64_t> at = known_position(call, 1, count, count - 1, count - 1, builder);
  if (!at) return at.errors();
  tensors->erase(tensors->begin() + *at);
  return give_sequence(call, std::move(*tensors), builder);
}

Status sequence_length(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const Result<TensorIds> tensors = sequence_of(call, builder);
  if (!tensors) return tensors.errors();
  const Result<TensorId> length =
      builder.add_integers(call.name + "/length", {}, {std::ssize(*tensors)});
  if (!length) return length.errors();
  return give_tensor(call, *length, builder.next_node(), builder);
}

Status concat_sequence(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  Result<TensorIds> tensors = sequence_of(call, builder);
  if (!tensors) return tensors.errors();
  if (tensors->empty()) return call.error_at_node(Errc::invalid, "the sequence is empty");
  if (call.find_attribute("axis") == nullptr)
    return call.error_at_node(Errc::invalid, "lacks attribute axis");
  const int64_t axis = call.integer_attribute("axis", 0);
  const NodeId first_node = builder.next_node();
  const Result<TensorId> all =
      call.integer_attribute("new_axis", 0) != 0
          ? stack_iterations(call, {0, axis, nullptr}, std::move(*tensors), builder)
          : builder.add_internal(op::kConcat, call.name + "/concat", std::move(*tensors),
                                 {{"axis", "", axis}});
  if (!all) return all.errors();
  if (!call.wants_output(0)) return ok();
  return give_tensor(call, *all, first_node, builder);
}

Status map_sequence(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const Result<Mapped> map = plan_map(call, builder);
  if (!map) return map.errors();
  const GraphDef& body = *map->body;
  Scope constants = call.scope.inner_scope(call.name + "/");
  if (Status s = add_initializers(body, builder, constants); !s) return s;
  std::vector<TensorIds> made(body.outputs.size());
  for (size_t n = 0; n < map->calls; ++n) {
    if (const Status step = expander.budget().take_step(); !step)
      return call.errors_at_node(step.errors());
    Scope scope = constants.inner_scope(fmt::format("{}{}/", constants.prefix, n));
    for (size_t i = 0; i < body.inputs.size(); ++i)
      scope.names[body.inputs[i].name] = map->inputs[i].of_call(n);
    const Result<TensorIds> ids = expander.expand_body(call, body, scope);
    if (!ids) return ids.errors();
    if (std::ranges::any_of(*ids, [](TensorId id) { return id < 0; }))
      return call.error_at_node(Errc::invalid, "its body gives a sequence or an empty optional");
    for (size_t k = 0; k < made.size(); ++k) made[k].push_back((*ids)[k]);
  }
  TensorIds sequences;
  for (TensorIds& tensors : made) sequences.push_back(builder.add_sequence(std::move(tensors)));
  return bind_outputs(call, sequences, builder.next_node(), builder);
}

}  // namespace accsim::sim
