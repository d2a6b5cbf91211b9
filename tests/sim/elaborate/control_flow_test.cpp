#include "sim/elaborate/control_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sim/elaborate/budget.h"
#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

GraphDef branch(const std::string& op, const std::string& out) {
  GraphDef body;
  body.nodes = {node(op, {"x"}, {out})};
  body.outputs = {value(out, {})};
  return body;
}

TEST(ControlFlow, WhichBranchOfAnIfStays) {
  ModelDef model = model_of({node("If", {"cond"}, {"y"},
                                  {graph_attribute("then_branch", branch("Relu", "t")),
                                   graph_attribute("else_branch", branch("NoSuchOp", "e"))})});
  model.graph.nodes[0].name = "choice";
  model.graph.initializers.push_back(integers("cond", {}, {1}, DType::boolean));
  const Result<Graph> graph = elaborate(model, ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(Strings{"choice/Relu_0"}, node_names(*graph));
  EXPECT_EQ("y", graph->tensor(graph->outputs[0]).name);

  model.graph.initializers.clear();
  model.graph.inputs.push_back(value("cond", {}, DType::boolean));
  EXPECT_TRUE(says(problem(model), "NoSuchOp"));
  EXPECT_TRUE(says(problem(model), "with --branch choice=then it isn't looked at"));
  EXPECT_EQ("", problem(model, ones({.branches = {{"choice", true}}})));
}

/// An If whose condition is an input: then adds, else multiplies matrices and adds.
ModelDef open_choice() {
  GraphDef dear = branch("Relu", "e");
  dear.nodes = {node("MatMul", {"x", "w"}, {"p"}), node("Relu", {"p"}, {"e"})};
  ModelDef model = model_of({node("If", {"cond"}, {"y"},
                                  {graph_attribute("then_branch", branch("Relu", "t")),
                                   graph_attribute("else_branch", dear)})});
  model.graph.nodes[0].name = "choice";
  model.graph.inputs = {value("x", {{2, ""}, {4, ""}}), value("w", {{4, ""}, {4, ""}}),
                        value("cond", {}, DType::boolean)};
  return model;
}

TEST(ControlFlow, TheDearerBranchIsTakenWhereOnlyARunDecides) {
  const ModelDef model = open_choice();
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Strings{"choice/MatMul_0", "choice/Relu_1"}), node_names(*graph));
  EXPECT_TRUE(verify_graph(*graph).ok()) << "what was tried of the other branch is gone";
  ASSERT_EQ(graph->assumed.size(), 1U);
  EXPECT_EQ(graph->assumed[0].branch, kElseBranch);
  EXPECT_FALSE(graph->assumed[0].given);

  const Result<Graph> given = elaborate(model, {.branches = {{"choice", true}}});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(Strings{"choice/Relu_0"}, node_names(*given));
  EXPECT_EQ(given->assumed.at(0).branch, kThenBranch);
  EXPECT_TRUE(given->assumed[0].given);
  EXPECT_TRUE(says(problem(model, {.branches = {{"other", true}}}),
                   "--branch names 'other', but only a run decides branches of choice"));
}

/// An If over an input: one branch splits the 6 columns of x into 2 and 4, the other into 4 and 3.
ModelDef one_that_fits(bool then_fits) {
  const auto split = [](const std::string& prefix, const std::string& sizes) {
    GraphDef body;
    body.nodes = {
        node("Split", {"x", sizes}, {prefix + "a", prefix + "b"}, {{"axis", "", int64_t{1}}})};
    body.outputs = {value(prefix + "a", {})};
    return body;
  };
  ModelDef model =
      model_of({node("If", {"cond"}, {"y"},
                     {graph_attribute("then_branch", split("t", then_fits ? "right" : "wrong")),
                      graph_attribute("else_branch", split("e", then_fits ? "wrong" : "right"))})});
  model.graph.nodes[0].name = "choice";
  model.graph.inputs = {value("x", {{2, ""}, {6, ""}}), value("cond", {}, DType::boolean)};
  model.graph.initializers = {integers("wrong", {2}, {4, 3}), integers("right", {2}, {2, 4})};
  return model;
}

TEST(ControlFlow, ABranchWhoseShapesCannotBeIsntTaken) {
  for (const bool then_fits : {true, false}) {
    const ModelDef model = one_that_fits(then_fits);
    const Result<Graph> graph = elaborate(model, {});
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    EXPECT_TRUE(verify_graph(*graph).ok()) << "what was tried of the other branch is gone";
    EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (Dims{2, 2}));
    ASSERT_EQ(graph->assumed.size(), 1U);
    EXPECT_EQ(graph->assumed[0].branch, then_fits ? kThenBranch : kElseBranch);
    EXPECT_EQ(graph->assumed[0].of, "possible branch");
    EXPECT_TRUE(says(problem(model, {.branches = {{"choice", !then_fits}}}), "Split"))
        << "it is, where it is asked for";
  }
  ModelDef neither = one_that_fits(true);
  neither.graph.initializers[1] = integers("right", {2}, {1, 1});
  EXPECT_TRUE(says(problem(neither, {}), "Split"));
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

