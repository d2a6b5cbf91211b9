#include "sim/lower/functions.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;
using Names = std::vector<std::string>;

/// A graph that ends in "y", lowered.
class Functions : public testing::Test {
 protected:
  void lower_all() {
    auto graph = elaborate(b_.model(), {});
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    graph_ = std::move(*graph);
    auto lowered = lower_in_memory(graph_);
    ASSERT_TRUE(lowered.ok());
    lowered_ = std::move(*lowered);
  }
  const Layer& layer(const std::string& name) const {
    for (const Layer& l : lowered_.layers)
      if (l.name == name) return l;
    throw std::logic_error("no layer " + name);
  }
  /// The nodes of the layer's function.
  Names nodes(const std::string& name) const {
    Names out;
    for (const NodeId id : layer(name).function.nodes)
      out.push_back(graph_.nodes[static_cast<size_t>(id)].name);
    return out;
  }
  std::string argument(const std::string& name) const {
    return graph_.tensor(layer(name).function.of).name;
  }
  std::string result(const std::string& name) const {
    return graph_.tensor(layer(name).outputs[0]).name;
  }
  void expect_merged(const Names& names, const std::string& into) const {
    for (const std::string& name : names) {
      EXPECT_EQ(layer(name).fate, Fate::folded) << name;
      ASSERT_GE(layer(name).merged_into, 0) << name;
      EXPECT_EQ(lowered_.layers[static_cast<size_t>(layer(name).merged_into)].name, into) << name;
    }
  }

  ModelBuilder& product() {
    b_.input("x", {4, 8}).weight("w", {8, 6});
    return b_.node("MatMul", {"x", "w"}, {"r"});
  }
  ModelBuilder& scalars(const Names& names) {
    for (const std::string& name : names) b_.weight(name, {});
    return b_;
  }

  ModelBuilder b_{17};
  Graph graph_;
  Lowered lowered_;
};

TEST_F(Functions, SiluIsOneOfItsConvolution) {
  b_.input("x", {1, 8, 10, 10}).weight("w", {16, 8, 3, 3});
  for (const char* name : {"scale", "shift", "mean", "var"}) b_.weight(name, {16});
  b_.node("Conv", {"x", "w"}, {"conv"})
      .node("BatchNormalization", {"conv", "scale", "shift", "mean", "var"}, {"r"})
      .node("Sigmoid", {"r"}, {"s"})
      .node("Mul", {"r", "s"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_EQ(nodes("conv"), (Names{"s", "y"}));
  EXPECT_EQ(argument("conv"), "r");
  EXPECT_EQ(result("conv"), "y");
  EXPECT_FALSE(layer("conv").function.affine);
  expect_merged({"s", "y"}, "conv");
  const VectorOp& op = layer("conv").function.work;  // 16 x 8 x 8 sigmoids and products
  EXPECT_EQ(op[VectorClass::special], 1024);
  EXPECT_EQ(op[VectorClass::elementwise], 1024);
  EXPECT_EQ(op.inputs[0].elements, 1024);
}

TEST_F(Functions, GeluByErfAsExported) {
  scalars({"root", "one", "half"});
  product()
      .node("Div", {"r", "root"}, {"d"})
      .node("Erf", {"d"}, {"e"})
      .node("Add", {"e", "one"}, {"a"})
      .node("Mul", {"r", "a"}, {"m"})
      .node("Mul", {"m", "half"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"d", "e", "a", "m", "y"}));
  expect_merged({"d", "e", "a", "m", "y"}, "r");
  EXPECT_EQ(layer("r").function.work[VectorClass::special], 2 * 24) << "Div and Erf of 4 x 6";
  EXPECT_EQ(layer("r").function.work[VectorClass::elementwise], 3 * 24);
}

TEST_F(Functions, GeluByTanhAfterABias) {
  scalars({"three", "k", "c", "one", "half"});
  b_.weight("bias", {6});
  product()
      .node("Add", {"bias", "r"}, {"s"})
      .node("Pow", {"s", "three"}, {"p"})
      .node("Mul", {"k", "p"}, {"kp"})
      .node("Add", {"s", "kp"}, {"i"})
      .node("Mul", {"i", "c"}, {"ci"})
      .node("Tanh", {"ci"}, {"t"})
      .node("Add", {"one", "t"}, {"u"})
      .node("Mul", {"half", "s"}, {"h"})
      .node("Mul", {"h", "u"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"p", "kp", "i", "ci", "t", "u", "h", "y"}));
  EXPECT_EQ(argument("r"), "s");
}

