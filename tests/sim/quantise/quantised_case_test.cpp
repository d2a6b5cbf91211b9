#include "sim/quantise/quantised_case.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "hw/golden/golden.h"
#include "sim/program/network_reference.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// A convolution, a function, a pooling; `stored`: with the values of its weights.
ModelDef small_network(bool stored) {
  ModelBuilder m;
  m.input("x", {1, 2, 6, 6}).weight("w", {2, 2, 3, 3});
  m.node("Conv", {"x", "w"}, {"c"}, {ModelBuilder::ints("pads", {1, 1, 1, 1})});
  m.node("Tanh", {"c"}, {"t"}).node("GlobalAveragePool", {"t"}, {"y"}).output("y");
  ModelDef out = m.model();
  if (!stored) return out;
  std::vector<double> w;
  for (int i = 0; i < 2 * 2 * 9; ++i) w.push_back((i * 7 % 11 - 5) / 8.0);
  out.graph.initializers.back().value = std::make_shared<ConstData>(std::move(w));
  return out;
}

struct MadeCase {
  Graph graph;
  CostedNetwork costed;
  NetworkCase made;
};

MadeCase case_of(const ModelDef& m) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  MadeCase out{*elaborate(m, {}), {}, {}};
  out.costed = *cost_network(out.graph, hw, {});
  auto made = quantised_network_case(out.graph, out.costed, hw, 1, 1);
  EXPECT_TRUE(made.ok()) << (made ? "" : made.errors().front().text());
  out.made = std::move(*made);
  return out;
}

TEST(RealCase, HasTheNumbersOfAFloatRunWhereTheWeightsAre) {
  const MadeCase c = case_of(small_network(true));
  EXPECT_EQ(c.made.report.parts, 2);
  EXPECT_EQ(c.made.report.part_constants, 2);
  const GemmOperands& product = c.made.numbers.at(0).operands;
  // Weights of both output channels are -5 .. 5 eighths; of 127 steps each eighth gets 25.
  for (size_t tap = 0; tap < 9; ++tap)
    for (size_t input = 0; input < 2; ++input)
      for (size_t o = 0; o < 2; ++o) {
        const auto stored = static_cast<int>((o * 2 + input) * 9 + tap);
        EXPECT_EQ(product.weights.at((tap * 2 + input) * 2 + o), (stored * 7 % 11 - 5) * 25);
      }
  hw::MemoryImage golden = c.made.image;
  ASSERT_TRUE(hw::run_golden(c.made.network.program, c.made.hw, golden).ok());
  const ReferenceResult r =
      compare_with_reference(c.costed, c.made.network, c.made.numbers, c.made.image, golden);
  EXPECT_EQ(r.difference, "");
  EXPECT_EQ(r.compared, 2);
}

TEST(RealCase, HasRandomNumbersWithoutWeights) {
  const MadeCase c = case_of(small_network(false));
  EXPECT_EQ(c.made.report.parts, 2);
  EXPECT_EQ(c.made.report.part_constants, 0);
}

}  // namespace
}  // namespace accsim::sim
