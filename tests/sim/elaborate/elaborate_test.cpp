#include "sim/elaborate/elaborate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

using Strings = std::vector<std::string>;

NodeDef node(std::string op, Strings inputs, Strings outputs,
             std::vector<Attribute> attributes = {}) {
  NodeDef def;
  def.op_type = std::move(op);
  def.inputs = std::move(inputs);
  def.outputs = std::move(outputs);
  def.attributes = std::move(attributes);
  return def;
}

ValueDef value(std::string name, std::vector<DimDef> dims, DType dtype = DType::float32) {
  return {std::move(name), dtype, std::move(dims), true};
}

StoredTensor integers(std::string name, Dims dims, std::vector<int64_t> values,
                      DType dtype = DType::int64) {
  StoredTensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.value = std::make_shared<const ConstData>(std::move(values));
  return tensor;
}

Attribute graph_attribute(std::string name, GraphDef graph) {
  return {std::move(name), "", std::make_shared<const GraphDef>(std::move(graph))};
}

/// Input "x" (float32, 2 x n), output "y".
ModelDef model_of(std::vector<NodeDef> nodes, int64_t opset = 17) {
  ModelDef model;
  model.file = "m.onnx";
  model.ir_version = 8;
  model.opsets[""] = opset;
  model.graph.nodes = std::move(nodes);
  model.graph.inputs = {value("x", {{2, ""}, {-1, "n"}})};
  model.graph.outputs = {value("y", {})};
  return model;
}

std::string problem(const ModelDef& model, const ElaborateOptions& options = {}) {
  const Result<Graph> graph = elaborate(model, options);
  return graph.ok() ? "" : graph.errors().front().text();
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Strings node_names(const Graph& graph) {
  Strings names;
  for (const Node& n : graph.nodes) names.push_back(n.name);
  return names;
}

TEST(Elaborate, WhatDoSymbolsBecome) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{2, 1}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_EQ(Strings{"n"}, graph->defaulted);
  ElaborateOptions options;
  options.bindings["n"] = 5;
  graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ((Dims{2, 5}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_TRUE(graph->defaulted.empty());
  EXPECT_EQ(5, graph->bindings.at("n"));

  model.graph.inputs.push_back(value("mask", {{-1, "n + 1"}, {-1, ""}}));
  graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ((Dims{6, 1}), graph->tensor(graph->inputs[1]).dims) << "n + 1 follows from n";
  EXPECT_EQ(Strings{"mask_dim1"}, graph->defaulted);
}

TEST(Elaborate, AreWrongBindingsRefused) {
  const ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  ElaborateOptions options;
  options.bindings["batch"] = 5;
  EXPECT_TRUE(says(problem(model, options), "the model has n")) << problem(model, options);
  options.bindings = {{"n", -1}};
  EXPECT_TRUE(says(problem(model, options), "at least 0"));
  options.bindings = {{"n", 3}};
  options.input_shapes["x"] = {2, 4};
  EXPECT_TRUE(says(problem(model, options), "is 3 elsewhere")) << problem(model, options);
  options.bindings.clear();
  const Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(4, graph->bindings.at("n"));
  options.input_shapes["z"] = {1};
  EXPECT_TRUE(says(problem(model, options), "no input 'z'"));
}

TEST(Elaborate, DoesAnInputWithoutShapeNeedOne) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.graph.inputs[0].dims.reset();
  EXPECT_TRUE(says(problem(model), "--input-shape"));
  ElaborateOptions options;
  options.input_shapes["x"] = {3, 4};
  EXPECT_EQ("", problem(model, options));
}

TEST(Elaborate, AreVersionsChecked) {
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"y"})}, 6)), "opset 6"));
  EXPECT_EQ("", problem(model_of({node("Relu", {"x"}, {"y"})}, 99)));
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.ir_version = 2;
  EXPECT_TRUE(says(problem(model), "IR version 2"));
  EXPECT_TRUE(says(problem(model_of({})), "has no nodes"));
}

