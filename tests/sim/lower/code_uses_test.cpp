#include "sim/lower/code_uses.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// Reals become integers, move and become reals again; a product after that makes others.
ModelBuilder moved_codes() {
  ModelBuilder b;
  b.input("x", {2, 3}).weight("s", {}).weight("z", {}, DType::uint8);
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).node("Transpose", {"q"}, {"t"});
  b.node("DequantizeLinear", {"t", "s", "z"}, {"r"}).node("Relu", {"r"}, {"y"});
  b.node("QuantizeLinear", {"y", "s", "z"}, {"p"});
  b.node("DequantizeLinear", {"p", "s", "z"}, {"o"}).output("o");
  return b;
}

std::vector<CodeUse> uses_in(const ModelBuilder& b) {
  const auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  return code_uses(*graph);
}

TEST(CodeUses, AreWhatNodesDoWithIntegersThatStandForReals) {
  using enum CodeUse;
  EXPECT_EQ(uses_in(moved_codes()), (std::vector{makes, moves, takes, none, makes, takes}));
}

/// However far it is from who reads them as integers to who makes them; no further.
TEST(CodeUses, AreNoneOfAllThatIntegersGoThrough) {
  using enum CodeUse;
  ModelBuilder b = moved_codes();
  b.node("Cast", {"t"}, {"number"}, {{"to", "", int64_t{1}}}).output("number");
  std::vector<CodeUse> expected{none, none, none, none, makes, takes, none};
  EXPECT_EQ(uses_in(b), expected);
}

TEST(CodeUses, AreNoneWhereAScaleIsFoundInTheRun) {
  using enum CodeUse;
  ModelBuilder b;
  b.input("x", {2, 3}).input("s", {}).weight("z", {}, DType::uint8);
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  b.node("DequantizeLinear", {"q", "s", "z"}, {"y"}).output("y");
  EXPECT_EQ(uses_in(b), (std::vector{none, none}));
}

}  // namespace
}  // namespace accsim::sim
