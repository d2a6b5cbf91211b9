#include "sim/operators/expert_groups.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "sim/base/sums.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr int kMostBehind = 64;  ///< nodes between a TopK and the experts

bool is_top_k(const Node& node) {
  const OpRow* row = find_op(node);
  return row != nullptr && row == find_op("", op::kTopK) && !node.inputs.empty();
}

/// Does a node keep every element in its place, or put whole lists in order?
bool keeps_elements(const Graph& graph, const Node& node, TensorId made) {
  const OpRow* row = find_op(node);
  if (row == nullptr || node.inputs.empty() || node.inputs[0] == kNoTensor) return false;
  const bool same =
      elements(graph.tensor(node.inputs[0]).dims) == elements(graph.tensor(made).dims);
  return same && (is_top_k(node) || row->pointwise || row->fate == Fate::view);
}

}  // namespace

double expected_experts(int64_t experts, const ExpertChoice& choice) {
  if (experts <= 0) return 0;
  const auto all = static_cast<double>(experts);
  const double left_out = 1 - std::min(1.0, static_cast<double>(choice.chosen) / all);
  return all * (1 - std::pow(left_out, static_cast<double>(choice.tokens)));
}

int64_t usual_experts(int64_t experts, const ExpertChoice& choice) {
  if (choice.tokens <= 0 || experts <= 0) return 0;
  const int64_t most = std::min(experts, multiply_counts(choice.tokens, choice.chosen));
  const auto nearest = static_cast<int64_t>(std::llround(expected_experts(experts, choice)));
  return std::clamp(nearest, std::min(choice.chosen, most), most);
}

std::vector<ExpertRows> even_groups(int64_t rows, int64_t experts) {
  experts = std::min(experts, rows);
  if (experts <= 0) return {};
  const int64_t fuller = rows % experts;
  std::vector<ExpertRows> out{{experts - fuller, rows / experts}};
  if (fuller > 0) out.push_back({fuller, rows / experts + 1});
  return out;
}

std::vector<ExpertRows> groups_of_rows(const std::vector<int64_t>& rows) {
  std::map<int64_t, int64_t, std::greater<>> by_rows;
  for (const int64_t r : rows)
    if (r > 0) ++by_rows[r];
  std::vector<ExpertRows> out;
  for (const auto& [each, experts] : by_rows) out.push_back({experts, each});
  return out;
}

std::optional<ExpertChoice> top_k_behind(const Graph& graph, TensorId indices, int64_t experts) {
  const int64_t count = elements(graph.tensor(indices).dims);
  TensorId at = indices;
  for (int step = 0; step < kMostBehind; ++step) {
    const NodeId maker = graph.tensor(at).producer;
    if (maker == kNoNode) break;
    const Node& node = graph.nodes[static_cast<size_t>(maker)];
    if (is_top_k(node)) {
      const Dims &from = graph.tensor(node.inputs[0]).dims, &to = graph.tensor(at).dims;
      const bool chooses = !from.empty() && from.back() == experts && to.back() < experts;
      if (chooses && to.back() > 0) return ExpertChoice{count / to.back(), to.back()};
    }
    if (!keeps_elements(graph, node, at)) break;
    at = node.inputs[0];
  }
  return std::nullopt;
}

ExpertChoice choice_behind(const Graph& graph, TensorId indices, int64_t experts) {
  if (const auto choice = top_k_behind(graph, indices, experts)) return *choice;
  const Dims& dims = graph.tensor(indices).dims;
  const int64_t count = elements(dims);
  if (dims.size() > 1 && dims.back() > 0 && dims.back() <= experts)
    return {count / dims.back(), dims.back()};
  return count <= experts ? ExpertChoice{1, count} : ExpertChoice{count, 1};
}

}  // namespace accsim::sim
