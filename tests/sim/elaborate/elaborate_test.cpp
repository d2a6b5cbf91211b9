#include "sim/elaborate/elaborate.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(Elaborate, AreVersionsChecked) {
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"y"})}, 6)), "opset 6"));
  EXPECT_EQ("", problem(model_of({node("Relu", {"x"}, {"y"})}, 99)));
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.ir_version = 2;
  EXPECT_TRUE(says(problem(model), "IR version 2"));
}

TEST(Elaborate, IsAGraphWithoutNodesOneOfItsInputsAndConstants) {
  ModelDef model = model_of({});
  model.graph.inputs = {value("x", {{2, ""}, {3, ""}})};
  model.graph.initializers = {integers("c", {2}, {4, 5})};
  model.graph.outputs = {value("x", {}), value("c", {})};
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_TRUE(verify_graph(*graph).ok());
  EXPECT_TRUE(graph->nodes.empty());
  ASSERT_EQ(graph->outputs.size(), 2U);
  EXPECT_EQ(graph->outputs[0], graph->inputs.at(0));
  EXPECT_EQ(graph->tensor(graph->outputs[1]).value->integers(), (std::vector<int64_t>{4, 5}));
  model.graph.outputs = {value("y", {})};
  EXPECT_TRUE(says(problem(model), "output 'y': no node, input or initializer gives it"));
  model.graph.outputs.clear();
  EXPECT_TRUE(says(problem(model), "no nodes and no outputs"));
}

TEST(Elaborate, AreBrokenNamesRefused) {
  const std::string unknown = problem(model_of({node("Relu", {"nowhere"}, {"y"})}));
  EXPECT_TRUE(says(unknown, "m.onnx: node 'Relu_0' (op Relu)") && says(unknown, "'nowhere'"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"y"}), node("Exp", {"x"}, {"y"})})),
                   "writes tensor 'y', which node 'Relu_0' writes too"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"x"})})), "input or initializer"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"z"})})), "output 'y'"));
}

TEST(Elaborate, AreInitializersInTheInputListNoInputs) {
  ModelDef model = model_of({node("Reshape", {"x", "shape"}, {"y"})});
  model.graph.inputs.push_back(value("shape", {{1, ""}}, DType::int64));
  model.graph.initializers.push_back(integers("shape", {1}, {-1}));
  ElaborateOptions options;
  options.bindings["n"] = 4;
  const Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(1u, graph->inputs.size());
  EXPECT_EQ((Dims{8}), graph->tensor(graph->outputs[0]).dims);
}

TEST(Elaborate, IsAShapeBeyond62BitsRefused) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.graph.inputs[0] = value("x", {{int64_t{1} << 40, ""}, {int64_t{1} << 40, ""}});
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(Errc::overflow, graph.errors().front().code);
}

TEST(Assumptions, AreTheBoundOrWhatIsGivenAndNoted) {
  NodeDef nonzero = node("NonZero", {"x"}, {"y"});
  nonzero.name = "where";
  const ModelDef model = model_of({nonzero});
  ElaborateOptions options;
  options.bindings["n"] = 5;
  Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{2, 10}), graph->tensor(graph->outputs[0]).dims);
  ASSERT_EQ(1U, graph->assumed.size());
  EXPECT_EQ("where", graph->assumed[0].node);
  EXPECT_EQ("NonZero", graph->assumed[0].op_type);
  EXPECT_EQ(10, graph->assumed[0].bound);
  EXPECT_FALSE(graph->assumed[0].given);

  options.sizes["where"] = 3;
  graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ((Dims{2, 3}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_EQ(3, graph->assumed[0].size);
  EXPECT_TRUE(graph->assumed[0].given);

  options.sizes["where"] = 11;
  EXPECT_TRUE(says(problem(model, options), "at most 10")) << problem(model, options);
  options.sizes = {{"when", 3}};
  EXPECT_TRUE(says(problem(model, options),
                   "--assume names 'when', but only a run decides sizes of "
                   "where"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"y"})}), options),
                   "the model has no size that only a run decides"));
}

}  // namespace
}  // namespace accsim::sim
