#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/ref/executor.h"
#include "tests/support/models.h"

/// Patterns of nodes say what they are: what the reference executor makes of the nodes is what the
/// formula makes of the layer's inputs.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr int64_t kLength = 24, kElements = 3 * 4 * kLength;
constexpr double kEpsilon = 0.01, kFactor = 5;

using Values = std::vector<double>;

/// All tensors that nodes read or write, by name.
std::map<std::string, Values> values_of(const Graph& graph) {
  std::map<std::string, Values> out;
  const auto take = [&](TensorId id, const ref::Array& a) {
    if (id == kNoTensor || !is_float(graph.tensor(id).dtype)) return;
    out[graph.tensor(id).name] = a.reals();
  };
  ref::Arrays inputs;
  for (const TensorId id : graph.inputs)
    inputs[graph.tensor(id).name] = ref::random_input(graph, id, 7);
  ref::RunOptions options;
  options.weight_seed = 3;
  options.observe = [&](const ref::NodeRun& run) {
    const Node& node = graph.nodes[static_cast<size_t>(run.node)];
    for (size_t i = 0; i < node.inputs.size(); ++i) take(node.inputs[i], run.inputs[i]);
    for (size_t i = 0; i < node.outputs.size(); ++i) take(node.outputs[i], run.outputs[i]);
    return ok();
  };
  const auto result = ref::run_graph(graph, inputs, options);
  EXPECT_TRUE(result.ok()) << result.errors().front().text();
  return out;
}

/// The layer's rows by its kind's definition, from what it reads: x, mask, gain, shift, in order.
Values by_definition(const RowWork& w, const std::vector<Values>& in) {
  Values out = in[0];
  const auto length = static_cast<size_t>(w.run);
  const double n = static_cast<double>(w.run);
  for (size_t row = 0; row < out.size(); row += length) {
    double* x = out.data() + row;
    if (w.kind == RowKind::softmax) {
      for (size_t i = 0; i < length; ++i) x[i] = std::exp(x[i] / kFactor + in[1][i]);
      double sum = 0;
      for (size_t i = 0; i < length; ++i) sum += x[i];
      for (size_t i = 0; i < length; ++i) x[i] /= sum;
      continue;
    }
    double mean = 0, squares = 0;
    if (w.kind == RowKind::layer_norm)
      for (size_t i = 0; i < length; ++i) mean += x[i] / n;
    for (size_t i = 0; i < length; ++i) squares += (x[i] - mean) * (x[i] - mean) / n;
    for (size_t i = 0; i < length; ++i) {
      x[i] = (x[i] - mean) / std::sqrt(squares + kEpsilon) * in[1][i];
      if (in.size() > 2) x[i] += in[2][i];
    }
  }
  return out;
}

/// The network is one layer of rows, and its output is what that layer's formula gives.
void expect_values(const ModelBuilder& b, RowKind kind) {
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto lowered = lower_in_memory(*graph);
  ASSERT_TRUE(lowered.ok());
  std::map<std::string, Values> values = values_of(*graph);
  int layers = 0;
  for (const Layer& l : lowered->layers) {
    if (l.work.empty()) continue;
    ++layers;
    const auto& work = std::get<VectorOp>(l.work.at(0)).row_work;
    ASSERT_TRUE(work.has_value());
    ASSERT_EQ(work->kind, kind);
    std::vector<Values> in;
    for (const TensorId id : l.inputs) in.push_back(values.at(graph->tensor(id).name));
    const Values want = by_definition(*work, in), got = values.at("y");
    ASSERT_EQ(std::ssize(got), kElements);
    // Below 30 in size, of some 40 roundings in float: 30 * 40 * 2^-24 is less than 1e-4.
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4);
  }
  EXPECT_EQ(layers, 1);
}

ModelBuilder values_network() {
  ModelBuilder b;
  b.input("x", {3, 4, kLength}).weight("gain", {kLength}).weight("shift", {kLength});
  const auto constant = [&](const std::string& name, double value) {
    b.node("Constant", {}, {name}, {Attribute{"value_float", "", value}});
  };
  constant("two", 2);
  constant("one", 1);
  constant("eps", kEpsilon);
  constant("factor", kFactor);
  return b;
}

void add_normal_of(ModelBuilder& b, const std::string& of, bool one_over) {
  b.node("Pow", {of, "two"}, {"square"})
      .node("ReduceMean", {"square"}, {"spread"}, {ModelBuilder::ints("axes", {-1})})
      .node("Add", {"spread", "eps"}, {"sum"})
      .node("Sqrt", {"sum"}, {"root"});
  if (one_over)
    b.node("Div", {"one", "root"}, {"inverse"}).node("Mul", {of, "inverse"}, {"normal"});
  else
    b.node("Div", {of, "root"}, {"normal"});
}

