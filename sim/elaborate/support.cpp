#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/elaborate/elaborator.h"
#include "sim/elaborate/node_order.h"

namespace accsim::sim {
namespace {

/// Letters to insert, remove or change to get from one word to the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string full_name(const OpRow& row) {
  return row.domain.empty() ? std::string(row.name) : fmt::format("{}::{}", row.domain, row.name);
}

/// The operator of the table most like a name; "" when none is.
std::string nearest_op(std::string_view wanted) {
  constexpr size_t kLongestName = 64;  // a name from a broken file may have any length
  if (wanted.size() > kLongestName) return "";
  size_t best = std::max<size_t>(1, wanted.size() / 4) + 1;
  std::string nearest;
  for (const OpRow* row : all_ops()) {
    const size_t distance = edit_distance(wanted, row->name);
    if (distance >= best) continue;
    best = distance;
    nearest = full_name(*row);
  }
  return nearest;
}

}  // namespace

const FunctionDef* Elaborator::function_of(const NodeDef& node) const {
  const auto found = functions_.find(FunctionKey{node.domain, node.op_type, node.overload});
  return found == functions_.end() ? nullptr : found->second;
}

bool Elaborator::supported(const NodeDef& node) const {
  if (node.domain.empty() &&
      (node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan"))
    return true;
  return find_op(node.domain, node.op_type) != nullptr;
}

Error Elaborator::unsupported(const NodeDef& node, const std::string& name) const {
  const std::string nearest = nearest_op(node.op_type);
  const std::string hint =
      nearest.empty() ? "" : fmt::format(" (the nearest name known is {})", nearest);
  return Error{Errc::unsupported,
               fmt::format("no support for this operator{}; --allow-unsupported costs it as memory "
                           "traffic",
                           hint),
               fmt::format("{}: {}", model_.file, node_label(node, name))};
}

std::optional<Dims> Elaborator::declared_dims(const ValueDef& value) const {
  if (!value.dims || !value.is_tensor) return std::nullopt;
  Dims dims;
  for (const DimDef& dim : *value.dims) {
    const auto bound = graph_.bindings.find(dim.symbol);
    if (dim.value < 0 && bound == graph_.bindings.end()) return std::nullopt;
    dims.push_back(dim.value >= 0 ? dim.value : bound->second);
  }
  return dims;
}

void Elaborator::assume_outputs(const Scope& scope) {
  const Node& node = graph_.nodes.back();
  DType dtype = DType::float32;
  Dims dims;
  const auto present = std::ranges::find_if(node.inputs, [](TensorId id) { return id >= 0; });
  if (present != node.inputs.end()) {
    dtype = graph_.tensor(*present).dtype;
    dims = graph_.tensor(*present).dims;
  }
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    Tensor& tensor = graph_.tensor(id);
    tensor.dtype = dtype;
    tensor.dims = dims;
    if (scope.graph == nullptr) continue;
    for (const auto* values : {&scope.graph->value_infos, &scope.graph->outputs})
      for (const ValueDef& value : *values) {
        if (scope.prefix + value.name != tensor.name) continue;
        if (value.dtype != DType::undefined) tensor.dtype = value.dtype;
        tensor.dims = declared_dims(value).value_or(tensor.dims);
      }
  }
}

Status Elaborator::check_support(const std::vector<NodeDef>& nodes, const std::string& prefix) {
  Errors errors;
  // Function bodies are looked at once, under the name of their first call; subgraphs when they are
  // expanded, since a branch that isn't taken may hold anything.
  std::vector<std::pair<const std::vector<NodeDef>*, std::string>> pending{{&nodes, prefix}};
  while (!pending.empty()) {
    const auto [list, names] = std::move(pending.back());
    pending.pop_back();
    for (size_t i = 0; i < list->size(); ++i) {
      const NodeDef& node = (*list)[i];
      const FunctionDef* function = function_of(node);
      if (function == nullptr) {
        if (!supported(node)) errors.push_back(unsupported(node, names + node_name(node, i)));
      } else if (checked_functions_.insert(function).second) {
        pending.emplace_back(&function->nodes, names + node_name(node, i) + "/");
      }
    }
  }
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