TEST(ControlFlow, IsALoopUnrolledAndItsScanOutputStacked) {
  const Result<Graph> graph = elaborate(loop_model(3), ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{2, 1}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_EQ((Dims{3, 2, 1}), graph->tensor(graph->outputs[1]).dims);
  EXPECT_EQ(3, std::ranges::count(graph->nodes, "Add", &Node::op_type));
  EXPECT_TRUE(verify_graph(*graph).ok());
  EXPECT_TRUE(says(problem(loop_model(kMostIterations + 1)), "iterations"));
  const Result<Graph> none = elaborate(loop_model(0), ones());
  ASSERT_TRUE(none.ok()) << none.errors().front().text();
  EXPECT_EQ((Dims{2, 1}), none->tensor(none->outputs[0]).dims) << "the first value passes through";
  EXPECT_EQ((Dims{0}), none->tensor(none->outputs[1]).dims) << "the body declares scalars";
}

TEST(ControlFlow, ALoopOfUnknownTripsRunsAsOftenAsIsAssumed) {
  ModelDef model = loop_model(3);
  model.graph.nodes[0].name = "loop";
  const auto adds = [&](const ElaborateOptions& options) {
    const Result<Graph> graph = elaborate(model, ones(options));
    EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
    return graph ? std::ranges::count(graph->nodes, "Add", &Node::op_type) : -1;
  };
  // A condition that isn't constant: the trip count bounds it.
  model.graph.nodes[0].inputs[1] = "go_in";
  model.graph.inputs.push_back(value("go_in", {}, DType::boolean));
  EXPECT_EQ(adds({}), 3);
  EXPECT_EQ(adds({.sizes = {{"loop", 2}}}), 2);
  EXPECT_TRUE(says(problem(model, ones({.sizes = {{"loop", 4}}})), "of which there are at most 3"));
  // A trip count that isn't known either, or that no run reaches.
  model.graph.initializers.clear();
  model.graph.inputs.push_back(value("trips", {}, DType::int64));
  EXPECT_EQ(adds({}), 1);
  EXPECT_EQ(adds({.sizes = {{"loop", 5}}}), 5);
  model.graph.inputs.pop_back();
  model.graph.initializers.push_back(integers("trips", {}, {std::numeric_limits<int64_t>::max()}));
  EXPECT_EQ(adds({}), 1);
  EXPECT_EQ(adds({.sizes = {{"loop", 0}}}), 0);
  EXPECT_TRUE(says(problem(loop_model(3), ones({.sizes = {{"loop", 1}}})), "has no size"));
}

TEST(ControlFlow, IsAScanUnrolled) {
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

ModelDef scan_of(const std::vector<std::string>& inputs, std::vector<Attribute> more) {
  GraphDef body;
  body.inputs = {value("item", {}), value("other", {})};
  body.nodes = {node("Exp", {"item"}, {"out"})};
  body.outputs = {value("out", {})};
  more.push_back(graph_attribute("body", body));
  ModelDef model = model_of({node("Scan", inputs, {"y"}, std::move(more))});
  model.graph.inputs = {value("x", {{3, ""}, {5, ""}}), value("z", {{3, ""}, {4, ""}})};
  return model;
}

TEST(ControlFlow, AreScansThatDoNotFitRefused) {
  const auto scans = [](int64_t count) { return Attribute{"num_scan_inputs", "", count}; };
  const auto axes = [](std::vector<int64_t> list) {
    return Attribute{"scan_input_axes", "", std::move(list)};
  };
  EXPECT_EQ("", problem(scan_of({"x", "z"}, {scans(2)})));
  EXPECT_TRUE(says(problem(scan_of({"x", "z"}, {scans(2), axes({1, 1})})),
                   "scans 'z' for 4 steps and another input for 5"));
  EXPECT_TRUE(says(problem(scan_of({"x", "z"}, {scans(2), axes({0, 2})})), "axis"));
  EXPECT_TRUE(says(problem(scan_of({"x", "z"}, {scans(3)})), "num_scan_inputs is 3"));
  EXPECT_TRUE(says(problem(scan_of({"x", "z"}, {scans(0)})), "num_scan_inputs is 0"));
  EXPECT_TRUE(says(problem(scan_of({"x"}, {scans(1)})), "its body has 2 inputs"));
  EXPECT_TRUE(says(problem(scan_of({"", "x"}, {scans(2)})), "lacks an input"));
  EXPECT_TRUE(says(
      problem(scan_of({"x", "z"}, {scans(2), {"scan_output_axes", "", std::vector<int64_t>{3}}})),
      "scan axis 3 is outside"));
}

}  // namespace
}  // namespace accsim::sim
