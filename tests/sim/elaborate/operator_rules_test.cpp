#include "sim/elaborate/operator_rules.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(OperatorRules, IsAnInputCountOutsideTheRowRefused) {
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x", "x"}, {"y"})})), "at most 1"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {""}, {"y"})})), "lacks input 0"));
}

TEST(OperatorRules, WhatIsFolded) {
  const ModelDef model =
      model_of({node("Shape", {"x"}, {"s"}), node("ConstantOfShape", {"s"}, {"c"}),
                node("RandomNormalLike", {"c"}, {"r"}), node("Add", {"x", "r"}, {"y"})});
  const Result<Graph> graph = elaborate(model, ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  std::vector<bool> folded;
  for (const Node& n : graph->nodes) folded.push_back(n.folded);
  EXPECT_EQ((std::vector<bool>{true, true, false, false}), folded);
}

}  // namespace
}  // namespace accsim::sim
