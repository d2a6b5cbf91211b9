#include "sim/elaborate/expand_function.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

ModelDef function_model() {
  FunctionDef inner;
  inner.domain = "my";
  inner.name = "Inner";
  inner.inputs = {"a", "unused"};
  inner.outputs = {"b"};
  inner.attributes = {"how"};
  inner.attribute_defaults = {{"how", "", int64_t{1}}};
  inner.nodes = {node("Softmax", {"a"}, {"t"}, {{"axis", "how", {}}}), node("Relu", {"t"}, {"b"})};
  inner.opsets[""] = 15;
  FunctionDef outer = inner;
  outer.name = "Outer";
  outer.nodes = {node("Inner", {"a"}, {"b"}, {{"how", "how", {}}})};
  outer.nodes[0].domain = "my";
  NodeDef call = node("Outer", {"x"}, {"y"}, {{"how", "", int64_t{0}}});
  call.domain = "my";
  call.name = "call";
  ModelDef model = model_of({call});
  model.functions = {inner, outer};
  return model;
}

TEST(ExpandFunction, AreFunctionsInlinedWithTheirAttributes) {
  const Result<Graph> graph = elaborate(function_model(), ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Strings{"call/Inner_0/Softmax_0", "call/Inner_0/Relu_1"}), node_names(*graph));
  EXPECT_EQ(15, graph->nodes[0].opset);
  ASSERT_EQ(1u, graph->nodes[0].attributes.size());
  EXPECT_EQ(0, std::get<int64_t>(graph->nodes[0].attributes[0].value));
  EXPECT_EQ("y", graph->tensor(graph->outputs[0]).name);
}

TEST(ExpandFunction, IsAFunctionThatCallsItselfRefused) {
  ModelDef model = function_model();
  model.functions[0].nodes = model.functions[1].nodes;
  EXPECT_TRUE(says(problem(model), "calls itself")) << problem(model);
}

}  // namespace
}  // namespace accsim::sim
