#include "sim/elaborate/symbols.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(Symbols, WhatDoSymbolsBecome) {
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

TEST(Symbols, FollowFromOthersByTheirNames) {
  const auto becomes = [](const std::string& name, int64_t n) {
    ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
    model.graph.inputs.push_back(value("mask", {{-1, name}}));
    const auto graph = elaborate(model, {.bindings = {{"n", n}}});
    EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
    return graph ? graph->tensor(graph->inputs[1]).dims[0] : -1;
  };
  EXPECT_EQ(becomes("n - 2", 7), 5);
  EXPECT_EQ(becomes("3*n + 1", 7), 22);
  EXPECT_EQ(becomes("n // 2", 7), 3);
  EXPECT_EQ(becomes("2 * n / 4 * 3", 6), 9);
  EXPECT_EQ(becomes("n + n - 1 * n", 6), 6);
  // What follows from nothing is 1, as any other symbol.
  for (const char* name : {"n /", "n / 0", "n + m", "n ++ 1", "n % 2", "9223372036854775807 * n",
                           "9223372036854775807 + n", "batch"})
    EXPECT_EQ(becomes(name, 6), 1) << name;
}

TEST(Symbols, AreWrongBindingsRefused) {
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

TEST(Symbols, DoesAnInputWithoutShapeNeedOne) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.graph.inputs[0].dims.reset();
  EXPECT_TRUE(says(problem(model), "--input-shape x=1x"));
  ElaborateOptions options;
  options.input_shapes["x"] = {3, 4};
  EXPECT_EQ("", problem(model, options));
}

/// The first 8 columns of x twice, and a mask of m x 8 added: it needs an n of 4 or more, any m.
ModelDef needs_a_size() {
  ModelDef model = model_of({node("Concat", {"x", "x"}, {"c"}, {{"axis", "", int64_t{1}}}),
                             node("Slice", {"c", "zero", "eight", "one"}, {"s"}),
                             node("Add", {"s", "mask"}, {"y"})});
  model.graph.initializers = {integers("zero", {1}, {0}), integers("eight", {1}, {8}),
                              integers("one", {1}, {1})};
  model.graph.inputs.push_back(value("mask", {{-1, "m"}, {8, ""}}));
  return model;
}

TEST(Unbound, AreSizesThatWouldFitNamedWithAnErrorOfShapes) {
  const ModelDef model = needs_a_size();
  const std::string text = problem(model);
  EXPECT_TRUE(says(text, "m, n weren't bound and count as 1: with --bind n=224 the shapes fit"))
      << text;
  ElaborateOptions options;
  options.bindings["n"] = 224;
  EXPECT_EQ("", problem(model, options));
  options.bindings = {{"n", 1}};
  EXPECT_TRUE(says(problem(model, options), "m wasn't bound and counts as 1: give the sizes with"));
  options.bindings = {{"n", 1}, {"m", 1}};
  EXPECT_FALSE(says(problem(model, options), "bound"));
}

}  // namespace
}  // namespace accsim::sim
