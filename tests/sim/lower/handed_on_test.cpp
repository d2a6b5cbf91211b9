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

}  // namespace
}  // namespace accsim::sim
