#include "sim/elaborate/cut.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using Names = std::vector<std::string>;

/// x -> a -> b, x -> c, b and c -> sum -> d: a diamond, and a weight that is computed.
test::ModelBuilder diamond() {
  test::ModelBuilder b;
  b.input("x", {4, 4}).weight("w", {4, 4}).weight("v", {4, 4});
  b.node("MatMul", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Tanh", {"x"}, {"c"});
  b.node("Add", {"b", "c"}, {"sum"}).node("Transpose", {"v"}, {"turned"});
  b.node("MatMul", {"sum", "turned"}, {"d"}).output("d");
  return b;
}

Graph cut(const std::string& from, const std::string& until) {
  auto graph = elaborate(diamond().model(), {.cut = {from, until}});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_TRUE(verify_graph(*graph).ok());
  return std::move(*graph);
}
Names names(const Graph& g, const std::vector<TensorId>& ids) {
  Names out;
  for (const TensorId id : ids) out.push_back(g.tensor(id).name);
  return out;
}
Names written(const Graph& g) {
  Names out;
  for (const Node& n : g.nodes) out.push_back(g.tensor(n.outputs.at(0)).name);
  return out;
}

TEST(CutGraph, LeavesWhatDependsOnANodeAndReadsTheRestAsInputs) {
  const Graph g = cut("b", "");
  EXPECT_EQ(written(g), (Names{"b", "sum", "turned", "d"})) << "and the nodes of constants";
  EXPECT_EQ(names(g, g.inputs), (Names{"a", "c"}));
  EXPECT_EQ(names(g, g.outputs), (Names{"d"}));
}

TEST(CutGraph, LeavesWhatANodeDependsOn) {
  const Graph g = cut("", "sum");
  EXPECT_EQ(written(g), (Names{"a", "b", "c", "sum"}));
  EXPECT_EQ(names(g, g.inputs), (Names{"x"}));
  EXPECT_EQ(names(g, g.outputs), (Names{"sum"}));
}

TEST(CutGraph, LeavesWhatIsBetween) {
  const Graph g = cut("c", "sum");
  EXPECT_EQ(written(g), (Names{"c", "sum"}));
  EXPECT_EQ(names(g, g.inputs), (Names{"x", "b"})) << "in the order in which they are made";
  EXPECT_EQ(names(g, g.outputs), (Names{"sum"}));
}

TEST(CutGraph, SaysWhichNodeThereIsnt) {
  const auto said = [](const GraphCut& cut) {
    const auto graph = elaborate(diamond().model(), {.cut = cut});
    return graph ? "" : graph.errors().front().text();
  };
  EXPECT_NE(said({"nowhere", ""}).find("'nowhere' is no node"), std::string::npos);
  EXPECT_NE(said({"sum", "b"}).find("'b' doesn't depend on 'sum'"), std::string::npos);
}

}  // namespace
}  // namespace accsim::sim
