#include "sim/lower/lower.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

struct Result2 {
  Graph graph;
  Lowered lowered;
};

Result2 lowered(const ModelBuilder& b, bool allow_unsupported = false) {
  ElaborateOptions options;
  options.allow_unsupported = allow_unsupported;
  auto graph = elaborate(b.model(), options);
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  auto low = lower(*graph);
  EXPECT_TRUE(low.ok()) << low.errors().front().text();
  return {std::move(*graph), std::move(*low)};
}

const Layer& layer(const Lowered& l, const std::string& name) {
  for (const Layer& each : l.layers)
    if (each.name == name) return each;
  throw std::logic_error("no layer " + name);
}

ModelBuilder conv_bn_relu(bool second_reader) {
  ModelBuilder b;
  b.input("x", {1, 8, 10, 10}).weight("w", {16, 8, 3, 3});
  for (const char* name : {"scale", "shift", "mean", "var"}) b.weight(name, {16});
  b.node("Conv", {"x", "w"}, {"conv"})
      .node("BatchNormalization", {"conv", "scale", "shift", "mean", "var"}, {"bn"})
      .node("Relu", {"bn"}, {"relu"})
      .output("relu");
  if (second_reader) b.node("Neg", {"conv"}, {"neg"}).output("neg");
  return b;
}

TEST(Lower, FoldsBatchNormAndReluIntoTheirConvolution) {
  const auto [graph, l] = lowered(conv_bn_relu(false));
  const Layer& conv = layer(l, "conv");
  EXPECT_EQ(conv.fate, Fate::gemm);
  EXPECT_TRUE(conv.relu);
  EXPECT_EQ(graph.tensor(conv.outputs[0]).name, "relu");
  EXPECT_GE(std::get<GemmOp>(conv.work[0]).bias_port, 0) << "the shift becomes a bias";
  for (const char* name : {"bn", "relu"}) {
    EXPECT_EQ(layer(l, name).fate, Fate::folded);
    EXPECT_EQ(layer(l, name).merged_into, 0);
  }
  EXPECT_EQ(conv.macs, 16 * 8 * 8 * 8 * 9);
}

/// A convolution to 16 channels, named conv, and constants for behind it.
ModelBuilder conv_and_constants() {
  ModelBuilder b;
  b.input("x", {1, 16, 10, 10}).weight("w", {16, 16, 3, 3}).weight("bias", {16});
  b.weight("g", {16, 1, 1}).weight("h", {1, 16, 1, 1}).weight("lines", {10, 1});
  b.node("Conv", {"x", "w", "bias"}, {"conv"}, {ModelBuilder::ints("pads", {1, 1, 1, 1})});
  return b;
}

TEST(Lower, FoldsWhatIsAffinePerChannelIntoAConvolutionWithABias) {
  for (const char* op : {"Mul", "Div", "Sub", "Add"}) {
    ModelBuilder b = conv_and_constants();
    b.node(op, {"conv", "g"}, {"first"}).node("Sub", {"h", "first"}, {"second"});
    const auto [graph, l] = lowered(b.node("Relu", {"second"}, {"relu"}).output("relu"));
    EXPECT_TRUE(layer(l, "conv").relu) << op;
    for (const char* name : {"first", "second", "relu"}) {
      EXPECT_EQ(layer(l, name).fate, Fate::folded) << op << " " << name;
      EXPECT_EQ(layer(l, name).merged_into, 0) << op << " " << name;
    }
  }
}

TEST(Lower, FoldsALayerScaleBeforeAResidual) {
  ModelBuilder b = conv_and_constants();
  b.node("Mul", {"conv", "g"}, {"scaled"}).node("Add", {"scaled", "x"}, {"sum"});
  const auto [graph, l] = lowered(b.output("sum"));
  EXPECT_EQ(layer(l, "scaled").fate, Fate::folded);
  EXPECT_EQ(layer(l, "sum").fate, Fate::folded);
  EXPECT_TRUE(layer(l, "conv").residual.is_of_node());
}

