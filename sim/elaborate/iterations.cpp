#include "sim/elaborate/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/elaborate/declared_type.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// What a collected output is when no iteration has run.
Result<TensorId> stack_nothing(const NodeCall& call, const CollectedOutput& output,
                               std::string name, GraphBuilder& builder) {
  const DeclaredType type = declared_type(*output.declared, builder.graph().bindings);
  if (!type.dims || type.dtype == DType::undefined)
    return call.error_at_node(
        Errc::unsupported,
        fmt::format("runs for no iteration and its body doesn't declare the shape of "
                    "output {}",
                    output.output));
  Tensor none;
  none.name = std::move(name);
  none.origin = Tensor::Origin::initializer;
  none.dtype = type.dtype;
  none.dims = *type.dims;
  none.dims.insert(none.dims.begin(), 0);
  none.constant = true;
  return builder.add_tensor(std::move(none));
}

}  // namespace

void IterationValues::take_outputs(const TensorIds& outputs, size_t first) {
  for (size_t k = 0; k < carried.size(); ++k) carried[k] = outputs[first + k];
  for (size_t k = 0; k < scanned.size(); ++k)
    scanned[k].push_back(outputs[first + carried.size() + k]);
}

Result<TensorId> stack_iterations(const NodeCall& call, const CollectedOutput& output,
                                  TensorIds parts, GraphBuilder& builder) {
  if (!call.wants_output(output.output)) return kNoTensor;
  const std::string base = fmt::format("{}/output_{}", call.name, output.output);
  if (parts.empty()) return stack_nothing(call, output, base, builder);
  if (std::ranges::any_of(parts, [](TensorId part) { return part < 0; }))
    return call.error_at_node(
        Errc::unsupported, fmt::format("output {} collects a sequence or an empty optional of each "
                                       "iteration",
                                       output.output));
  const auto rank = static_cast<int64_t>(builder.graph().tensor(parts.front()).dims.size());
  int64_t axis = output.axis;
  if (axis < -(rank + 1) || axis > rank)
    return call.error_at_node(
        Errc::invalid, fmt::format("scan axis {} is outside of output {}", axis, output.output));
  if (axis < 0) axis += rank + 1;
  const Result<TensorId> axes = builder.add_integers(base + "_axes", {1}, {axis});
  if (!axes) return axes.errors();
  for (size_t i = 0; i < parts.size(); ++i) {
    Result<TensorId> part = builder.add_internal(
        op::kUnsqueeze, fmt::format("{}/unsqueeze_{}", base, i), {parts[i], *axes}, {});
    if (!part) return part;
    parts[i] = *part;
  }
  if (parts.size() == 1) return parts.front();
  return builder.add_internal(op::kConcat, base + "/concat", std::move(parts),
                              {{"axis", "", axis}});
}

}  // namespace accsim::sim