TEST(Elaborate, AreUnsortedNodesSortedAndCyclesNamed) {
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

TEST(Elaborate, AreBrokenNamesRefused) {
  const std::string unknown = problem(model_of({node("Relu", {"nowhere"}, {"y"})}));
  EXPECT_TRUE(says(unknown, "m.onnx: node 'Relu_0' (op Relu)") && says(unknown, "'nowhere'"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"y"}), node("Exp", {"x"}, {"y"})})),
                   "writes tensor 'y', which node 'Relu_0' writes too"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"x"})})), "input or initializer"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x"}, {"z"})})), "output 'y'"));
}

TEST(Elaborate, AreAllUnknownOperatorsReportedAtOnce) {
  NodeDef custom = node("Frobnicate", {"a"}, {"y"});
  custom.domain = "my.ops";
  ModelDef model = model_of({node("Reluu", {"x"}, {"a"}), custom});
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_FALSE(graph.ok());
  ASSERT_EQ(2u, graph.errors().size());
  EXPECT_EQ(Errc::unsupported, graph.errors()[0].code);
  EXPECT_TRUE(says(graph.errors()[0].text(), "node 'Reluu_0' (op Reluu)"));
  EXPECT_TRUE(says(graph.errors()[0].text(), "Relu)")) << graph.errors()[0].text();
  EXPECT_TRUE(says(graph.errors()[1].text(), "(op my.ops::Frobnicate)"));

  model.graph.outputs = {value("y", {{7, ""}, {-1, "n"}}, DType::int8)};
  ElaborateOptions options;
  options.allow_unsupported = true;
  options.bindings["n"] = 3;
  const Result<Graph> kept = elaborate(model, options);
  ASSERT_TRUE(kept.ok()) << kept.errors().front().text();
  EXPECT_EQ((Dims{2, 3}), kept->tensor(kept->nodes[0].outputs[0]).dims) << "as its input";
  EXPECT_EQ((Dims{7, 3}), kept->tensor(kept->outputs[0]).dims) << "as declared";
  EXPECT_EQ(DType::int8, kept->tensor(kept->outputs[0]).dtype);
}

TEST(Elaborate, IsAnInputCountOutsideTheRowRefused) {
  EXPECT_TRUE(says(problem(model_of({node("Relu", {"x", "x"}, {"y"})})), "at most 1"));
  EXPECT_TRUE(says(problem(model_of({node("Relu", {""}, {"y"})})), "lacks input 0"));
}

TEST(Elaborate, IsAShapeBeyond62BitsRefused) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.graph.inputs[0] = value("x", {{int64_t{1} << 40, ""}, {int64_t{1} << 40, ""}});
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(Errc::overflow, graph.errors().front().code);
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

TEST(Elaborate, WhatIsFolded) {
  const ModelDef model =
      model_of({node("Shape", {"x"}, {"s"}), node("ConstantOfShape", {"s"}, {"c"}),
                node("RandomNormalLike", {"c"}, {"r"}), node("Add", {"x", "r"}, {"y"})});
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  std::vector<bool> folded;
  for (const Node& n : graph->nodes) folded.push_back(n.folded);
  EXPECT_EQ((std::vector<bool>{true, true, false, false}), folded);
}

GraphDef branch(const std::string& op, const std::string& out) {
  GraphDef body;
  body.nodes = {node(op, {"x"}, {out})};
  body.outputs = {value(out, {})};
  return body;
}

