#include "sim/elaborate/optionals.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

/// x is 2 x 3; the graph's output is y.
ModelDef optional_model(std::vector<NodeDef> nodes) {
  ModelDef model = model_of(std::move(nodes), 18);
  model.graph.inputs = {value("x", {{2, ""}, {3, ""}})};
  return model;
}

/// The answer of an OptionalHasElement that gives y.
std::optional<int64_t> answer(std::vector<NodeDef> nodes) {
  const Result<Graph> graph = elaborate(optional_model(std::move(nodes)), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  if (!graph) return std::nullopt;
  EXPECT_TRUE(verify_graph(*graph).ok());
  const Tensor& y = graph->tensor(graph->outputs.at(0));
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.dtype, DType::boolean);
  EXPECT_TRUE(y.dims.empty());
  return y.value ? std::optional(y.value->integers().front()) : std::nullopt;
}

/// The attribute `type` of an Optional without an element; import doesn't read what it says.
std::vector<Attribute> some_type() { return {{"type", "", std::monostate()}}; }

TEST(Optionals, AreWhatIsInThem) {
  const Result<Graph> graph = elaborate(
      optional_model({node("Optional", {"x"}, {"o"}), node("OptionalGetElement", {"o"}, {"e"}),
                      node("Relu", {"e"}, {"y"})}),
      {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_TRUE(verify_graph(*graph).ok());
  EXPECT_EQ(graph->tensor(graph->outputs.at(0)).dims, (Dims{2, 3}));
  EXPECT_EQ(1, answer({node("Optional", {"x"}, {"o"}), node("OptionalHasElement", {"o"}, {"y"})}));
  EXPECT_EQ(1, answer({node("OptionalHasElement", {"x"}, {"y"})})) << "a tensor, since opset 18";
}

TEST(Optionals, MayBeEmpty) {
  EXPECT_EQ(0, answer({node("Optional", {}, {"o"}, some_type()),
                       node("OptionalHasElement", {"o"}, {"y"})}));
  EXPECT_EQ(0, answer({node("OptionalHasElement", {}, {"y"})}));
  EXPECT_TRUE(says(problem(optional_model({node("Optional", {}, {"o"}, some_type()),
                                           node("OptionalGetElement", {"o"}, {"y"})})),
                   "its optional is empty"));
  EXPECT_TRUE(says(problem(optional_model({node("Optional", {}, {"y"})})),
                   "has neither an element nor a type"));
  const Result<Graph> given =
      elaborate(optional_model({node("Optional", {}, {"y"}, some_type())}), {});
  ASSERT_TRUE(given.ok()) << given.errors().front().text();
  EXPECT_TRUE(given->outputs.empty());
}

TEST(Optionals, MayHoldSequences) {
  ModelDef model = optional_model(
      {node("SequenceConstruct", {"x", "x"}, {"s"}), node("Optional", {"s"}, {"o"}),
       node("OptionalHasElement", {"o"}, {"h"}), node("OptionalGetElement", {"o"}, {"t"}),
       node("ConcatFromSequence", {"t"}, {"y"}, {{"axis", "", int64_t{0}}})});
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->outputs.at(0)).dims, (Dims{4, 3}));
}

/// `model` with an input `o` that is an optional of 2 x 3, or of a sequence of such.
ModelDef with_optional(ModelDef model, bool sequence = false) {
  ValueDef o = value("o", {{2, ""}, {3, ""}});
  o.is_optional = true;
  o.is_sequence = sequence;
  o.is_tensor = !sequence;
  model.graph.inputs.push_back(o);
  return model;
}

GraphDef giving(const std::string& op, const std::string& of) {
  GraphDef graph;
  graph.nodes = {node(op, {of}, {"r"})};
  graph.outputs = {value("r", {})};
  return graph;
}

/// y is made of o where it is there, else of x.
ModelDef either() {
  return with_optional(
      optional_model({node("OptionalHasElement", {"o"}, {"h"}),
                      node("If", {"h"}, {"y"},
                           {graph_attribute("then_branch", giving("OptionalGetElement", "o")),
                            graph_attribute("else_branch", giving("Relu", "x"))})}));
}

