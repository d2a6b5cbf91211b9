#include <fmt/format.h>

#include "sim/map/mapper.h"
#include "sim/map/tiling_choice.h"
#include "sim/map/units/unit_mapping.h"

namespace accsim::sim {

template <Kind Source>
std::optional<Mapping> Mapper::search_kind(const OpRequest& request, int64_t chunks) {
  std::optional<typename Source::Problem> p = Source::of_request(request, hw_);
  if (!p) return std::nullopt;
  const ObjectiveFunction objective{options_.objective, 0,
                                    options_.cycle_price};  // slack is of products
  TilingChoice<typename Source::Tiling> choice(objective);
  int64_t timed = 0;
  const auto evaluate = [&](const typename Source::Tiling& t) {
    ++timed;
    const Cost cost = evaluator_.cost(*p, t);
    choice.offer(t, cost, mapping_score(objective, cost, hw_));
    return cost.timing.total.count();
  };
  for (const auto& t : chunked_tilings(*p, hw_, chunks)) evaluate(t);
  const bool pinned = !choice.empty();
  if (!pinned)
    if (const auto t = rule_tiling(*p, hw_)) {
      if (options_.only_traces()) return only_traced(evaluator_, *p, *t);
      evaluate(*t);
    }
  int64_t considered = timed;
  const std::string alike = alike_key(*p);
  const auto known = alike.empty() ? alike_.end() : alike_.find(alike);
  if (known != alike_.end()) {
    evaluate(std::get<Source>(known->second).tiling);
  } else if (is_searching() && !pinned && !is_over()) {
    const auto choices = tilings(*p, hw_);
    considered += std::ssize(choices);
    choice.search(choices, evaluate);
  }
  if (choice.empty()) return std::nullopt;
  const auto& [tiling, cost, score] = choice.chosen_tiling();
  Mapping out = mapping_of_cost(cost, timed, considered);
  out.trace = evaluator_.traced(*p, tiling).trace;
  Source source{{std::move(*p), tiling}};
  if (!alike.empty()) alike_.emplace(alike, source);
  if (options_.programs) out.source = std::move(source);
  return out;
}

Result<Mapping> Mapper::search_others(const OpRequest& request, const MappingPin& pin) {
  std::optional<Mapping> found;
  const auto* vector = std::get_if<VectorOp>(&request.item);
  if (vector && hw_.has_side_units()) {
    Result<std::optional<Mapping>> on_units = map_on_units(*vector, request, pin, hw_);
    if (!on_units) return on_units.errors();
    if (*on_units) return std::move(**on_units);
  }
  const auto looks = [&]<Kind... Sources>(
      std::type_identity<Variant<std::monostate, GemmSource, Sources...>>) {
    return (... || (found = search_kind<Sources>(request, pin.chunks)).has_value());
  };
  if (looks(std::type_identity<OpSource>())) return std::move(*found);
  return Error{Errc::capacity,
               fmt::format("no chunk of it fits the activation and output buffers of '{}': "
                           "enlarge them or use fewer slots",
                           hw_.name),
               ""};
}

}  // namespace accsim::sim
