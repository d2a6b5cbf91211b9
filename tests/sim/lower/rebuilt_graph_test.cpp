#include "sim/lower/rebuilt_graph.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;
using Names = std::vector<std::string>;

/// x -> a -> b -> y, and a -> unread; ids of nodes and of their results by these names.
struct Chain {
  static constexpr NodeId kA = 0, kB = 1, kY = 2, kUnread = 3;
  Graph graph;
  TensorId x, a, b, y;

  Chain() {
    ModelBuilder m;
    m.input("x", {2, 3}).node("Relu", {"x"}, {"a"}).node("Neg", {"a"}, {"b"});
    m.node("Exp", {"b"}, {"y"}).node("Sqrt", {"a"}, {"unread"}).output("y");
    graph = *elaborate(m.model(), {});
    const auto result = [&](NodeId id) { return graph.nodes[static_cast<size_t>(id)].outputs[0]; };
    x = graph.inputs[0];
    a = result(kA);
    b = result(kB);
    y = result(kY);
  }
};

Names names_of_nodes(const Graph& graph) {
  Names out;
  for (const Node& node : graph.nodes) out.push_back(node.name);
  return out;
}

TEST(RebuiltGraph, HasOtherNodesInThePlaceOfSome) {
  const Chain chain;
  RebuiltGraph rebuilt(chain.graph);
  rebuilt.keep_node(Chain::kA);
  rebuilt.begin_part_of(Chain::kB);
  const TensorId t = rebuilt.add_operator("Abs", 13, "abs", {chain.a}, {2, 3}, {});
  rebuilt.add_node(rebuilt.new_operator("Sign", 13, {}), "sign", {t}, {chain.b});
  rebuilt.keep_node(Chain::kY);
  const Graph graph = rebuilt.take_graph();
  EXPECT_TRUE(verify_graph(graph).ok());
  EXPECT_EQ(names_of_nodes(graph), (Names{"a", "abs", "sign", "y"}));
  EXPECT_EQ(graph.nodes[1].part_of, "b");
  EXPECT_EQ(graph.tensor(t).dtype, DType::float32);
  EXPECT_EQ(graph.tensor(chain.b).producer, 2);
}

/// What nobody has read before stays.
TEST(RebuiltGraph, HasNoNodesThatNobodyReadsAnyMore) {
  const Chain chain;
  RebuiltGraph rebuilt(chain.graph);
  rebuilt.keep_node(Chain::kA);
  rebuilt.keep_node(Chain::kB);
  rebuilt.begin_part_of(Chain::kY);
  rebuilt.add_node(rebuilt.new_operator("Exp", 13, {}), "y", {chain.x}, {chain.y});
  rebuilt.keep_node(Chain::kUnread);
  const Graph graph = rebuilt.take_graph();
  EXPECT_TRUE(verify_graph(graph).ok());
  EXPECT_EQ(names_of_nodes(graph), (Names{"a", "y", "unread"}));
  EXPECT_EQ(graph.tensors.size(), chain.graph.tensors.size());
  EXPECT_EQ(graph.tensor(chain.b).dims, Dims{0});
}

TEST(RebuiltGraph, FoldsWhatIsOfConstantsAlone) {
  const Chain chain;
  RebuiltGraph rebuilt(chain.graph);
  rebuilt.begin_part_of(Chain::kA);
  const TensorId one =
      rebuilt.add_constant("one", DType::float32, {1}, ConstData(std::vector<double>{1}));
  const TensorId less = rebuilt.add_operator("Neg", 13, "less", {one}, {1}, {});
  rebuilt.add_node(rebuilt.new_operator("Add", 13, {}), "y", {chain.x, less}, {chain.y});
  const Graph graph = rebuilt.take_graph();
  EXPECT_TRUE(verify_graph(graph).ok());
  EXPECT_TRUE(graph.nodes[0].folded);
  EXPECT_FALSE(graph.nodes[1].folded);
}

TEST(RebuiltGraph, IsNotTakenWhereANodeReadsWhatNothingWrites) {
  const Chain chain;
  RebuiltGraph rebuilt(chain.graph);
  rebuilt.keep_node(Chain::kY);
  EXPECT_DEATH((void)rebuilt.take_graph(), "reads what nothing writes: b");
}

}  // namespace
}  // namespace accsim::sim
