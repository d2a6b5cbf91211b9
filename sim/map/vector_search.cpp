#include <fmt/format.h>

#include <algorithm>

#include "sim/base/key_bytes.h"
#include "sim/map/best_choice.h"
#include "sim/map/heuristic_tiling.h"

namespace accsim::sim {
namespace {

/// Every way to cut a vector or memory op that fits, with its bound, best bound first; whatever the
/// capacities the same ones are tried, so that larger buffers only add some.
std::vector<std::pair<int64_t, VectorCut>> cuts(const VectorProblem& p, const hw::HwConfig& hw) {
  int64_t elements = 1;
  for (const auto* side : {&p.inputs, &p.outputs})
    for (const VectorOperand& o : *side) elements = std::max(elements, o.elements);
  std::vector<std::pair<int64_t, VectorCut>> out;
  const auto add = [&](int64_t chunks) {
    const int64_t passes = chunks <= p.rows ? 1 : p.passes;
    if (chunks <= elements && fits(p, hw, chunks))
      out.push_back({lower_bound(p, hw, chunks, passes), {chunks, passes}});
  };
  for (int64_t n = 1; n <= elements; n *= 2) {
    add(n);
    if (n >= 2) add(n + n / 2);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

/// Moves that differ only in where their tensors begin are cut alike.
std::string move_key(const VectorProblem& p) {
  KeyBytes key;
  key.add(p.inputs[0].place.memory, p.outputs[0].place.memory, p.inputs[0].element_bytes);
  key.add(p.spacing);
  for (const auto& [count, stride] : p.axes) key.add(count, stride);
  return key.take();
}

}  // namespace

std::optional<Mapping> Mapper::search_rows(const RowProblem& p, int64_t chunks) {
  Best<RowTile> best;
  const Aim aim{options_.objective, 0, options_.cycle_price};  // slack is of products
  const auto evaluate = [&](const RowTile& t) {
    const Cost cost = evaluator_.cost(p, t);
    best.offer(t, cost, score(aim, cost, hw_));
    return cost.timing.total.count();
  };
  const int64_t rows = p.work.row_count();
  for (int64_t n = chunks; n > 0 && n <= rows && !best.chosen; n *= 2)
    for (const RowTile& tile : row_tiles(p, n))
      if (fits(p, hw_, tile)) evaluate(tile);
  const bool pinned = best.chosen.has_value();
  if (!pinned)
    if (const auto tile = heuristic_tile(p, hw_)) {
      if (options_.only_links()) return by_rule(evaluator_, p, *tile);
      evaluate(*tile);
    }
  int64_t considered = best.evaluated;
  if (options_.effort == MapEffort::search && !pinned) {
    const auto choices = row_cuts(p, hw_);
    considered += std::ssize(choices);
    const bool by_cycles = options_.objective == Objective::cycles;
    for (const auto& [bound, tile] : choices) {
      if (by_cycles && best.chosen && bound >= best.score.cycles) break;
      check(bound <= evaluate(tile), "a mapping's bound exceeds its cycles");
    }
  }
  if (!best.chosen) return std::nullopt;
  Mapping out = costed(best.cost, best.evaluated, considered);
  out.link = evaluator_.link(p, *best.chosen);
  if (options_.programs) {
    out.program = emit(p, hw_, *best.chosen);
    out.unverifiable = "";
    out.description = to_string(p, *best.chosen);
    out.rows = {p, *best.chosen};
  }
  return out;
}

Result<Mapping> Mapper::search_vector(const VectorProblem& p) {
  Best<VectorCut> best;
  const Aim aim{options_.objective, 0, options_.cycle_price};  // slack is of products
  const auto evaluate = [&](const VectorCut& c) {
    const Cost cost = evaluator_.cost(p, c.chunks, c.passes);
    best.offer(c, cost, score(aim, cost, hw_));
    return cost.timing.total.count();
  };
  if (const auto cut = heuristic_cut(p, hw_)) {
    if (options_.only_links()) return by_rule(evaluator_, p, cut->chunks, cut->passes);
    evaluate(*cut);
  }
  int64_t considered = best.evaluated;
  const std::string same = p.axes.empty() ? "" : move_key(p);
  const auto known = same.empty() ? move_cuts_.end() : move_cuts_.find(same);
  if (known != move_cuts_.end()) {
    evaluate(known->second);
  } else if (options_.effort == MapEffort::search) {
    const auto choices = cuts(p, hw_);
    considered += std::ssize(choices);
    // What differs between cuts is mostly time; other objectives look at all of them.
    const bool by_cycles = options_.objective == Objective::cycles;
    for (const auto& [bound, cut] : choices) {
      if (by_cycles && best.chosen && bound >= best.score.cycles) break;
      check(bound <= evaluate(cut), "a mapping's bound exceeds its cycles");
    }
  }
  if (!best.chosen)
    return Error{Errc::capacity,
                 fmt::format("no chunk of it fits the activation and output buffers of '{}': "
                             "enlarge them or use fewer slots",
                             hw_.name),
                 ""};
  if (!same.empty()) move_cuts_.emplace(same, *best.chosen);
  const auto [chunks, passes] = *best.chosen;
  Mapping out = costed(best.cost, best.evaluated, considered);
  out.link = evaluator_.link(p, chunks, passes);
  if (options_.programs) {
    out.program = emit(p, hw_, chunks, passes);
    out.unverifiable = p.axes.empty() ? "moves that stand for others" : "";
    if (!p.axes.empty()) out.move = p;
    out.description = fmt::format("{} chunk{}{}", chunks, chunks == 1 ? "" : "s",
                                  passes > 1 ? fmt::format(", {} passes", passes) : "");
  }
  return out;
}

std::optional<Mapping> Mapper::search_lanes(const LaneProblem& p, int64_t chunks) {
  Best<LaneTiling> best;
  const Aim aim{options_.objective, 0, options_.cycle_price};  // slack is of products
  const auto evaluate = [&](const LaneTiling& t) {
    const Cost cost = evaluator_.cost(p, t);
    best.offer(t, cost, score(aim, cost, hw_));
    return cost.timing.total.count();
  };
  if (chunks > 0)
    for (const LaneTiling& t : lane_chunks(p, hw_, chunks)) evaluate(t);
  const bool pinned = best.chosen.has_value();
  if (!pinned)
    if (const auto tiling = heuristic_lanes(p, hw_)) {
      if (options_.only_links()) return by_rule(evaluator_, p, *tiling);
      evaluate(*tiling);
    }
  if (!best.chosen) return std::nullopt;
  int64_t considered = best.evaluated;
  if (options_.effort == MapEffort::search && !pinned) {
    const auto choices = lane_tilings(p, hw_);
    considered += std::ssize(choices);
    const bool by_cycles = options_.objective == Objective::cycles;
    for (const auto& [bound, tiling] : choices) {
      if (by_cycles && bound >= best.score.cycles) break;
      check(bound <= evaluate(tiling), "a mapping's bound exceeds its cycles");
    }
  }
  Mapping out = costed(best.cost, best.evaluated, considered);
  out.link = evaluator_.link(p, *best.chosen);
  if (options_.programs) {
    out.program = emit(p, hw_, *best.chosen);
    out.unverifiable = "";
    out.description = to_string(*best.chosen);
    out.lanes = {p, *best.chosen};
  }
  return out;
}

std::optional<Mapping> Mapper::search_gather(const GatherProblem& p) {
  Best<GatherTile> best;
  const Aim aim{options_.objective, 0, options_.cycle_price};  // slack is of products
  const auto evaluate = [&](const GatherTile& t) {
    const Cost cost = evaluator_.cost(p, t);
    best.offer(t, cost, score(aim, cost, hw_));
  };
  if (const auto tile = heuristic_gather(p, hw_)) {
    if (options_.only_links()) return by_rule(evaluator_, p, *tile);
    evaluate(*tile);
  }
  if (!best.chosen) return std::nullopt;
  if (options_.effort == MapEffort::search)
    for (const GatherTile& t : gather_tiles(p))
      if (fits(p, hw_, t)) evaluate(t);
  Mapping out = costed(best.cost, best.evaluated, best.evaluated);
  out.link = evaluator_.link(p, *best.chosen);
  if (options_.programs) {
    out.program = emit(p, hw_, *best.chosen);
    out.unverifiable = "";
    out.description = to_string(*best.chosen);
    out.gather = p;
  }
  return out;
}

}  // namespace accsim::sim
