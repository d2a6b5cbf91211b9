#include "sim/elaborate/fitting_sizes.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(FittingSizes, AreFewTriedHoweverManyAreOpen) {
  std::vector<ValueDef> values;
  std::vector<std::string> open;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "x" + std::to_string(i);
    values.push_back(value(name, {{-1, ""}, {-1, name + "c"}, {-1, name + "h"}, {-1, name + "w"}}));
    for (const char* axis : {"c", "h", "w"}) open.push_back(name + axis);
  }
  InputDefs inputs;
  for (const ValueDef& v : values) inputs.push_back(&v);
  int64_t tried = 0;
  const auto none = [&](const Sizes& sizes) {
    EXPECT_EQ(sizes.size(), open.size()) << "every size is there";
    ++tried;
    return false;
  };
  EXPECT_TRUE(find_sizes({}, inputs, open, {}, none).sizes.empty());
  EXPECT_LE(tried, kMostTries);
  EXPECT_GT(tried, 1);

  tried = 0;
  const auto all = [&](const Sizes&) { return ++tried > 0; };
  const FittingSizes found = find_sizes({}, inputs, open, {}, all);
  EXPECT_EQ(found.pictures, (std::vector<int64_t>{224, 320, 640}));
  EXPECT_LE(tried, 3) << "the first that fits, and two other pictures";
}

/// What is proposed for N of x (T x N x 40) and of the states of two layers, 2 x N x 8.
int64_t proposed_batch(const std::string& op, const Strings& states) {
  GraphDef graph;
  graph.inputs = {value("x", {{-1, "T"}, {-1, "N"}, {40, ""}})};
  NodeDef cell = node(op, {"x", "w", "r", "", ""}, {"y"});
  for (const std::string& name : states) {
    graph.inputs.push_back(value(name, {{2, ""}, {-1, "N"}, {8, ""}}));
    graph.nodes.push_back(node("Slice", {name, "zero", "one"}, {name + "0"}));
    cell.inputs.push_back(name + "0");
  }
  graph.nodes.push_back(cell);
  InputDefs inputs;
  for (const ValueDef& v : graph.inputs) inputs.push_back(&v);
  const FittingSizes found =
      find_sizes(graph, inputs, {"T", "N"}, {}, [](const Sizes&) { return true; });
  return found.sizes.at("N");
}

TEST(FittingSizes, TakeTheMiddleOfAStateForABatch) {
  EXPECT_EQ(1, proposed_batch("LSTM", {"h", "c"}));
  EXPECT_EQ(1, proposed_batch("GRU", {"h"}));
  EXPECT_EQ(1, proposed_batch("RNN", {"h"}));
}

}  // namespace
}  // namespace accsim::sim
