#include "sim/elaborate/node_order.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(NodeOrder, AreUnsortedNodesSortedAndCyclesNamed) {
  const Result<Graph> graph = elaborate(
      model_of({node("Exp", {"b"}, {"y"}), node("Neg", {"a"}, {"b"}), node("Relu", {"x"}, {"a"})}),
      ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Strings{"Relu_2", "Neg_1", "Exp_0"}), node_names(*graph));
  const std::string cycle = problem(
      model_of({node("Exp", {"b"}, {"c"}), node("Neg", {"c"}, {"b"}), node("Relu", {"b"}, {"y"})}));
  EXPECT_TRUE(says(cycle, "cycle") && says(cycle, "Exp_0") && says(cycle, "Neg_1")) << cycle;
  EXPECT_FALSE(says(cycle, "Relu_2")) << "it only follows the cycle";
}

TEST(NodeOrder, OnlyLateProducersMove) {
  const Result<Graph> graph =
      elaborate(model_of({node("Exp", {"x"}, {"a"}), node("Add", {"c", "a"}, {"b"}),
                          node("Neg", {"a"}, {"d"}), node("Abs", {"x"}, {"e"}),
                          node("Relu", {"e"}, {"c"}), node("Mul", {"b", "d"}, {"y"})}),
                ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Strings{"Exp_0", "Abs_3", "Relu_4", "Add_1", "Neg_2", "Mul_5"}), node_names(*graph));
}

}  // namespace
}  // namespace accsim::sim
