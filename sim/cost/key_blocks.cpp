#include "sim/cost/key_blocks.h"

#include <algorithm>

#include "sim/base/limits.h"
#include "sim/lower/attention.h"
#include "sim/lower/attention_blocks.h"

namespace accsim::sim {
namespace {

/// Of 1 and 2 thousand keys a few hundred rows of scores fit into a megabyte.
constexpr int64_t kSizes[] = {1024, 2048};

bool is_long(const Attention& a) {
  return a.keys >= kLongAttention && 4 * a.rows > a.depth + a.width;
}

}  // namespace

std::vector<Graph> in_key_blocks_to_try(const Graph& graph, const hw::HwConfig& hw) {
  if (graph.keeps_attention || hw.shared.kib == 0) return {};
  if (std::ranges::none_of(find_attentions(graph), is_long)) return {};
  std::vector<Graph> out;
  for (const int64_t keys : kSizes)
    if (nodes_in_key_blocks(graph, keys) <= Limits{}.nodes)
      out.push_back(in_key_blocks(graph, keys));
  return out;
}

bool is_better(const NetworkCost& a, const NetworkCost& b, const ObjectiveFunction& objective) {
  const auto what = [&](const NetworkCost& c) {
    return primary_score(objective, c.cycles, c.picojoules, c.dram_bytes);
  };
  if (!objective.has_slack()) return what(a) < what(b);
  const double most = (1 + objective.slack) * static_cast<double>(std::min(a.fewest, b.fewest));
  const bool fits = what(a) <= most, other_fits = what(b) <= most;
  if (!fits || !other_fits) return fits;
  const auto of = [&](const NetworkCost& c) {
    return energy_traffic(objective, c.picojoules, static_cast<double>(c.dram_bytes));
  };
  return of(a) < of(b);
}

bool BestWay::take_if_better(const NetworkCost& way) {
  const bool better = !best_ || is_better(way, *best_, objective_);
  const int64_t fewest = best_ ? std::min(best_->fewest, way.fewest) : way.fewest;
  if (better) best_ = way;
  best_->fewest = fewest;
  return better;
}

}  // namespace accsim::sim