TEST(Lower, KeepsWhatIsNotAffinePerChannel) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> nodes = {
      {"Div", {"g", "conv"}},      // a reciprocal
      {"Mul", {"conv", "lines"}},  // one a line
      {"Pow", {"conv", "g"}},
      {"Mul", {"conv", "x"}}};
  for (const auto& [op, inputs] : nodes) {
    ModelBuilder b = conv_and_constants();
    const auto [graph, l] = lowered(b.node(op, inputs, {"y"}).output("y"));
    EXPECT_EQ(layer(l, "y").fate, Fate::vector) << op;
  }
}

TEST(Lower, KeepsAFactorBehindAnActivation) {
  ModelBuilder b = conv_and_constants();
  b.node("Relu", {"conv"}, {"relu"}).node("Mul", {"relu", "g"}, {"y"}).output("y");
  const auto [graph, l] = lowered(b);
  EXPECT_EQ(layer(l, "y").fate, Fate::vector);
}

TEST(Lower, KeepsWhatAnotherNodeReads) {
  const auto [graph, l] = lowered(conv_bn_relu(true));
  EXPECT_FALSE(layer(l, "conv").relu);
  EXPECT_EQ(layer(l, "bn").merged_into, -1);
  EXPECT_TRUE(layer(l, "bn").relu);
  EXPECT_EQ(layer(l, "relu").fate, Fate::folded) << "into the BatchNormalization's product";
  EXPECT_EQ(layer(l, "relu").merged_into, 1);
}

/// Of constants it is a product with a diagonal matrix, pixel by pixel.
TEST(Lower, ABatchNormAloneIsAProductOfEachChannel) {
  for (const Dims& dims : {Dims{4, 6}, Dims{2, 6, 5}, Dims{2, 6, 5, 7}, Dims{1, 6, 3, 5, 7}}) {
    ModelBuilder b;
    b.input("x", dims).input("y", {6});
    for (const char* name : {"scale", "shift", "mean", "var"}) b.weight(name, {6});
    b.node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"alone"})
        .node("Sigmoid", {"alone"}, {"r"})
        .output("r")
        .node("BatchNormalization", {"x", "y", "shift", "mean", "var"}, {"computed"})
        .output("computed");
    const auto [graph, l] = lowered(b);
    const Layer& alone = layer(l, "alone");
    ASSERT_EQ(alone.fate, Fate::gemm);
    const auto& op = std::get<GemmOp>(alone.work.at(0));
    EXPECT_TRUE(op.grouped);
    EXPECT_EQ(op.batch, 6);
    EXPECT_EQ(op.k() * op.outputs, 1);
    EXPECT_EQ(op.batch * op.m(), elements(dims));
    EXPECT_EQ(op.in, op.out);
    EXPECT_EQ(macs_of(alone.work), elements(dims));
    EXPECT_EQ(alone.macs, 0) << "it is no product of the network's";
    EXPECT_FALSE(alone.function.empty()) << "what follows is the post unit's";
    EXPECT_EQ(layer(l, "computed").fate, Fate::vector) << "its gain isn't known off line";
  }
}

/// Two branches from x; their products are added, and the sum goes through a Relu.
ModelBuilder residual_block() {
  ModelBuilder b;
  b.input("x", {1, 8, 10, 10}).weight("w", {8, 8, 3, 3}).weight("v", {8, 8, 1, 1});
  b.node("Conv", {"x", "w"}, {"main"}, {ModelBuilder::ints("pads", {1, 1, 1, 1})})
      .node("Conv", {"x", "v"}, {"short"})
      .node("Add", {"main", "short"}, {"sum"})
      .node("Relu", {"sum"}, {"relu"})
      .output("relu");
  return b;
}

