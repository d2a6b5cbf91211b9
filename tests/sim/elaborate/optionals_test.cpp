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
  EXPECT_TRUE(verify(*graph).ok());
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
  EXPECT_TRUE(verify(*graph).ok());
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

}  // namespace
}  // namespace accsim::sim