TEST(PatternValues, IsALayerNormOne) {
  for (const bool one_over : {false, true}) {
    ModelBuilder b = values_network();
    b.node("ReduceMean", {"x"}, {"mean"}, {ModelBuilder::ints("axes", {-1})})
        .node("Sub", {"x", "mean"}, {"centred"});
    add_normal_of(b, "centred", one_over);
    b.node("Mul", {"normal", "gain"}, {"gained"}).node("Add", {"gained", "shift"}, {"y"});
    expect_values(b.output("y"), RowKind::layer_norm);
  }
}

TEST(PatternValues, IsAnRmsNormOne) {
  for (const bool one_over : {false, true}) {
    ModelBuilder b = values_network();
    add_normal_of(b, "x", one_over);
    b.node("Mul", {"gain", "normal"}, {"y"});
    expect_values(b.output("y"), RowKind::rms_norm);
  }
}

TEST(PatternValues, IsAMaskedSoftmaxOne) {
  ModelBuilder b = values_network();
  b.input("mask", {kLength});
  b.node("Div", {"x", "factor"}, {"scaled"})
      .node("Add", {"scaled", "mask"}, {"masked"})
      .node("Softmax", {"masked"}, {"y"});
  expect_values(b.output("y"), RowKind::softmax);
}

/// Of a layer that turns an input: each second piece negated in the place of the one before it, and
/// that one in its place, times what is broadcast along the first axes.
Values turned_by_definition(const Layer& l, const Values& x, const Values& factor) {
  Values out;
  const auto piece = static_cast<size_t>(l.turned->piece);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool first = i / piece % 2 == 0;
    out.push_back((first ? -x[i + piece] : x[i - piece]) * factor[i % factor.size()]);
  }
  return out;
}

void add_halves(ModelBuilder& b) {
  const Attribute axis{"axis", "", int64_t{-1}};
  b.node("Split", {"x"}, {"low", "high"}, {axis})
      .node("Neg", {"high"}, {"minus"})
      .node("Concat", {"minus", "low"}, {"turned"}, {axis});
}

void add_neighbours(ModelBuilder& b) {
  b.constant("zero", {1}, {0}).constant("last", {1}, {-1}).constant("step", {1}, {2});
  b.constant("unit", {1}, {1}).constant("end", {1}, {kLength});
  b.constant("columns", {4}, {3, 4, kLength / 2, 1}).constant("rows", {3}, {3, 4, kLength});
  b.node("Slice", {"x", "zero", "end", "last", "step"}, {"even"})
      .node("Slice", {"x", "unit", "end", "last", "step"}, {"odd"})
      .node("Neg", {"odd"}, {"minus"})
      .node("Reshape", {"minus", "columns"}, {"minus_column"})
      .node("Reshape", {"even", "columns"}, {"even_column"})
      .node("Concat", {"minus_column", "even_column"}, {"pairs"}, {{"axis", "", int64_t{-1}}})
      .node("Reshape", {"pairs", "rows"}, {"turned"});
}

/// Of a rotary embedding what is turned is a part of a product, and its sum with the other product
/// is what the nodes give.
TEST(PatternValues, IsARotaryEmbeddingTwoProductsAndASum) {
  for (const bool halves : {true, false}) {
    ModelBuilder b = values_network();
    b.input("cos", {4, kLength}).input("sin", {4, kLength});
    halves ? add_halves(b) : add_neighbours(b);
    b.node("Mul", {"x", "cos"}, {"of_cos"})
        .node("Mul", {"turned", "sin"}, {"of_sin"})
        .node("Add", {"of_cos", "of_sin"}, {"y"});
    const auto graph = elaborate(b.output("y").model(), {});
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    const auto lowered = lower_in_memory(*graph);
    ASSERT_TRUE(lowered.ok());
    std::map<std::string, Values> values = values_of(*graph);
    int layers = 0, turned = 0;
    for (const Layer& l : lowered->layers) {
      if (l.work.empty()) continue;
      ++layers;
      EXPECT_TRUE(std::get<VectorOp>(l.work.at(0)).lane.has_value());
      if (!l.turned) continue;
      ++turned;
      const Values want = turned_by_definition(l, values.at("x"), values.at("sin"));
      const Values& got = values.at("of_sin");
      ASSERT_EQ(std::ssize(got), kElements);
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], static_cast<double>(static_cast<float>(want[i]))) << "one rounding";
    }
    EXPECT_EQ(layers, 3);
    EXPECT_EQ(turned, 1);
  }
}

}  // namespace
}  // namespace accsim::sim
