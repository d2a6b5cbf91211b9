#include "sim/lower/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"
#include "sim/lower/expert_gathers.h"
#include "sim/lower/lane_meaning.h"
#include "sim/lower/lay_out.h"
#include "sim/lower/logarithms.h"
#include "sim/lower/patterns.h"
#include "sim/lower/repeats.h"
#include "sim/lower/rotations.h"
#include "sim/lower/row_layout.h"
#include "sim/lower/sub_tensors.h"

namespace accsim::sim {

std::span<const LoweringPass> lowering_passes() {
  using enum PassFact;
  using enum PassStage;
  static const std::vector<LoweringPass> kPasses = {
      {"count_parameters", merging, {}, parameters, count_parameters},
      {"merge_patterns", merging, {}, patterns, merge_patterns},
      {"merge_logarithms", merging, {patterns}, logarithms, merge_logarithms},
      {"merge_rotations", merging, {patterns}, rotations, merge_rotations},
      {"merge_repeats", in_memory, {}, repeats, merge_repeats},
      {"merge_expert_gathers", in_memory, {}, experts, merge_expert_gathers},
      {"lay_out", in_memory, {logarithms, rotations, repeats, experts}, layouts, lay_out},
      {"set_row_work", in_memory, {layouts}, rows, set_row_work},
      {"add_lane_meanings", in_memory, {layouts}, lanes, add_lane_meanings},
      {"place_sub_tensors", in_memory, {rows, lanes}, sub_tensors, place_sub_tensors},
  };
  return kPasses;
}

std::string misplaced_pass(std::span<const LoweringPass> passes) {
  const auto all = lowering_passes();
  for (size_t i = 0; i < passes.size(); ++i)
    for (const PassFact fact : passes[i].needs) {
      if (std::ranges::count(passes.first(i), fact, &LoweringPass::gives) > 0) continue;
      const auto giver = std::ranges::find(all, fact, &LoweringPass::gives);
      return fmt::format("{} runs before {}, which it needs", passes[i].name, giver->name);
    }
  return "";
}

void run_passes(std::span<const LoweringPass> passes, PassStage last, const Graph& graph,
                Lowered& lowered) {
  const std::string misplaced = misplaced_pass(passes);
  check(misplaced.empty(), misplaced);
  for (const LoweringPass& pass : passes)
    if (pass.stage <= last) pass.run(graph, lowered);
}

}  // namespace accsim::sim
