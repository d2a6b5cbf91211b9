#include "sim/operators/value_advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <vector>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr size_t kMostLookedAt = 2000;  ///< tensors that are looked at
constexpr int64_t kMostStated = 4096;   ///< elements of an input that are worth stating
constexpr size_t kMostInputs = 4;

std::string option_for(const Tensor& t) {
  return fmt::format("--value {}={} ({} {})", t.name, elements(t.dims) == 1 ? "N" : "N,N...",
                     name(t.dtype), t.dims.empty() ? "scalar" : to_string(t.dims));
}

/// Can a node's results be computed when its inputs' elements are known?
bool can_follow(const Graph& graph, const Tensor& t) {
  if (t.producer == kNoNode) return false;
  const OpRow* row = find_op(graph.nodes[static_cast<size_t>(t.producer)]);
  return row != nullptr && row->value != nullptr && !row->random;
}

bool is_statable_input(const Tensor& t) {
  return t.origin == Tensor::Origin::input && (is_integer(t.dtype) || t.dtype == DType::boolean) &&
         elements(t.dims) <= kMostStated;
}

/// The inputs of the graph that a tensor's elements follow from; none where others decide, too.
std::vector<TensorId> deciding_inputs(const Graph& graph, TensorId id) {
  std::vector<TensorId> open{id}, out;
  std::set<TensorId> seen{id};
  while (!open.empty()) {
    const Tensor& t = graph.tensor(open.back());
    const TensorId at = open.back();
    open.pop_back();
    if (t.value || elements(t.dims) == 0) continue;
    if (is_statable_input(t)) {
      out.push_back(at);
      continue;
    }
    if (!can_follow(graph, t) || seen.size() > kMostLookedAt) return {};
    const Node& node = graph.nodes[static_cast<size_t>(t.producer)];
    for (const TensorId in : node.inputs)
      if (in != kNoTensor && seen.insert(in).second) open.push_back(in);
  }
  return out;
}

}  // namespace

std::string value_advice(const Graph& graph, TensorId id) {
  std::string out = option_for(graph.tensor(id));
  std::vector<std::string> others;
  for (const TensorId input : deciding_inputs(graph, id))
    if (input != id) others.push_back(option_for(graph.tensor(input)));
  if (!others.empty() && others.size() <= kMostInputs)
    out += fmt::format(", or {}", fmt::join(others, " "));
  return out;
}

}  // namespace accsim::sim
