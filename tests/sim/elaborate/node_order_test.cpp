#include "sim/elaborate/node_order.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(NodeOrder, AreUnsortedNodesSortedAndCyclesNamed) {
  const Result<Graph> graph = elaborate(
      model_of({node("Exp", {"b"}, {"y"}), node("Neg", {"a"}, {"b"}), node("Relu", {"x"}, {"a"})}),
      {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Strings{"Relu_2", "Neg_1", "Exp_0"}), node_names(*graph));
  const std::string cycle = problem(
      model_of({node("Exp", {"b"}, {"c"}), node("Neg", {"c"}, {"b"}), node("Relu", {"b"}, {"y"})}));
  EXPECT_TRUE(says(cycle, "cycle") && says(cycle, "Exp_0") && says(cycle, "Neg_1")) << cycle;
  EXPECT_FALSE(says(cycle, "Relu_2")) << "it only follows the cycle";
}

}  // namespace
}  // namespace accsim::sim
