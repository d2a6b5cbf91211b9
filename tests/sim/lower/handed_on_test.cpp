#include "sim/lower/handed_on.h"

#include <gtest/gtest.h>

#include <utility>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

Graph skipped(const ModelBuilder& builder) {
  Result<Graph> graph = elaborate(builder.model(), {});
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.errors().front().text());
  return graph.ok() ? skip_handed_on(std::move(*graph)) : Graph{};
}

const Node& node_of(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes)
    if (node.name == name) return node;
  ADD_FAILURE() << "no node '" << name << "'";
  return graph.nodes.front();
}

std::string reads(const Graph& graph, const std::string& name, size_t port = 0) {
  return graph.tensor(node_of(graph, name).inputs[port]).name;
}

Attribute to(DType type) { return {"to", "", static_cast<int64_t>(type)}; }

TEST(HandedOn, ReadersReadWhatIsHandedOn) {
  ModelBuilder b;
  b.input("x", {4, 8});
  b.node("Relu", {"x"}, {"r"}).node("Identity", {"r"}, {"i"}).node("Dropout", {"i"}, {"d"});
  b.node("Cast", {"d"}, {"c"}, {to(DType::float32)});
  b.node("Add", {"c", "i"}, {"y"}).output("y");
  const Graph graph = skipped(b);
  EXPECT_EQ(reads(graph, "y", 0), "r");
  EXPECT_EQ(reads(graph, "y", 1), "r");
  for (const char* name : {"i", "d", "c"}) EXPECT_TRUE(node_of(graph, name).absorbed) << name;
}

TEST(HandedOn, OtherTypesAreMade) {
  ModelBuilder b;
  b.input("x", {4, 8});
  b.node("Cast", {"x"}, {"c"}, {to(DType::float16)});
  b.node("Relu", {"c"}, {"y"}).output("y");
  const Graph graph = skipped(b);
  EXPECT_EQ(reads(graph, "y"), "c");
  EXPECT_FALSE(node_of(graph, "c").absorbed);
}

TEST(HandedOn, WhatTheGraphGivesStays) {
  ModelBuilder b;
  b.input("x", {4, 8});
  b.node("Identity", {"x"}, {"i"}).output("i");
  b.node("Relu", {"i"}, {"y"}).output("y");
  const Graph graph = skipped(b);
  EXPECT_EQ(reads(graph, "i"), "x");
  EXPECT_EQ(reads(graph, "y"), "i");
}

TEST(HandedOn, ADropoutWhoseMaskIsReadStays) {
  ModelBuilder b;
  b.input("x", {4, 8});
  b.node("Dropout", {"x"}, {"d", "mask"});
  b.node("Where", {"mask", "d", "x"}, {"y"}).output("y");
  EXPECT_FALSE(node_of(skipped(b), "d").absorbed);
}

/// What casts between wide floats; the node before gives what the graph gives.
TEST(FloatCasts, AreNoneForAMachine) {
  test::ModelBuilder b;
  b.input("x", {4, 4}).node("Cast", {"x"}, {"h"}, {to(DType::float16)});
  b.node("Neg", {"h"}, {"n"}).node("Cast", {"n"}, {"w"}, {to(DType::float32)});
  b.node("Abs", {"w"}, {"a"}).node("Cast", {"a"}, {"b"}, {to(DType::bfloat16)});
  b.node("Exp", {"b"}, {"e"}).node("Cast", {"e"}, {"y"}, {to(DType::float32)});
  b.output("y");
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  const std::optional<Graph> plain = without_float_casts(*graph);
  ASSERT_TRUE(plain);
  for (const Node& node : plain->nodes) EXPECT_EQ(node.absorbed, node.op_type == "Cast");
  const auto name = [&](TensorId id) { return plain->tensor(id).name; };
  EXPECT_EQ(name(plain->nodes[1].inputs[0]), "x");
  EXPECT_EQ(name(plain->nodes[3].inputs[0]), "n");
  EXPECT_EQ(name(plain->nodes[5].inputs[0]), "a");
  EXPECT_EQ(name(plain->nodes[5].outputs[0]), "y");
  EXPECT_EQ(name(plain->outputs[0]), "y");
  for (const Tensor& t : plain->tensors) EXPECT_EQ(bits(t.dtype), 16) << t.name;
}

TEST(FloatCasts, OfOtherTypesStay) {
  test::ModelBuilder b;
  b.input("x", {4, 4}).node("Cast", {"x"}, {"i"}, {to(DType::int32)});
  b.node("Cast", {"i"}, {"f"}, {to(DType::float32)}).node("Neg", {"f"}, {"y"}).output("y");
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE(without_float_casts(*graph));
}

/// A graph's input that it gives in another type is copied by somebody.
TEST(FloatCasts, FromInputToOutputStay) {
  test::ModelBuilder b;
  b.input("x", {4, 4}).node("Cast", {"x"}, {"y"}, {to(DType::float16)}).output("y");
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  const std::optional<Graph> plain = without_float_casts(*graph);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->nodes[0].absorbed);
}

}  // namespace
}  // namespace accsim::sim