TEST_F(Functions, HardSwishInPieces) {
  scalars({"three", "low", "high", "six"});
  product()
      .node("Add", {"r", "three"}, {"a"})
      .node("Clip", {"a", "low", "high"}, {"c"})
      .node("Div", {"c", "six"}, {"d"})
      .node("Mul", {"r", "d"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"a", "c", "d", "y"}));
  EXPECT_FALSE(layer("r").relu);
}

TEST_F(Functions, OneNodeIsOneToo) {
  product().node("HardSigmoid", {"r"}, {"y"}).output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"y"}));
  expect_merged({"y"}, "r");
}

TEST_F(Functions, WhatIsReadElsewhereEndsThem) {
  product()
      .node("Sigmoid", {"r"}, {"s"})
      .node("Mul", {"r", "s"}, {"y"})
      .node("Softmax", {"s"}, {"z"})
      .output("y")
      .output("z");
  lower_all();
  // r is read by two: neither Sigmoid alone nor the product of both is behind the product.
  EXPECT_TRUE(nodes("r").empty());
  EXPECT_EQ(nodes("s"), (Names{"s"}));
  EXPECT_EQ(layer("s").fate, Fate::vector);
  EXPECT_EQ(layer("y").fate, Fate::vector);
  EXPECT_TRUE(nodes("y").empty()) << "a function of two tensors";
}

TEST_F(Functions, AnOutputOfTheGraphEndsThem) {
  product().node("Exp", {"r"}, {"e"}).node("Neg", {"e"}, {"y"}).output("e").output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"e"}));
  EXPECT_EQ(nodes("y"), (Names{"y"}));
  EXPECT_EQ(layer("y").fate, Fate::vector);
}

TEST_F(Functions, ConstantsOfChannelsArePartOfNone) {
  b_.weight("slope", {6}).weight("one", {1});
  product().node("PRelu", {"r", "slope"}, {"p"}).node("PRelu", {"p", "one"}, {"y"}).output("y");
  lower_all();
  EXPECT_TRUE(nodes("r").empty());
  EXPECT_TRUE(nodes("p").empty());
  EXPECT_EQ(layer("p").fate, Fate::vector);
  EXPECT_EQ(nodes("y"), (Names{"y"}));
}

TEST_F(Functions, BroadcastToMoreDimsIsNone) {
  b_.weight("one", {1, 1, 1});
  product().node("Mul", {"r", "one"}, {"m"}).node("Exp", {"m"}, {"y"}).output("y");
  lower_all();
  EXPECT_EQ(nodes("y"), (Names{"y"}));
  EXPECT_EQ(argument("y"), "m");
}

TEST_F(Functions, AClipAndASumStayThePostUnits) {
  b_.input("other", {4, 6});
  product().node("Relu", {"r"}, {"c"}).node("Add", {"c", "other"}, {"y"}).output("y");
  lower_all();
  EXPECT_TRUE(layer("r").relu);
  EXPECT_TRUE(layer("r").residual.is_of_node());
  EXPECT_TRUE(layer("r").function.empty());
  EXPECT_EQ(result("r"), "y");
}