TEST(Lower, ASumIsPartOfTheLaterProduct) {
  const auto [graph, l] = lowered(residual_block());
  const Layer& first = layer(l, "main");
  const Layer& later = layer(l, "short");
  EXPECT_TRUE(first.residual.is_none());
  ASSERT_EQ(later.residual, 2) << "behind the node's own inputs";
  EXPECT_EQ(graph.tensor(later.inputs[2]).name, "main");
  EXPECT_EQ(graph.tensor(later.outputs[0]).name, "relu");
  EXPECT_FALSE(later.relu);
  EXPECT_TRUE(later.clips_sum);
  for (const char* name : {"sum", "relu"}) {
    EXPECT_EQ(layer(l, name).fate, Fate::folded);
    EXPECT_EQ(layer(l, name).merged_into, 1);
  }
}

TEST(Lower, AClipBeforeASumStaysBeforeIt) {
  ModelBuilder b;
  b.input("x", {4, 8}).input("r", {4, 8}).weight("w", {8, 8});
  b.node("MatMul", {"x", "w"}, {"y"})
      .node("Relu", {"y"}, {"clipped"})
      .node("Add", {"r", "clipped"}, {"sum"})
      .output("sum");
  const auto [graph, l] = lowered(b);
  EXPECT_TRUE(layer(l, "y").relu);
  EXPECT_FALSE(layer(l, "y").clips_sum);
  EXPECT_EQ(graph.tensor(layer(l, "y").inputs[2]).name, "r");
}

TEST(Lower, KeepsSumsThatThePostUnitCannotMake) {
  const auto sum = [](const Dims& other, bool later, bool read_twice) {
    ModelBuilder b;
    b.input("x", {4, 8}).input("r", other).weight("w", {8, 8});
    b.node("MatMul", {"x", "w"}, {"y"});
    if (later) b.node("Exp", {"r"}, {"late"});
    b.node("Add", {"y", later ? "late" : "r"}, {"sum"}).output("sum");
    if (read_twice) b.node("Neg", {"y"}, {"neg"}).output("neg");
    const auto result = lowered(b);
    return layer(result.lowered, "sum").fate;
  };
  EXPECT_EQ(sum({4, 8}, false, false), Fate::folded);
  EXPECT_EQ(sum({1, 8}, false, false), Fate::vector) << "broadcast";
  EXPECT_EQ(sum({4, 8}, true, false), Fate::vector) << "made behind the product";
  EXPECT_EQ(sum({4, 8}, false, true), Fate::vector) << "its product is read by another";
  ModelBuilder twice;
  twice.input("x", {4, 8}).weight("w", {8, 8});
  twice.node("MatMul", {"x", "w"}, {"y"}).node("Add", {"y", "y"}, {"sum"}).output("sum");
  const auto doubled = lowered(twice);
  EXPECT_TRUE(layer(doubled.lowered, "y").residual.is_none()) << "of a product with itself";
  EXPECT_EQ(layer(doubled.lowered, "y").function.nodes.size(), 1U) << "but a function of it";
}

TEST(Lower, CountsParametersOnceAndStatisticsApart) {
  const auto [graph, l] = lowered(conv_bn_relu(false));
  EXPECT_EQ(l.params, 16 * 8 * 9 + 2 * 16);
  EXPECT_EQ(l.buffers, 2 * 16);
  EXPECT_EQ(l.weight_bytes, 4 * (16 * 8 * 9 + 2 * 16));
  ModelBuilder shared;
  shared.input("x", {4, 8}).weight("w", {8, 8});
  shared.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w"}, {"b"}).output("b");
  const auto twice = lowered(shared);
  EXPECT_EQ(twice.lowered.params, 64);
  EXPECT_EQ(layer(twice.lowered, "b").params, 0);
}

TEST(Lower, FoldsAConstantVectorIntoTheProductBeforeIt) {
  ModelBuilder b;
  b.input("x", {2, 5, 8}).weight("w", {8, 6}).weight("bias", {6}).weight("rows", {5, 1});
  b.node("MatMul", {"x", "w"}, {"product"})
      .node("Add", {"bias", "product"}, {"sum"})
      .node("MatMul", {"x", "w"}, {"other"})
      .node("Add", {"other", "rows"}, {"kept"})
      .output("sum")
      .output("kept");
  const auto [graph, l] = lowered(b);
  EXPECT_EQ(layer(l, "sum").fate, Fate::folded);
  EXPECT_EQ(layer(l, "kept").fate, Fate::vector) << "a vector over rows is no bias";
}

