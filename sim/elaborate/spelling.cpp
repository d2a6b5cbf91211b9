#include "sim/elaborate/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/elaborate/expander.h"
#include "sim/graph/module_path.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

Dims Spelling::dims(TensorId id) const {
  return id == kNoTensor ? Dims{} : graph().tensor(id).dims;
}

DType Spelling::dtype(TensorId id) const {
  return id == kNoTensor ? DType::undefined : graph().tensor(id).dtype;
}

bool Spelling::is_product(TensorId id) const {
  if (id == kNoTensor || graph().tensor(id).producer == kNoNode) return false;
  const OpRow* row = find_op(graph().nodes[static_cast<size_t>(graph().tensor(id).producer)]);
  return row != nullptr && row->fate == Fate::gemm;
}

int64_t Spelling::dim(TensorId id, int64_t axis) const {
  const Dims all = dims(id);
  const auto count = static_cast<int64_t>(all.size());
  if (axis < 0) axis += count;
  return axis < 0 || axis >= count ? 0 : all[static_cast<size_t>(axis)];
}

std::vector<int64_t> Spelling::known_integers(TensorId id) const {
  if (id == kNoTensor) return {};
  const ConstPtr& value = graph().tensor(id).value;
  return value && value->is_integer() ? value->integers() : std::vector<int64_t>{};
}

std::vector<double> Spelling::known_numbers(TensorId id) const {
  std::vector<double> out;
  if (id == kNoTensor || !graph().tensor(id).value) return out;
  const ConstData& value = *graph().tensor(id).value;
  for (size_t i = 0; i < value.size(); ++i) out.push_back(value.as_double(i));
  return out;
}

double Spelling::real(std::string_view name, double fallback) const {
  const auto* value = held_value<double>(call_.find_attribute(name));
  return value == nullptr ? fallback : *value;
}

std::string Spelling::text(std::string_view name, std::string_view fallback) const {
  const auto* value = held_value<std::string>(call_.find_attribute(name));
  return value == nullptr ? std::string(fallback) : *value;
}

TensorIds Spelling::in_one_float(const std::string& op_type, const std::string& what,
                                 TensorIds inputs) {
  static constexpr std::string_view kOfSeveral[] = {op::kCast, "CastLike", "QuantizeLinear",
                                                    "DequantizeLinear"};
  if (std::ranges::find(kOfSeveral, op_type) != std::end(kOfSeveral)) return inputs;
  const auto in_float = [&](TensorId id) { return is_float(dtype(id)); };
  auto like = std::ranges::find_if(
      inputs, [&](TensorId id) { return in_float(id) && !graph().tensor(id).constant; });
  if (like == inputs.end()) like = std::ranges::find_if(inputs, in_float);
  if (like == inputs.end()) return inputs;
  const TensorId first = *like;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (in_float(inputs[i]) && dtype(inputs[i]) != dtype(first))
      inputs[i] = add("CastLike", fmt::format("{}_{}_cast", what, i), {inputs[i], first});
  return inputs;
}

TensorId Spelling::add(const std::string& op_type, const std::string& what, TensorIds inputs,
                       std::vector<Attribute> attributes) {
  inputs = in_one_float(op_type, what, std::move(inputs));
  const TensorIds made = add_all("", op_type, what, std::move(inputs), 1, std::move(attributes));
  return made[0];
}

TensorIds Spelling::add_all(const std::string& domain, const std::string& op_type,
                            const std::string& what, TensorIds inputs, size_t outputs,
                            std::vector<Attribute> attributes) {
  TensorIds nothing(outputs, kNoTensor);
  if (!errors_.empty()) return nothing;
  while (!inputs.empty() && inputs.back() == kNoTensor) inputs.pop_back();
  NodeDef def;
  def.name = scoped_name(what);
  def.op_type = op_type;
  def.domain = domain;
  def.module = call_.def.module.empty() ? module_from_name(call_.name) : call_.def.module;
  for (size_t i = 0; i < outputs; ++i)
    def.outputs.push_back(i == 0 ? fmt::format("{}_output", def.name)
                                 : fmt::format("{}_output_{}", def.name, i));
  Scope scope;
  const NodeCall made{
      def,  def.name, domain.empty() ? kNewestOpset : 1, std::move(inputs), std::move(attributes),
      scope};
  const Status added = expander_.expand_call(made);
  if (!added) return errors_ = added.errors(), nothing;
  TensorIds out;
  for (const std::string& name : def.outputs) out.push_back(*scope.find(name));
  return out;
}

TensorId Spelling::reshape(const std::string& what, TensorId of, const Dims& to) {
  const TensorId shape = integers(what + "_shape", {to.begin(), to.end()});
  return add(op::kReshape, what, {of, shape});
}

TensorId Spelling::transpose(const std::string& what, TensorId of, std::vector<int64_t> perm) {
  return add(op::kTranspose, what, {of}, {{"perm", "", std::move(perm)}});
}

TensorId Spelling::channels_first(const std::string& what, TensorId of) {
  const int64_t rank = this->rank(of);
  if (rank < 3) return of;
  std::vector<int64_t> perm{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return transpose(what, of, perm);
}

TensorId Spelling::channels_last(const std::string& what, TensorId of) {
  const int64_t rank = this->rank(of);
  if (rank < 3) return of;
  std::vector<int64_t> perm{0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return transpose(what, of, perm);
}

TensorId Spelling::slice(const std::string& what, TensorId of, int64_t axis, int64_t from,
                         int64_t to) {
  const TensorId starts = integers(what + "_starts", {from}), ends = integers(what + "_ends", {to});
  return add(op::kSlice, what, {of, starts, ends, integers(what + "_axes", {axis})});
}

TensorId Spelling::integers(const std::string& what, std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return integers(what, Dims{count}, std::move(values));
}

TensorId Spelling::integers(const std::string& what, const Dims& dims,
                            std::vector<int64_t> values) {
  if (!errors_.empty()) return kNoTensor;
  return take(expander_.builder().add_integers(scoped_name(what), dims, std::move(values)));
}

TensorId Spelling::number(const std::string& what, double value, DType dtype) {
  if (!errors_.empty()) return kNoTensor;
  ConstData data = is_float(dtype) ? ConstData(std::vector<double>{value})
                                   : ConstData(std::vector<int64_t>{static_cast<int64_t>(value)});
  return take(expander_.builder().add_constant(scoped_name(what), {}, std::move(data), dtype));
}

TensorId Spelling::numbers(const std::string& what, const Dims& dims, std::vector<double> values) {
  if (!errors_.empty()) return kNoTensor;
  return take(expander_.builder().add_constant(scoped_name(what), dims,
                                               ConstData(std::move(values)), DType::float32));
}

TensorId Spelling::zeros(const std::string& what, const Dims& dims, DType dtype) {
  const TensorId shape = integers(what + "_shape", {dims.begin(), dims.end()});
  return add("Expand", what, {number(what + "_zero", 0, dtype), shape});
}

void Spelling::refuse(std::string why) {
  if (errors_.empty()) errors_.push_back({Errc::unsupported, std::move(why), ""});
}

const Graph& Spelling::graph() const { return expander_.builder().graph(); }

std::string Spelling::scoped_name(const std::string& what) const {
  return what.empty() ? call_.name : fmt::format("{}/{}", call_.name, what);
}

TensorId Spelling::take(const Result<TensorId>& made) {
  if (made) return *made;
  errors_ = made.errors();
  return kNoTensor;
}

}  // namespace accsim::sim