TEST(Elaborate, WhichBranchOfAnIfStays) {
  ModelDef model = model_of({node("If", {"cond"}, {"y"},
                                  {graph_attribute("then_branch", branch("Relu", "t")),
                                   graph_attribute("else_branch", branch("NoSuchOp", "e"))})});
  model.graph.nodes[0].name = "choice";
  model.graph.initializers.push_back(integers("cond", {}, {1}, DType::boolean));
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(Strings{"choice/Relu_0"}, node_names(*graph));
  EXPECT_EQ("y", graph->tensor(graph->outputs[0]).name);

  model.graph.initializers.clear();
  model.graph.inputs.push_back(value("cond", {}, DType::boolean));
  EXPECT_TRUE(says(problem(model), "condition 'cond' isn't constant"));
}

ModelDef loop_model(int64_t trips) {
  GraphDef body;
  body.inputs = {value("i", {}, DType::int64), value("go", {}, DType::boolean), value("v", {})};
  body.nodes = {node("Identity", {"go"}, {"go_on"}), node("Add", {"v", "x"}, {"sum"})};
  body.outputs = {value("go_on", {}), value("sum", {}), value("sum", {})};
  ModelDef model =
      model_of({node("Loop", {"trips", "", "x"}, {"y", "all"}, {graph_attribute("body", body)})});
  model.graph.initializers.push_back(integers("trips", {}, {trips}));
  model.graph.outputs.push_back(value("all", {}));
  return model;
}

TEST(Elaborate, IsALoopUnrolledAndItsScanOutputStacked) {
  const Result<Graph> graph = elaborate(loop_model(3), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{2, 1}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_EQ((Dims{3, 2, 1}), graph->tensor(graph->outputs[1]).dims);
  EXPECT_EQ(3, std::ranges::count(graph->nodes, "Add", &Node::op_type));
  EXPECT_TRUE(verify(*graph).ok());
  EXPECT_TRUE(says(problem(loop_model(kMostIterations + 1)), "iterations"));
  const Result<Graph> none = elaborate(loop_model(0), {});
  ASSERT_TRUE(none.ok()) << none.errors().front().text();
  EXPECT_EQ((Dims{2, 1}), none->tensor(none->outputs[0]).dims) << "the first value passes through";
  EXPECT_EQ((Dims{0}), none->tensor(none->outputs[1]).dims) << "the body declares scalars";
}

TEST(Elaborate, IsAScanUnrolled) {
  GraphDef body;
  body.inputs = {value("state", {}), value("item", {})};
  body.nodes = {node("Add", {"state", "item"}, {"next"}), node("Exp", {"next"}, {"out"})};
  body.outputs = {value("next", {}), value("out", {})};
  ModelDef model = model_of({node("Scan", {"first", "x"}, {"y", "all"},
                                  {graph_attribute("body", body),
                                   {"num_scan_inputs", "", int64_t{1}},
                                   {"scan_input_axes", "", std::vector<int64_t>{1}},
                                   {"scan_output_axes", "", std::vector<int64_t>{-1}}})});
  model.graph.inputs.push_back(value("first", {{2, ""}}));
  model.graph.outputs.push_back(value("all", {}));
  ElaborateOptions options;
  options.bindings["n"] = 5;
  const Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{2}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_EQ((Dims{2, 5}), graph->tensor(graph->outputs[1]).dims);
}

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

TEST(Elaborate, AreFunctionsInlinedWithTheirAttributes) {
  const Result<Graph> graph = elaborate(function_model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Strings{"call/Inner_0/Softmax_0", "call/Inner_0/Relu_1"}), node_names(*graph));
  EXPECT_EQ(15, graph->nodes[0].opset);
  ASSERT_EQ(1u, graph->nodes[0].attributes.size());
  EXPECT_EQ(0, std::get<int64_t>(graph->nodes[0].attributes[0].value));
  EXPECT_EQ("y", graph->tensor(graph->outputs[0]).name);
}

TEST(Elaborate, IsAFunctionThatCallsItselfRefused) {
  ModelDef model = function_model();
  model.functions[0].nodes = model.functions[1].nodes;
  EXPECT_TRUE(says(problem(model), "calls itself")) << problem(model);
}

}  // namespace
}  // namespace accsim::sim
