#include "sim/map/product/product_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/config/fields.h"
#include "sim/map/product/heuristic_tiling.h"
#include "sim/map/product/tap_problem.h"
#include "sim/map/tiling_choice.h"

namespace accsim::sim {
namespace {

using ProductChoice = TilingChoice<ProductTiling>;

/// The key of a machine file that says how large groups of weights are, in full and its last word.
std::string group_name(const GemmProblem& p) {
  return p.mode == hw::kOwnTypes ? "weight_group" : "group";
}
std::string group_key(const GemmProblem& p, const hw::HwConfig& hw) {
  if (p.mode == hw::kOwnTypes) return hw::field_at(hw, hw.types.weight_group).path;
  return fmt::format("the group of {} in types.modes", to_string(hw::type_mode(hw, hw::kOwnTypes)));
}

/// Why no tiling of groups with a scale each can fit: what the smallest tile of one pixel, one
/// output channel and a group's channels needs. "" where that isn't the reason.
std::string groups_too_many(const GemmProblem& p, const hw::HwConfig& hw) {
  if (p.scale_count() == 1) return "";
  const auto said = [&](const std::string& need, int64_t most_groups, const std::string& what) {
    return fmt::format(
        "{} of '{}' is {}: the {} input channels are {} groups, {}; "
        "use a {} of {} or more, or 0{}",
        group_key(p, hw), hw.name, p.scale_group, p.op.channels, p.scale_count(), need,
        group_name(p), ceil_div(p.op.channels, std::max<int64_t>(1, most_groups)), what);
  };
  const auto kib = [&](hw::Buffer b, int64_t bytes) {
    return fmt::format(", or {} KiB of the {} buffer (now {} in {} slots)",
                       ceil_div(bytes * hw.buffer(b).slots, 1024), name(b), hw.buffer(b).kib,
                       hw.buffer(b).slots);
  };
  const auto slot = [&](hw::Buffer b) { return hw.buffer(b).slot_bytes(); };
  constexpr int64_t kMost = hw::PostCommand::kMostGroups;
  if (p.scale_count() > kMost)
    return said(fmt::format("and a post puts {} together at most", kMost), kMost, "");
  if (const int64_t rows = hw.accumulator_rows(); p.scale_count() > rows)
    return said(
        fmt::format("each with a row of sums, of which an accumulator slot has {}", rows), rows,
        kib(hw::Buffer::accumulator, p.scale_count() * hw.array.cols * hw.accumulator_bytes()));
  const int64_t parameters = slot(hw::Buffer::parameter);
  if (p.channel_parameters() > parameters)
    return said(fmt::format("and an output channel's parameters {} bytes, of which a parameter "
                            "slot has {}",
                            p.channel_parameters(), parameters),
                1 + (parameters - p.parameter_bytes) / hw::PostCommand::kGroupBytes,
                kib(hw::Buffer::parameter, p.channel_parameters()));
  return "";
}

/// The same where a group, which is a tile, is too large for a slot.
std::string group_too_large(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d) {
  if (p.scale_count() == 1) return "";
  const Tiling least{.dataflow = d, .channels = p.scale_group};
  const Footprint f = tiling_footprint(p, hw, least);
  for (const auto& [b, bytes] :
       {std::pair{hw::Buffer::activation, f.activation}, std::pair{hw::Buffer::weight, f.weight}})
    if (const int64_t slot = hw.buffer(b).slot_bytes(); bytes > slot)
      return fmt::format(
          "{} of '{}' is {}, and a group is never cut: its channels of one output "
          "take {} bytes of the {} buffer, whose slot has {}; use a smaller {}, or {} "
          "KiB of it",
          group_key(p, hw), hw.name, p.scale_group, bytes, name(b), slot, group_name(p),
          ceil_div(bytes * hw.buffer(b).slots, 1024));
  return "";
}

/// Why there is no tiling at all.
Error no_tiling(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d) {
  std::string why = groups_too_many(p, hw);
  if (why.empty()) why = group_too_large(p, hw, d);
  if (why.empty())
    why = fmt::format(
        "no {} tile fits the buffers of '{}' (M {}, K {}, N {}): enlarge the "
        "activation, weight, accumulator or output buffer, use fewer slots, "
        "or drop the --mapping",
        name(d), hw.name, p.op.m(), p.op.k(), p.op.n());
  return {Errc::capacity, std::move(why), ""};
}

/// That a product can't have what the rest of its program has.
Error other_array(bool sums_stay) {
  return {Errc::usage,
          fmt::format("no dataflow of this product keeps {} in the array as other products of the "
                      "network do, and a program is output stationary as a whole or not at all; "
                      "pin all of them (--dataflow) or none",
                      sums_stay ? "sums" : "operands"),
          ""};
}

/// Of the pin, else the options, else the machine, as far as the product may have them.
std::vector<hw::Dataflow> allowed_dataflows(int mode, const ProductSearch& in,
                                            const MappingPin& pin) {
  const MapOptions& options = in.options;
  const std::vector<hw::Dataflow>& machine = in.hw.array.dataflows;
  std::vector<hw::Dataflow> out = !pin.dataflow.empty() ? pin.dataflow : options.dataflows;
  // What sums that stay can't do isn't asked of them.
  if (mode != hw::kOwnTypes && type_mode(in.own, mode).rate != 1)
    std::erase(out, hw::Dataflow::output_stationary);
  if (out.empty()) out = machine;
  if (options.sums_stay)
    std::erase_if(out, [&](hw::Dataflow d) { return hw::sums_stay(d) != *options.sums_stay; });
  return out;
}

/// `timed`, `considered`: tilings of which the program was timed, and all.
Mapping mapping_of_tiling(const GemmProblem& p, const ProductSearch& in,
                          const ProductChoice::Timed& found, int64_t timed, int64_t considered) {
  Mapping m = mapping_of_cost(found.cost, timed, considered);
  m.trace = in.evaluator.traced(p, found.tiling).trace;
  m.tensor_bytes = static_cast<double>(p.tensor_bytes());
  check(m.counts.macs + m.counts.lane_macs == Macs(p.op.macs()),
        "a program's MACs differ from its op's");
  if (in.options.programs) m.source = GemmSource{{p, found.tiling}};
  return m;
}

}  // namespace

Result<Mapping> search_product(const GemmProblem& p, const ProductSearch& in, const MappingPin& pin,
                               const ObjectiveFunction& objective) {
  const hw::HwConfig& machine = in.hw;
  CostEvaluator& evaluator = in.evaluator;
  const MapOptions& options = in.options;
  SpaceOptions space{.dataflows = allowed_dataflows(p.mode, in, pin), .objective = objective};
  space.limit = options.limit.get();
  if (space.dataflows.empty()) return other_array(*options.sums_stay);
  space.objective.tensor_bytes = static_cast<double>(p.tensor_bytes());
  ProductChoice choice(space.objective), wide(widen_slack(space.objective));
  int64_t timed = 0;
  const auto evaluate = [&](ProductChoice& to, const auto& t) {
    ++timed;
    const Cost cost = evaluator.cost(p, t);
    const Score its = mapping_score(space.objective, cost, machine);
    if (space.below_dram_bytes == 0 || its.dram_bytes < space.below_dram_bytes)
      to.offer(t, cost, its);
    return cost.timing.total.count();
  };
  const auto look = [&](ProductChoice& to) {
    return search_space(p, machine, space, pin, to.found_so_far(), [&](const Candidate& c) {
      check(std::max(c.bound, c.sharp) <= evaluate(to, c.tiling),
            "a mapping's bound exceeds its cycles");
      return to.found_so_far();
    });
  };
  if (p.scale_count() > hw::PostCommand::kMostGroups)
    return no_tiling(p, machine, space.dataflows.front());
  // The rule's tiling is a good mapping to begin with: most others can't be better.
  if (pin.is_free())
    if (const auto t = heuristic_tiling(p, machine, space.dataflows.front())) {
      if (options.only_traces()) return only_traced(evaluator, p, *t);
      evaluate(choice, *t);
    }
  int64_t considered = timed;
  if (choice.empty() || options.effort == MapEffort::search) considered += look(choice);
  // Words of a pin are the array's.
  if (options.effort == MapEffort::search && pin.is_free() && options.dataflows.empty()) {
    const auto on_lanes = tap_tilings(p, machine);
    considered += std::ssize(on_lanes);
    choice.search(on_lanes, [&](const TapTiling& t) { return evaluate(choice, t); });
  }
  if (choice.empty()) return no_tiling(p, machine, space.dataflows.front());
  const auto mapping_of = [&](const ProductChoice::Timed& found) {
    return mapping_of_tiling(p, in, found, timed, considered);
  };
  const int64_t dram_bytes = choice.chosen_tiling().score.dram_bytes;
  if (space.objective.has_slack() && options.effort == MapEffort::search &&
      dram_bytes > p.dram_tensor_bytes()) {
    for (const ProductChoice::Timed* t : {&choice.fastest_tiling(), &choice.chosen_tiling()})
      wide.offer(t->tiling, t->cost, t->score);
    space.objective = widen_slack(space.objective);
    space.below_dram_bytes = dram_bytes;
    considered += look(wide);
  }
  Mapping out = mapping_of(choice.chosen_tiling());
  if (choice.chosen_tiling().score.cycles > choice.fastest_tiling().score.cycles)
    out.fewest = std::make_shared<const Mapping>(mapping_of(choice.fastest_tiling()));
  if (!wide.empty() && wide.chosen_tiling().score.dram_bytes < dram_bytes)
    out.in_wide_slack = std::make_shared<const Mapping>(mapping_of(wide.chosen_tiling()));
  return out;
}

}  // namespace accsim::sim