TEST(Optionals, MayBeInputs) {
  const Result<Graph> given = elaborate(either(), {});
  ASSERT_TRUE(given.ok()) << given.errors().front().text();
  EXPECT_TRUE(verify_graph(*given).ok());
  ASSERT_EQ(given->inputs.size(), 2u);
  EXPECT_EQ(given->tensor(given->inputs[1]).name, "o");
  ASSERT_EQ(given->assumed.size(), 1u);
  EXPECT_EQ(given->assumed[0].node, "o");
  EXPECT_EQ(given->assumed[0].size, 1);
  EXPECT_TRUE(given->assumed[0].input);
  EXPECT_FALSE(given->assumed[0].given);

  ElaborateOptions options;
  options.sizes["o"] = 0;
  const Result<Graph> left_out = elaborate(either(), options);
  ASSERT_TRUE(left_out.ok()) << left_out.errors().front().text();
  EXPECT_EQ(left_out->inputs.size(), 1u);
  EXPECT_EQ(left_out->nodes.back().op_type, "Relu");
  options.sizes["o"] = 2;
  EXPECT_TRUE(says(problem(either(), options), "at most 1"));
}

TEST(Optionals, AreHandedOnByIdentityAndBodies) {
  const ModelDef model = with_optional(
      optional_model({node("Identity", {"o"}, {"i"}), node("Identity", {"yes"}, {"c"}),
                      node("If", {"c"}, {"b"},
                           {graph_attribute("then_branch", giving("Identity", "i")),
                            graph_attribute("else_branch", giving("Identity", "i"))}),
                      node("OptionalHasElement", {"b"}, {"y"})}));
  for (const int64_t there : {0, 1}) {
    ModelDef asked = model;
    asked.graph.initializers = {integers("yes", {}, {1}, DType::boolean)};
    ElaborateOptions options;
    options.sizes["o"] = there;
    const Result<Graph> graph = elaborate(asked, options);
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    EXPECT_TRUE(verify_graph(*graph).ok());
    const ConstPtr& y = graph->tensor(graph->outputs.at(0)).value;
    ASSERT_NE(y, nullptr);
    EXPECT_EQ(y->integers().front(), there);
  }
}

TEST(Optionals, OfSequencesAreInputsToo) {
  const ModelDef model = with_optional(
      optional_model({node("OptionalGetElement", {"o"}, {"s"}),
                      node("ConcatFromSequence", {"s"}, {"y"}, {{"axis", "", int64_t{0}}})}),
      true);
  ElaborateOptions options;
  options.sizes["o"] = 3;
  const Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->inputs.size(), 4u);
  EXPECT_EQ(graph->tensor(graph->inputs[3]).name, "o/2");
  EXPECT_EQ(graph->tensor(graph->outputs.at(0)).dims, (Dims{6, 3}));
  options.sizes["o"] = 0;
  EXPECT_TRUE(says(problem(model, options), "its optional is empty"));
  options.sizes["o"] = int64_t{1} << 40;
  EXPECT_TRUE(says(problem(model, options), "at most 4096"));
}

/// A Loop may carry an optional that is empty at first.
TEST(Optionals, MayBeCarried) {
  GraphDef body;
  body.inputs = {value("n", {}, DType::int64), value("go", {}, DType::boolean), value("v", {})};
  body.nodes = {node("Identity", {"go"}, {"on"}), node("Identity", {"x"}, {"next"})};
  body.outputs = {value("on", {}, DType::boolean), value("next", {})};
  ModelDef model = with_optional(optional_model(
      {node("Loop", {"two", "", "o"}, {"y"}, {graph_attribute("body", std::move(body))})}));
  model.graph.initializers = {integers("two", {}, {2})};
  ElaborateOptions options;
  options.sizes["o"] = 0;
  const Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->outputs.at(0)).dims, (Dims{2, 3}));
}

}  // namespace
}  // namespace accsim::sim