TEST_F(Functions, AFirstClipStaysThePostUnits) {
  product()
      .node("Relu", {"r"}, {"c"})
      .node("Sigmoid", {"c"}, {"s"})
      .node("Mul", {"c", "s"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_TRUE(layer("r").relu);
  EXPECT_EQ(argument("r"), "c");
  EXPECT_EQ(nodes("r"), (Names{"s", "y"}));
  expect_merged({"c", "s", "y"}, "r");
}

TEST_F(Functions, ASumFollowsATableAndNoTableASum) {
  b_.input("other", {4, 6});
  product()
      .node("Sigmoid", {"r"}, {"s"})
      .node("Mul", {"s", "r"}, {"m"})
      .node("Add", {"m", "other"}, {"a"})
      .node("Tanh", {"a"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"s", "m"}));
  EXPECT_TRUE(layer("r").residual.is_of_node());
  EXPECT_EQ(result("r"), "a");
  EXPECT_EQ(nodes("y"), (Names{"y"}));
  EXPECT_EQ(layer("y").fate, Fate::vector);
}

TEST_F(Functions, FactorsAndSumsAreAffine) {
  scalars({"c", "d"});
  product()
      .node("Mul", {"c", "r"}, {"m"})
      .node("Sub", {"d", "m"}, {"s"})
      .node("Div", {"s", "c"}, {"q"})
      .node("Relu", {"q"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_TRUE(layer("r").function.affine);
  EXPECT_EQ(nodes("r"), (Names{"m", "s", "q"}));
  EXPECT_TRUE(layer("r").relu) << "behind the rest";
  EXPECT_EQ(result("r"), "y");
  EXPECT_GE(std::get<GemmOp>(layer("r").work[0]).bias_port, 0);
  expect_merged({"m", "s", "q", "y"}, "r");
}

TEST_F(Functions, QuotientsAndSquaresAreNotAffine) {
  scalars({"c"});
  b_.input("x", {4, 8}).weight("w", {8, 6});
  b_.node("MatMul", {"x", "w"}, {"p"})
      .node("Div", {"c", "p"}, {"d"})
      .node("MatMul", {"x", "w"}, {"q"})
      .node("Mul", {"q", "q"}, {"s"})
      .output("d")
      .output("s");
  lower_all();
  EXPECT_EQ(nodes("p"), (Names{"d"}));
  EXPECT_FALSE(layer("p").function.affine);
  EXPECT_EQ(nodes("q"), (Names{"s"}));
  EXPECT_FALSE(layer("q").function.affine);
}

TEST_F(Functions, ComparisonsAndTypesInsideAreFine) {
  scalars({"zero", "slope"});
  product()
      .node("Less", {"r", "zero"}, {"l"})
      .node("Mul", {"r", "slope"}, {"m"})
      .node("Where", {"l", "m", "r"}, {"y"})
      .output("y");
  lower_all();
  EXPECT_EQ(nodes("r"), (Names{"l", "m", "y"}));
}

TEST_F(Functions, OfWhatNoProductMakesAreOneVectorLayer) {
  b_.input("x", {2, 3, 5});
  scalars({"c"});
  b_.node("Sigmoid", {"x"}, {"s"})
      .node("Mul", {"x", "s"}, {"m"})
      .node("Mul", {"m", "c"}, {"y"})
      .output("y");
  lower_all();
  const Layer& y = layer("y");
  EXPECT_EQ(y.fate, Fate::vector);
  expect_merged({"s", "m"}, "y");
  ASSERT_EQ(y.work.size(), 1U);
  const auto& op = std::get<VectorOp>(y.work[0]);
  ASSERT_EQ(op.inputs.size(), 1U) << "read once, without the constant";
  EXPECT_EQ(op.inputs[0].elements, 30);
  EXPECT_EQ(op[VectorClass::special], 30);
  EXPECT_EQ(op[VectorClass::elementwise], 60);
  ASSERT_EQ(y.inputs.size(), 1U);
  EXPECT_EQ(graph_.tensor(y.inputs[0]).name, "x");
}

/// A bound that isn't zero is no clip of the post unit's, but a table's.
TEST_F(Functions, AClipBehindWhatPassesNumbersOnIsPartOfTheVectorWorkBefore) {
  b_.input("a", {4, 6}).input("b", {4, 6});
  b_.node("Add", {"a", "b"}, {"sum"})
      .node("Identity", {"sum"}, {"i"})
      .node("Identity", {"i"}, {"j"})
      .node("Relu", {"j"}, {"y"})
      .output("y");
  lower_all();
  expect_merged({"i", "j", "y"}, "sum");
  EXPECT_EQ(result("sum"), "y");
}

TEST_F(Functions, WhatPassesNumbersOnToOthersTooStaysAView) {
  b_.input("a", {4, 6}).input("b", {4, 6});
  b_.node("Add", {"a", "b"}, {"sum"})
      .node("Identity", {"sum"}, {"i"})
      .node("Relu", {"i"}, {"y"})
      .output("y")
      .output("i");
  lower_all();
  EXPECT_EQ(layer("i").fate, Fate::view);
  EXPECT_EQ(layer("y").fate, Fate::vector);
}

TEST_F(Functions, ClipsAtOtherBoundsAreTables) {
  const auto clip = [](double low, bool behind_a_sum = false) {
    ModelBuilder b(7);
    b.input("x", {4, 8}).input("other", {4, 6}).weight("w", {8, 6});
    b.node("MatMul", {"x", "w"}, {"r"});
    if (behind_a_sum) b.node("Add", {"r", "other"}, {"a"});
    b.node("Clip", {behind_a_sum ? "a" : "r"}, {"y"}, {{"min", "", low}, {"max", "", 1.0}})
        .output("y");
    const auto graph = elaborate(b.model(), {});
    EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
    return std::move(lower_in_memory(*graph)->layers[0]);
  };
  EXPECT_TRUE(clip(0).relu);
  EXPECT_TRUE(clip(0).function.empty());
  EXPECT_FALSE(clip(-1).relu);
  EXPECT_EQ(clip(-1).function.nodes.size(), 1U);
  EXPECT_TRUE(clip(0, true).clips_sum);
  EXPECT_FALSE(clip(-1, true).clips_sum);
  EXPECT_TRUE(clip(-1, true).function.empty()) << "no table follows a sum";
}

}  // namespace
}  // namespace accsim::sim
