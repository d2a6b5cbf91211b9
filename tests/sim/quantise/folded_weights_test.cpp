#include "sim/quantise/folded_weights.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/elaborate/elaborate.h"
#include "sim/ref/executor.h"
#include "tests/support/models.h"

/// What is folded into a product: with its folded weights and bias the product is what the
/// reference executor makes of all nodes.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr size_t kOutputs = 6, kChannels = 4, kTaps = 9;

using Arrays = std::map<TensorId, ref::Array>;

/// Every tensor that nodes read or write.
Arrays run_all(const Graph& graph) {
  Arrays out;
  ref::Arrays inputs;
  for (const TensorId id : graph.inputs)
    inputs[graph.tensor(id).name] = ref::random_input(graph, id, 7);
  ref::RunOptions options;
  options.weight_seed = 3;
  options.observe = [&](const ref::NodeRun& run) {
    const Node& node = graph.nodes[static_cast<size_t>(run.node)];
    for (size_t i = 0; i < node.inputs.size(); ++i) out[node.inputs[i]] = run.inputs[i];
    for (size_t i = 0; i < node.outputs.size(); ++i) out[node.outputs[i]] = run.outputs[i];
    return ok();
  };
  const auto result = ref::run_graph(graph, inputs, options);
  EXPECT_TRUE(result.ok()) << result.errors().front().text();
  return out;
}

/// The network is one product, of one pixel or row, whose sums are those of all its nodes.
void expect_folded(const ModelBuilder& b) {
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto lowered = lower(*graph);
  ASSERT_TRUE(lowered.ok());
  for (size_t i = 1; i < lowered->layers.size(); ++i)
    EXPECT_EQ(lowered->layers[i].fate, Fate::folded) << lowered->layers[i].name;
  const Layer& l = lowered->layers[0];
  const auto& op = std::get<GemmOp>(l.work.at(0));
  EXPECT_GE(op.bias_port, 0);
  const Arrays arrays = run_all(*graph);
  const Constants constants = [&](TensorId id) -> Result<ref::Array> { return arrays.at(id); };
  const auto folded = folded_weights({*graph, *lowered, 0, op}, arrays.at(l.inputs[1]), constants);
  ASSERT_TRUE(folded.ok());
  const std::vector<double> x = arrays.at(l.inputs[0]).reals();
  const std::vector<double> y = arrays.at(l.outputs[0]).reals();
  const auto taps = static_cast<size_t>(op.k() / op.channels);
  const auto channels = static_cast<size_t>(op.channels), outputs = static_cast<size_t>(op.outputs);
  ASSERT_EQ(y.size(), kOutputs);
  for (size_t o = 0; o < kOutputs; ++o) {
    const size_t g = o / outputs;
    double sum = folded->bias.at(o);
    for (size_t t = 0; t < taps; ++t)
      for (size_t c = 0; c < channels; ++c)
        sum += x.at((g * channels + c) * taps + t) *
               folded->w.at(((g * taps + t) * channels + c) * outputs + o % outputs);
    EXPECT_NEAR(sum, y[o], 1e-4 * (1 + std::abs(y[o]))) << "output channel " << o;
  }
}

/// A convolution of all that there is, with a bias: its result is named c.
ModelBuilder convolution(int64_t groups) {
  ModelBuilder b;
  b.input("x", {1, kChannels, 3, 3})
      .weight("w", {kOutputs, static_cast<int64_t>(kChannels) / groups, 3, 3})
      .weight("b", {kOutputs})
      .weight("g", {kOutputs, 1, 1})
      .weight("h", {1, kOutputs, 1, 1})
      .node("Conv", {"x", "w", "b"}, {"c"}, {Attribute{"group", "", groups}});
  return b;
}

/// A matrix product: its result is named c.
ModelBuilder matrix_product_of_row() {
  ModelBuilder b;
  b.input("x", {1, kChannels * kTaps})
      .weight("w", {kChannels * kTaps, kOutputs})
      .weight("g", {kOutputs})
      .weight("h", {1, kOutputs})
      .node("MatMul", {"x", "w"}, {"c"});
  return b;
}

TEST(FoldedWeights, TakeFactorsAndSumsOfChannels) {
  for (const bool convolves : {true, false})
    for (const char* op : {"Mul", "Div", "Sub", "Add"}) {
      SCOPED_TRACE(op);
      ModelBuilder b = convolves ? convolution(1) : matrix_product_of_row();
      expect_folded(b.node(op, {"c", "g"}, {"s"}).node("Add", {"h", "s"}, {"y"}).output("y"));
    }
}

TEST(FoldedWeights, TakeADifferenceFromAConstant) {
  for (const int64_t groups : {1, 2}) {
    ModelBuilder b = convolution(groups);
    b.node("Sub", {"g", "c"}, {"s"}).node("Mul", {"h", "s"}, {"m"});
    expect_folded(b.node("Sub", {"m", "g"}, {"y"}).output("y"));
  }
}

TEST(FoldedWeights, TakeANormalisationBetweenThem) {
  ModelBuilder b = convolution(2);
  for (const char* name : {"gain", "shift", "mean", "var"}) b.weight(name, {kOutputs});
  b.node("Mul", {"c", "h"}, {"m"})
      .node("BatchNormalization", {"m", "gain", "shift", "mean", "var"}, {"n"})
      .node("Add", {"n", "g"}, {"y"});
  expect_folded(b.output("y"));
}

}  // namespace
}  // namespace accsim::sim
