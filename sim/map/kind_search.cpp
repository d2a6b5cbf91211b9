#include <fmt/format.h>

#include "sim/map/mapper.h"

namespace accsim::sim {

/// The best tiling offered so far, the first of equals.
template <class Tiling>
struct Best {
  std::optional<Tiling> chosen;
  Cost cost;
  Score score;
  int64_t evaluated = 0;

  void offer(const Tiling& tiling, const Cost& its_cost, const Score& its_score) {
    ++evaluated;
    if (chosen && its_score >= score) return;
    chosen = tiling;
    cost = its_cost;
    score = its_score;
  }
};

template <Kind Source>
std::optional<Mapping> Mapper::search_kind(const OpRequest& request, int64_t chunks) {
  std::optional<typename Source::Problem> p = Source::of_request(request, hw_);
  if (!p) return std::nullopt;
  Best<typename Source::Tiling> best;
  const ObjectiveFunction objective{options_.objective, 0,
                                    options_.cycle_price};  // slack is of products
  const auto evaluate = [&](const typename Source::Tiling& t) {
    const Cost cost = evaluator_.cost(*p, t);
    best.offer(t, cost, mapping_score(objective, cost, hw_));
    return cost.timing.total.count();
  };
  for (const auto& t : chunked_tilings(*p, hw_, chunks)) evaluate(t);
  const bool pinned = best.chosen.has_value();
  if (!pinned)
    if (const auto t = rule_tiling(*p, hw_)) {
      if (options_.only_traces()) return only_traced(evaluator_, *p, *t);
      evaluate(*t);
    }
  int64_t considered = best.evaluated;
  const std::string alike = alike_key(*p);
  const auto known = alike.empty() ? alike_.end() : alike_.find(alike);
  if (known != alike_.end()) {
    evaluate(std::get<Source>(known->second).tiling);
  } else if (is_searching() && !pinned) {
    const auto choices = tilings(*p, hw_);
    considered += std::ssize(choices);
    // What differs between tilings is mostly time; other objectives look at all of them.
    for (const auto& [bound, t] : choices) {
      if (minimises_cycles() && best.chosen && bound >= best.score.cycles) break;
      check(bound <= evaluate(t), "a mapping's bound exceeds its cycles");
    }
  }
  if (!best.chosen) return std::nullopt;
  Mapping out = mapping_of_cost(best.cost, best.evaluated, considered);
  out.trace = evaluator_.traced(*p, *best.chosen).trace;
  if (options_.programs) {
    out.program = emit(*p, hw_, *best.chosen);
    out.unverifiable = Source::kUnverifiable;
    out.description = to_string(*p, *best.chosen);
  }
  Source source{{std::move(*p), std::move(*best.chosen)}};
  if (!alike.empty()) alike_.emplace(alike, source);
  if (options_.programs) out.source = std::move(source);
  return out;
}

Result<Mapping> Mapper::search_others(const OpRequest& request, int64_t chunks) {
  std::optional<Mapping> found;
  const auto looks = [&]<Kind... Sources>(std::type_identity<Sources>...) {
    return (... || (found = search_kind<Sources>(request, chunks)).has_value());
  };
  if (looks(std::type_identity<RowSource>(), std::type_identity<LaneSource>(),
            std::type_identity<GatherSource>(), std::type_identity<MoveSource>(),
            std::type_identity<StreamSource>()))
    return std::move(*found);
  return Error{Errc::capacity,
               fmt::format("no chunk of it fits the activation and output buffers of '{}': "
                           "enlarge them or use fewer slots",
                           hw_.name),
               ""};
}

}  // namespace accsim::sim
