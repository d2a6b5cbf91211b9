#include "sim/lower/recurrent_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sim/cost/plain_forms.h"

/// Recurrent operators and their steps: the reference executor makes the same numbers of both, with
/// as many MACs and parameters.
namespace accsim::sim {
namespace {

using test::count_of;
using test::ModelBuilder;
using test::number;
using test::same_in_plain_forms;
using test::word;

struct Case {
  const char* op;
  int64_t gates;
  std::vector<Attribute> attributes = {};
};
const std::vector<Case> kCases = {
    {"LSTM", 4}, {"GRU", 3}, {"GRU", 3, {number("linear_before_reset", 1)}}, {"RNN", 1}};
constexpr int64_t kSteps = 3, kBatch = 2, kInputs = 5, kHidden = 4;

/// `states`: given ones, and all outputs.
ModelBuilder layer(const Case& c, const char* direction, bool bias, bool states) {
  const int64_t directions = direction == std::string("bidirectional") ? 2 : 1;
  ModelBuilder b(14);
  b.input("x", {kSteps, kBatch, kInputs});
  b.weight("w", {directions, c.gates * kHidden, kInputs});
  b.weight("r", {directions, c.gates * kHidden, kHidden});
  b.weight("b", {directions, 2 * c.gates * kHidden});
  std::vector<std::string> inputs{"x", "w", "r", bias ? "b" : "", "", states ? "h" : ""};
  std::vector<std::string> outputs{"y"};
  if (states) {
    b.input("h", {directions, kBatch, kHidden});
    outputs.push_back("last");
  }
  if (states && c.gates == 4) {
    b.weight("c", {directions, kBatch, kHidden});
    inputs.push_back("c");
    outputs.push_back("cells");
  }
  std::vector<Attribute> attributes = c.attributes;
  attributes.push_back(word("direction", direction));
  attributes.push_back(number("hidden_size", kHidden));
  b.node(c.op, inputs, outputs, attributes);
  for (const std::string& out : outputs) b.output(out);
  return b;
}

TEST(RecurrentSteps, ComputeWhatTheLayerDoes) {
  for (const Case& c : kCases)
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (const bool bias : {true, false})
        for (const bool states : {true, false}) {
          SCOPED_TRACE(std::string(c.op) + " " + direction + (bias ? " bias" : "") +
                       (states ? " states" : ""));
          const Graph g = same_in_plain_forms(layer(c, direction, bias, states));
          EXPECT_EQ(count_of(g, c.op), 0);
        }
}

TEST(RecurrentSteps, TakeDefaultsThatAreStated) {
  Case c = kCases[0];
  c.attributes.push_back({"activations", "", std::vector<std::string>{"Sigmoid", "tanh", "Tanh"}});
  EXPECT_EQ(count_of(same_in_plain_forms(layer(c, "forward", true, false)), "LSTM"), 0);
  Case other = kCases[3];
  other.attributes.push_back({"activations", "", std::vector<std::string>{"Relu"}});
  EXPECT_EQ(count_of(same_in_plain_forms(layer(other, "forward", true, false)), "RNN"), 1);
}

TEST(RecurrentSteps, AreLeftWholeWhereFormsDiffer) {
  for (const Attribute& other : {number("input_forget", 1), Attribute{"clip", "", 0.5}}) {
    Case c = kCases[0];
    c.attributes.push_back(other);
    EXPECT_EQ(count_of(same_in_plain_forms(layer(c, "forward", true, false)), "LSTM"), 1);
  }
}

TEST(RecurrentSteps, AreLeftWholeWhereTheyAreMany) {
  for (const int64_t steps : {kMostSteps, kMostSteps + 1}) {
    ModelBuilder b(14);
    b.input("x", {steps, 1, 2}).weight("w", {1, 8, 2}).weight("r", {1, 8, 2});
    b.node("LSTM", {"x", "w", "r"}, {"y"}, {number("hidden_size", 2)}).output("y");
    EXPECT_EQ(count_of(same_in_plain_forms(b), "LSTM"), steps > kMostSteps ? 1 : 0);
  }
}

}  // namespace
}  // namespace accsim::sim
