#include "sim/elaborate/added_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/graph/module_path.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// The version of ai.onnx in which nodes are added that older ones have, too.
constexpr int64_t kOpset = 13;

}  // namespace

std::string AddedNodes::scoped_name(std::string_view what) const {
  return fmt::format("{}/{}", call_.name, what);
}

TensorId AddedNodes::take(const Result<TensorId>& added) {
  if (added) return *added;
  errors_ = added.errors();
  return kNoTensor;
}

TensorId AddedNodes::add_node(std::string_view op_type, std::string_view what, TensorIds inputs,
                              std::vector<Attribute> attributes, int output) {
  if (!errors_.empty()) return kNoTensor;
  if (const Status step = budget_.take_step(); !step) return errors_ = step.errors(), kNoTensor;
  const OpRow* row = find_op("", op_type);
  const std::string& module = call_.def.module;
  Node node{output == 0 ? call_.name : scoped_name(what),
            std::string(op_type),
            "",
            std::max<int64_t>(kOpset, row->since),
            std::move(inputs),
            {},
            std::move(attributes),
            false,
            module.empty() ? module_from_name(call_.name) : module};
  const bool named = output != kInner && call_.wants_output(static_cast<size_t>(output));
  const std::string name = named
                               ? call_.scope.prefix + call_.def.outputs[static_cast<size_t>(output)]
                               : scoped_name(what) + "_output";
  const auto ids = builder_.add_node(std::move(node), {name}, *row);
  if (ids) return ids->front();
  errors_ = ids.errors();
  return kNoTensor;
}

TensorId AddedNodes::add_reshape(std::string_view what, TensorId of, const Dims& to, int output) {
  const TensorId shape =
      add_integers(fmt::format("{}_shape", what), {std::ssize(to)}, {to.begin(), to.end()});
  return add_node(op::kReshape, what, {of, shape}, {}, output);
}

TensorId AddedNodes::add_transpose(std::string_view what, TensorId of, std::vector<int64_t> perm,
                                   int output) {
  return add_node(op::kTranspose, what, {of}, {{"perm", "", std::move(perm)}}, output);
}

TensorId AddedNodes::add_concat(std::string_view what, TensorIds parts, int64_t axis, int output) {
  return add_node(op::kConcat, what, std::move(parts), {{"axis", "", axis}}, output);
}

TensorId AddedNodes::add_slice(std::string_view what, TensorId of, int64_t axis, int64_t from,
                               int64_t to) {
  if (!errors_.empty() || (from == 0 && to == dims(of)[static_cast<size_t>(axis)])) return of;
  const auto one = [&](const char* name, int64_t value) {
    return add_integers(fmt::format("{}_{}", what, name), {1}, {value});
  };
  const TensorId starts = one("starts", from), ends = one("ends", to);
  return add_node(op::kSlice, what, {of, starts, ends, one("axes", axis)});
}

TensorId AddedNodes::add_integers(std::string_view what, const Dims& to,
                                  std::vector<int64_t> values) {
  if (!errors_.empty()) return kNoTensor;
  return take(builder_.add_integers(scoped_name(what), to, std::move(values)));
}

TensorId AddedNodes::add_real(std::string_view what, DType dtype, double value) {
  if (!errors_.empty()) return kNoTensor;
  return take(
      builder_.add_constant(scoped_name(what), {}, ConstData(std::vector<double>{value}), dtype));
}

}  // namespace accsim::sim
