#pragma once
#include <fmt/format.h>

#include <array>
#include <random>
#include <string>

#include "sim/compare/compare.h"
#include "sim/cost/cost.h"
#include "tests/support/field_machines.h"

namespace accsim::test {

/// What comparisons of random machines gave.
struct PairCounts {
  int64_t comparisons = 0, layers = 0;
  int64_t refused = 0;  ///< machines that can't hold a network's tiles
  std::string wrong;    ///< the first sum that isn't exact; "" for none
};

/// The first sum of a comparison that isn't what the two reports say; "" when all are.
inline std::string wrong_sum(const sim::Comparison& c, const sim::Report& a, const sim::Report& b) {
  int64_t all = 0, layers = 0;
  for (const int64_t v : c.difference) all += v;
  if (all != b.totals.cycles - a.totals.cycles) return "the waterfall's sum";
  if (a.layers.size() != b.layers.size() || c.layers.size() != a.layers.size())
    return "the number of layers";
  for (size_t i = 0; i < c.layers.size(); ++i) {
    int64_t sum = 0;
    for (const int64_t v : c.layers[i].causes) sum += v;
    if (sum != b.layers[i].costs.cycles - a.layers[i].costs.cycles) return a.layers[i].name;
    layers += sum;
  }
  return layers == all ? "" : "the sum over layers";
}

/// Costs each network on `pairs` pairs of machines, drawn by the field table, and checks that the
/// differences of causes add up to those of cycles, layer by layer and in all.
inline PairCounts compare_random_pairs(int pairs, unsigned seed, sim::MapEffort effort,
                                       const std::string& source) {
  constexpr std::array<const char*, 5> kModels = {"squeezenet1_1_op13", "mobilenet_v2_op13",
                                                  "resnet18_op13", "bert_base_op17",
                                                  "llama_tiny2_prefill64_op17"};
  PairCounts out;
  sim::MapOptions options;
  options.effort = effort;
  std::vector<sim::Graph> graphs;
  for (const char* model : kModels)
    graphs.push_back(*sim::load_graph(fmt::format("{}/models/{}.onnx", source, model), {}));
  std::mt19937 random(seed);
  for (int pair = 0; pair < pairs && out.wrong.empty(); ++pair) {
    const char* const base = pair % 2 == 0 ? "64x64" : "64x64-ddr4";
    const auto hw = *hw::load_hw(fmt::format("{}/configs/{}.yaml", source, base));
    const hw::HwConfig machines[] = {draw_machine(hw, random), draw_machine(hw, random)};
    for (size_t g = 0; g < graphs.size() && out.wrong.empty(); ++g) {
      const auto a = sim::cost_network(graphs[g], machines[0], options);
      const auto b = sim::cost_network(graphs[g], machines[1], options);
      if (!a || !b) {
        ++out.refused;
        continue;
      }
      const auto c = compare_runs(run_side(a->report), run_side(b->report));
      if (const std::string wrong = wrong_sum(c, a->report, b->report); !wrong.empty())
        out.wrong = fmt::format("pair {} of seed {}, {}: {}", pair, seed, kModels[g], wrong);
      ++out.comparisons;
      out.layers += std::ssize(c.layers);
    }
  }
  return out;
}

}  // namespace accsim::test
