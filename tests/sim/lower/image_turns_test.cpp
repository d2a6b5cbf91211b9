#include "sim/lower/image_turns.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

const std::vector<int64_t> kLast{0, 2, 3, 1}, kFirst{0, 3, 1, 2};

Attribute perm(const std::vector<int64_t>& axes) { return {"perm", "", axes}; }

Graph sunk(const ModelBuilder& b) {
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok());
  Graph out = sink_image_turns(std::move(*graph));
  EXPECT_TRUE(verify_graph(out).ok());
  return out;
}

/// Operators of the nodes that are left to do something, in order.
std::vector<std::string> work(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& n : graph.nodes)
    if (!n.absorbed) out.push_back(n.op_type);
  return out;
}

ModelBuilder convolved() {
  ModelBuilder b;
  b.input("x", {1, 4, 6, 6}).weight("w", {4, 4, 1, 1}).node("Conv", {"x", "w"}, {"a"});
  return b;
}

TEST(ImageTurns, AreReadPastWhereTheyUndoEachOther) {
  ModelBuilder b = convolved();
  b.node("Transpose", {"a"}, {"last"}, {perm(kLast)}).node("Sigmoid", {"last"}, {"s"});
  b.node("Transpose", {"s"}, {"first"}, {perm(kFirst)}).node("Conv", {"first", "w"}, {"y"});
  const Graph graph = sunk(b.output("y"));
  EXPECT_EQ(work(graph), (std::vector<std::string>{"Conv", "Sigmoid", "Conv"}));
  EXPECT_EQ(graph.tensor(graph.nodes[2].outputs[0]).dims, (Dims{1, 4, 6, 6})) << "the image's";
}

TEST(ImageTurns, StayBehindTheWorkBeforeAnOutput) {
  ModelBuilder b = convolved();
  b.node("Transpose", {"a"}, {"last"}, {perm(kLast)}).node("Add", {"last", "last"}, {"y"});
  const Graph graph = sunk(b.output("y"));
  EXPECT_EQ(work(graph), (std::vector<std::string>{"Conv", "Add", "Transpose"}));
  EXPECT_EQ(graph.tensor(graph.outputs[0]).name, "y");
  EXPECT_EQ(graph.tensor(graph.outputs[0]).dims, (Dims{1, 6, 6, 4}));
}

TEST(ImageTurns, JoinsChannelsAlongTheirNewAxis) {
  ModelBuilder b = convolved();
  b.node("Transpose", {"a"}, {"last"}, {perm(kLast)});
  b.node("Concat", {"last", "last"}, {"y"}, {{"axis", "", int64_t{-1}}});
  const Graph graph = sunk(b.output("y"));
  EXPECT_EQ(work(graph), (std::vector<std::string>{"Conv", "Concat", "Transpose"}));
  EXPECT_EQ(graph.tensor(graph.nodes[2].outputs[0]).dims, (Dims{1, 8, 6, 6}));
}

/// Work whose other operand lies as the file has it reads the transpose as before.
TEST(ImageTurns, StayBeforeWorkWithATensorInTheFilesOrder) {
  ModelBuilder b = convolved();
  b.input("z", {1, 6, 6, 4}).node("Transpose", {"a"}, {"last"}, {perm(kLast)});
  b.node("Add", {"last", "z"}, {"y"});
  EXPECT_EQ(work(sunk(b.output("y"))), (std::vector<std::string>{"Conv", "Transpose", "Add"}));
}

}  // namespace
}  // namespace accsim::sim
