#include "sim/elaborate/sequences.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

Attribute number(const char* name, int64_t value) { return {name, "", value}; }

/// x (float32, 2 x 6) -> SplitToSequence -> `nodes` -> y, with integer constants.
ModelDef split_model(std::vector<NodeDef> nodes, std::vector<Attribute> attributes,
                     std::vector<StoredTensor> constants, const std::string& split = "") {
  nodes.insert(nodes.begin(),
               node("SplitToSequence", {"x", split}, {"parts"}, std::move(attributes)));
  ModelDef model = model_of(std::move(nodes));
  model.graph.inputs = {value("x", {{2, ""}, {6, ""}})};
  model.graph.initializers = std::move(constants);
  return model;
}

Dims output_dims(const ModelDef& model) {
  const Result<Graph> graph = elaborate(model, {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  if (!graph) return {};
  EXPECT_TRUE(verify_graph(*graph).ok());
  EXPECT_EQ(graph->tensor(graph->outputs.at(0)).name, "y");
  return graph->tensor(graph->outputs[0]).dims;
}

TEST(Sequences, ArePartsOfTheSizesThatAreAskedFor) {
  const auto at = [](std::vector<Attribute> attributes, const std::string& split, int64_t position,
                     StoredTensor sizes) {
    return output_dims(split_model({node("SequenceAt", {"parts", "at"}, {"y"})},
                                   std::move(attributes),
                                   {integers("at", {}, {position}), std::move(sizes)}, split));
  };
  const StoredTensor fours = integers("sizes", {}, {4}), listed = integers("sizes", {3}, {1, 2, 3});
  EXPECT_EQ(at({number("axis", 1)}, "sizes", 0, fours), (Dims{2, 4}));
  EXPECT_EQ(at({number("axis", 1)}, "sizes", 1, fours), (Dims{2, 2})) << "what is left";
  EXPECT_EQ(at({number("axis", -1)}, "sizes", -1, listed), (Dims{2, 3}));
  EXPECT_EQ(at({}, "", 1, fours), (Dims{1, 6}));
  EXPECT_EQ(at({number("keepdims", 0)}, "", 1, fours), (Dims{6}));
  EXPECT_EQ(at({number("axis", 1), number("keepdims", 0)}, "sizes", 0, fours), (Dims{2, 4}))
      << "keepdims is for parts without sizes";
}

TEST(Sequences, AreChangedAndJoined) {
  const std::vector<StoredTensor> constants = {integers("first", {}, {0}),
                                               integers("sizes", {2}, {4, 2})};
  const std::vector<Attribute> columns = {number("axis", 1)};
  const auto joined = [&](std::vector<NodeDef> nodes, const std::string& of, Attribute extra) {
    nodes.push_back(node("ConcatFromSequence", {of}, {"y"}, {number("axis", 1), std::move(extra)}));
    return output_dims(split_model(std::move(nodes), columns, constants, "sizes"));
  };
  const Attribute flat = number("new_axis", 0), stacked = number("new_axis", 1);
  EXPECT_EQ(joined({}, "parts", flat), (Dims{2, 6}));
  EXPECT_EQ(joined({node("SequenceInsert", {"parts", "x", "first"}, {"more"})}, "more", flat),
            (Dims{2, 12}));
  EXPECT_EQ(joined({node("SequenceErase", {"parts", "first"}, {"less"})}, "less", flat),
            (Dims{2, 2}));
  EXPECT_EQ(joined({node("SequenceErase", {"parts"}, {"less"})}, "less", flat), (Dims{2, 4}));
  EXPECT_EQ(joined({node("SequenceConstruct", {"x", "x", "x"}, {"made"})}, "made", stacked),
            (Dims{2, 3, 6}));
  EXPECT_EQ(
      joined({node("SequenceEmpty", {}, {"none"}), node("SequenceInsert", {"none", "x"}, {"one"})},
             "one", stacked),
      (Dims{2, 1, 6}));
}

/// Positions below 0 count from the end of the sequence as it is before: parts of 4 and 2 columns
/// have one of 6 between them then.
TEST(Sequences, AreInsertedIntoBeforeTheLast) {
  const std::vector<StoredTensor> constants = {integers("last", {}, {-1}), integers("at", {}, {1}),
                                               integers("sizes", {2}, {4, 2})};
  EXPECT_EQ(output_dims(split_model({node("SequenceInsert", {"parts", "x", "last"}, {"more"}),
                                     node("SequenceAt", {"more", "at"}, {"y"})},
                                    {number("axis", 1)}, constants, "sizes")),
            (Dims{2, 6}));
}

TEST(Sequences, IsTheirLengthAConstant) {
  const ModelDef model = split_model(
      {node("SequenceLength", {"parts"}, {"n"}), node("Unsqueeze", {"n", "axes"}, {"size"}),
       node("Expand", {"x", "size"}, {"y"})},
      {number("axis", 1)}, {integers("axes", {1}, {0})});
  EXPECT_EQ(output_dims(model), (Dims{2, 6})) << "six parts: expanded to 6";
}

TEST(Sequences, WhichMayBeOutputsGiveTheirTensors) {
  ModelDef model = split_model({}, {}, {});
  model.graph.outputs = {value("parts", {})};
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->outputs.size(), 2U);
}

TEST(Sequences, ErrorsNameTheNode) {
  const auto said = [](NodeDef last, std::vector<StoredTensor> constants = {},
                       const std::string& split = "") {
    last.name = "last";
    return problem(split_model({std::move(last)}, {}, std::move(constants), split));
  };
  EXPECT_TRUE(says(said(node("Relu", {"parts"}, {"y"})), "its input 'parts' is a sequence"));
  EXPECT_TRUE(says(said(node("SequenceAt", {"x", "at"}, {"y"}), {integers("at", {}, {0})}),
                   "input 0 isn't a sequence"));
  EXPECT_TRUE(says(said(node("SequenceAt", {"parts", "at"}, {"y"}), {integers("at", {}, {2})}),
                   "position 2 is outside of its 2 tensors"));
  EXPECT_TRUE(says(said(node("SequenceAt", {"parts"}, {"y"})), "'last'"));
  EXPECT_TRUE(says(
      said(node("SequenceLength", {"parts"}, {"y"}), {integers("sizes", {2}, {1, 2})}, "sizes"),
      "its parts don't add up to the 2 along axis 0"));
  EXPECT_TRUE(says(said(node("SequenceLength", {"parts"}, {"y"}), {}, "x"), "aren't constant"));
  EXPECT_TRUE(says(said(node("ConcatFromSequence", {"parts"}, {"y"})), "lacks attribute axis"));
}

/// A body that gives Add(a, b) and Relu(a).
GraphDef map_body() {
  GraphDef body;
  body.inputs = {value("a", {}), value("b", {})};
  body.nodes = {node("Add", {"a", "b"}, {"sum"}), node("Relu", {"a"}, {"clipped"})};
  body.outputs = {value("sum", {}), value("clipped", {})};
  return body;
}

/// Parts of 4 and 2 columns of x, each with `second`, joined again.
ModelDef mapped(const std::string& second, const std::string& joined,
                std::vector<NodeDef> before = {}) {
  std::vector<NodeDef> nodes = std::move(before);
  nodes.push_back(node("SequenceMap", {"parts", second}, {"sums", "clips"},
                       {graph_attribute("body", map_body())}));
  nodes.push_back(node("ConcatFromSequence", {joined}, {"y"}, {number("axis", 1)}));
  return split_model(std::move(nodes), {number("axis", 1)},
                     {integers("sizes", {2}, {4, 2}), integers("one", {}, {1}, DType::float32)},
                     "sizes");
}

TEST(Sequences, AreMappedTensorByTensor) {
  EXPECT_EQ(output_dims(mapped("one", "sums")), (Dims{2, 6})) << "a tensor goes to every call";
  EXPECT_EQ(output_dims(mapped("parts", "clips")), (Dims{2, 6})) << "a sequence one by one";
  const Result<Graph> graph = elaborate(mapped("parts", "sums"), {});
  ASSERT_TRUE(graph.ok());
  const Strings names = node_names(*graph);
  for (const char* name : {"SequenceMap_1/0/Add_0", "SequenceMap_1/1/Add_0"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(Sequences, AreMapsThatDontFitRefused) {
  EXPECT_TRUE(says(problem(mapped("short", "sums", {node("SequenceConstruct", {"x"}, {"short"})})),
                   "its input 1 has 1 tensors where input 0 has 2"));
  ModelDef fewer = mapped("one", "sums");
  fewer.graph.nodes[1].inputs = {"parts"};
  EXPECT_TRUE(says(problem(fewer), "has 1 inputs, but its body has 2"));
  ModelDef bare = mapped("one", "sums");
  bare.graph.nodes[1].attributes.clear();
  EXPECT_TRUE(says(problem(bare), "lacks its body"));
  ModelDef tensor = mapped("one", "sums");
  tensor.graph.nodes[1].inputs[0] = "x";
  EXPECT_TRUE(says(problem(tensor), "its input 0 isn't a sequence of tensors"));
}

}  // namespace
}  // namespace accsim::sim