/// A product of two dims whose rows get three, of `columns` each, before what `last` makes of them.
ModelBuilder rows_behind_a_product(const Dims& shape, const std::string& last) {
  ModelBuilder b;
  b.input("x", {10, 8}).weight("w", {8, 6}).weight("c", {6}).input("r", shape);
  b.constant("shape", {3}, {shape.begin(), shape.end()});
  b.node("Gemm", {"x", "w", "c"}, {"product"}).node("Reshape", {"product", "shape"}, {"rows"});
  if (last == "Add")
    b.node("Add", {"r", "rows"}, {"y"});
  else
    b.node(last, {"rows"}, {"y"});
  return b.output("y");
}

TEST(Lower, LooksBehindAReshapeOfAProductsRows) {
  const auto sum = lowered(rows_behind_a_product({2, 5, 6}, "Add"));
  EXPECT_TRUE(layer(sum.lowered, "product").residual.is_of_node());
  EXPECT_EQ(layer(sum.lowered, "rows").fate, Fate::folded);
  EXPECT_EQ(layer(sum.lowered, "y").fate, Fate::folded);
  const auto function = lowered(rows_behind_a_product({2, 5, 6}, "Tanh"));
  EXPECT_EQ(layer(function.lowered, "product").function.nodes.size(), 1U);
  EXPECT_EQ(layer(function.lowered, "product").outputs[0], layer(function.lowered, "y").outputs[0]);
}

TEST(Lower, KeepsAReshapeThatTearsRowsOrThatNobodyJoins) {
  const auto torn = lowered(rows_behind_a_product({10, 2, 3}, "Tanh"));
  EXPECT_EQ(layer(torn.lowered, "rows").fate, Fate::view);
  EXPECT_TRUE(layer(torn.lowered, "product").function.empty());
  const auto alone = lowered(rows_behind_a_product({2, 5, 6}, "Softmax"));
  EXPECT_EQ(layer(alone.lowered, "rows").fate, Fate::view);
}

TEST(Lower, GivesUnknownOperatorsTheirTrafficWhenAllowed) {
  ModelBuilder b;
  b.input("x", {3, 4}).node("Mystery", {"x"}, {"y"}).output("y");
  const auto refused = elaborate(b.model(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().front().code, Errc::unsupported);
  const auto [graph, l] = lowered(b, true);
  EXPECT_EQ(layer(l, "y").fate, Fate::unsupported);
  ASSERT_EQ(l.unsupported.size(), 1U);
  EXPECT_EQ(std::get<MemoryOp>(layer(l, "y").work[0]).inputs[0].elements, 12);
}

TEST(Lower, GivesEveryNodeOneFate) {
  ModelBuilder b;
  b.input("x", {1, 4, 6, 6});
  b.node("Shape", {"x"}, {"shape"})
      .node("MaxPool", {"x"}, {"pool"}, {ModelBuilder::ints("kernel_shape", {2, 2})})
      .node("Flatten", {"pool"}, {"flat"})
      .node("Transpose", {"pool"}, {"turn"}, {ModelBuilder::ints("perm", {0, 2, 3, 1})})
      .output("shape")
      .output("flat")
      .output("turn");
  const auto [graph, l] = lowered(b);
  EXPECT_EQ(layer(l, "shape").fate, Fate::folded);
  EXPECT_EQ(layer(l, "pool").fate, Fate::vector);
  EXPECT_EQ(layer(l, "flat").fate, Fate::view);
  EXPECT_EQ(layer(l, "turn").fate, Fate::memory);
}

}  // namespace
}  // namespace accsim::sim
