#include "sim/elaborate/scope.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(Scope, WhoSeesWhichNames) {
  Scope outer;
  outer.names = {{"a", 1}, {"b", 2}};
  Scope inner = outer.inner_scope("inner/");
  inner.names = {{"b", 3}, {"left_out", kNoTensor}};
  ASSERT_NE(nullptr, inner.find("a"));
  EXPECT_EQ(1, *inner.find("a")) << "of the scope around it";
  EXPECT_EQ(3, *inner.find("b")) << "its own goes first";
  EXPECT_EQ(2, *outer.find("b"));
  ASSERT_NE(nullptr, inner.find("left_out")) << "known, though it has no tensor";
  EXPECT_EQ(kNoTensor, *inner.find("left_out"));
  EXPECT_EQ(nullptr, outer.find("left_out"));
  EXPECT_EQ(nullptr, inner.find("c"));
}

TEST(Scope, IsAnInnerScopeInTheSameCall) {
  const CallFrame frame;
  const GraphDef graph;
  Scope outer;
  outer.frame = &frame;
  outer.graph = &graph;
  const Scope inner = outer.inner_scope("p/");
  EXPECT_EQ(&frame, inner.frame);
  EXPECT_EQ("p/", inner.prefix);
  EXPECT_EQ(nullptr, inner.graph) << "a subgraph's shapes are declared in the subgraph";
}

TEST(Scope, WhatAreAttributesOfTheCallingNode) {
  const std::vector<Attribute> own = {{"axis", "how", {}}, {"keep", "", int64_t{7}}};
  CallFrame frame;
  frame.attributes = {{"how", "", int64_t{2}}};
  const std::vector<Attribute> resolved = resolve_attributes(own, &frame);
  ASSERT_EQ(2u, resolved.size());
  EXPECT_EQ("axis", resolved[0].name);
  EXPECT_EQ(2, std::get<int64_t>(resolved[0].value));
  EXPECT_EQ(7, std::get<int64_t>(resolved[1].value));
  EXPECT_EQ(1u, resolve_attributes(own, nullptr).size()) << "outside of functions none is called";
  frame.attributes.clear();
  EXPECT_EQ(1u, resolve_attributes(own, &frame).size()) << "the call doesn't give it";
}

TEST(NodeCall, WhatIsSaidOfAttributesOfAnotherType) {
  const NodeDef def = node("Scan", {}, {"y", ""});
  Scope scope;
  const NodeCall call{def, "s", 17, {4}, {{"n", "", int64_t{5}}, {"l", "", 1.5}}, scope};
  EXPECT_EQ(5, call.integer_attribute("n", 3));
  EXPECT_EQ(3, call.integer_attribute("l", 3));
  EXPECT_TRUE(call.integers_attribute("n").empty());
  EXPECT_EQ(nullptr, call.graph_attribute("n"));
  EXPECT_EQ(4, call.input(0));
  EXPECT_EQ(kNoTensor, call.input(1));
  EXPECT_TRUE(call.wants_output(0));
  EXPECT_FALSE(call.wants_output(1)) << "its name is empty";
  EXPECT_FALSE(call.wants_output(2));
  EXPECT_EQ("node 's' (op Scan): why", call.error_at_node(Errc::invalid, "why").text());
}

}  // namespace
}  // namespace accsim::sim
