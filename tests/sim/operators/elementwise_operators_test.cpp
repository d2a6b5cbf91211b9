#include <gtest/gtest.h>

#include <limits>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

constexpr int64_t kCount = 2 * 3 * 4;

/// Elementwise and special operations per output element of a node with one 2x3x4 input.
std::pair<int64_t, int64_t> per_element(SingleNode node) {
  node.in({2, 3, 4});
  EXPECT_TRUE(node.infer());
  const auto op = item<VectorOp>(node.cost());
  return {op[VectorClass::elementwise] / kCount, op[VectorClass::special] / kCount};
}

TEST(ElementwiseCost, IsEachInputReadOnceAndBroadcastInputsAtTheirOwnSize) {
  SingleNode add("Add", 14);
  add.in({2, 3, 4}).in({4});
  ASSERT_TRUE(add.infer());
  const auto op = item<VectorOp>(add.cost());
  ASSERT_EQ(op.inputs.size(), 2U);
  EXPECT_EQ(op.inputs[0].elements, kCount);
  EXPECT_EQ(op.inputs[1].elements, 4);
  EXPECT_EQ(op.inputs[1].run, 0);
  ASSERT_EQ(op.outputs.size(), 1U);
  EXPECT_EQ(op.outputs[0].elements, kCount);
  EXPECT_EQ(op[VectorClass::elementwise], kCount);
  EXPECT_EQ(op[VectorClass::special], 0);
}

TEST(ElementwiseCost, DoesASumOfNInputsTakeNMinusOneAdds) {
  SingleNode sum("Sum", 13);
  sum.in({2, 3, 4}).in({2, 3, 4}).in({1}).in({3, 1});
  ASSERT_TRUE(sum.infer());
  EXPECT_EQ(item<VectorOp>(sum.cost())[VectorClass::elementwise], 3 * kCount);
}

TEST(ElementwiseCost, IsASumOfOneInputAView) {
  SingleNode sum("Sum", 13);
  sum.in({2, 3});
  ASSERT_TRUE(sum.infer());
  EXPECT_TRUE(sum.cost()->empty());
}

TEST(ElementwiseCost, AreActivationsCountedInPrimitiveOperations) {
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(per_element({"Relu", 14}), P(1, 0));
  EXPECT_EQ(per_element({"LeakyRelu", 16}), P(2, 0));
  EXPECT_EQ(per_element({"HardSwish", 14}), P(4, 0));
  EXPECT_EQ(per_element({"Sigmoid", 13}), P(0, 1));
  EXPECT_EQ(per_element({"Softplus", 22}), P(1, 2));
  EXPECT_EQ(per_element({"Gelu", 20}), P(3, 1));
  EXPECT_EQ(per_element(SingleNode("Gelu", 20).attr("approximate", "tanh")), P(6, 1));
  EXPECT_EQ(per_element({"Swish", 24}), P(1, 1));
  EXPECT_EQ(per_element(SingleNode("Swish", 24).attr("alpha", 1.702)), P(2, 1));
  EXPECT_EQ(per_element(SingleNode("SwiGLU", 28).in({2, 3, 4})), P(2, 1));
  EXPECT_EQ(per_element(SingleNode("SwiGLU", 28).in({2, 3, 4}).attr("alpha", 1.5)), P(3, 1));
  SingleNode wider("SwiGLU", 28);
  wider.in({2, 3}).in({1, 3});
  EXPECT_EQ(shape_or_error(wider), "SwiGLU: A 2x3 and B 1x3 must have one shape");
}

TEST(ElementwiseCost, DoesClipTakeOneOperationPerBound) {
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(per_element(SingleNode("Clip", 6).attr("min", 0.0).attr("max", 6.0)), P(2, 0));
  EXPECT_EQ(per_element(SingleNode("Clip", 6).attr("max", 6.0)), P(1, 0));
  SingleNode relu6("Clip", 13);
  relu6.in({8}).constant({}, DType::float32, std::make_shared<ConstData>(std::vector{0.0}));
  ASSERT_TRUE(relu6.infer());
  EXPECT_EQ(item<VectorOp>(relu6.cost())[VectorClass::elementwise], 8);
}

TEST(Cast, DoesItConvertUnlessTheTypeStays) {
  SingleNode cast("Cast", 13);
  cast.in({5}, DType::float32).attr("to", 10);
  ASSERT_TRUE(cast.infer());
  EXPECT_EQ(cast.type(), DType::float16);
  EXPECT_EQ(item<VectorOp>(cast.cost())[VectorClass::convert], 5);
  SingleNode same("Cast", 13);
  same.in({5}, DType::float16).attr("to", 10);
  ASSERT_TRUE(same.infer());
  EXPECT_TRUE(same.cost()->empty());
}

TEST(Cast, DoesCastLikeReadOnlyItsFirstInput) {
  SingleNode cast("CastLike", 15);
  cast.in({5}).in({1000}, DType::int32);
  ASSERT_TRUE(cast.infer());
  EXPECT_EQ(cast.type(), DType::int32);
  EXPECT_EQ(item<VectorOp>(cast.cost()).inputs.size(), 1U);
}

TEST(BitCast, MustTheTypesBeOfOneSize) {
  SingleNode good("BitCast", 26), bad("BitCast", 26);
  good.in({5}).attr("to", 6);
  EXPECT_TRUE(good.infer());
  EXPECT_EQ(good.type(), DType::int32);
  bad.in({5}).attr("to", 7);
  EXPECT_FALSE(bad.infer());
}

TEST(Dropout, IsTrainingRefused) {
  const auto dropout = [](int64_t training) {
    SingleNode node("Dropout", 13);
    node.in({4}).absent().constant({}, DType::boolean,
                                   std::make_shared<ConstData>(std::vector{training}));
    return node.outs(2);
  };
  SingleNode inference = dropout(0), training = dropout(1);
  ASSERT_TRUE(inference.infer());
  EXPECT_EQ(inference.type(1), DType::boolean);
  ASSERT_FALSE(training.infer());
  EXPECT_EQ(training.infer().errors()[0].code, Errc::unsupported);
}

TEST(Dropout, MayTrainingModeStayOnWhenNothingIsDropped) {
  const auto on = std::make_shared<ConstData>(std::vector{int64_t{1}});
  for (const double ratio : {0.0, 0.1}) {
    SingleNode node("Dropout", 13);
    node.in({4})
        .constant({}, DType::float32, std::make_shared<ConstData>(std::vector{ratio}))
        .constant({}, DType::boolean, on);
    EXPECT_EQ(node.infer().ok(), ratio == 0.0);
  }
}

TEST(Comparison, IsTheResultBoolean) {
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
    SingleNode node(op, 16);
    node.in({2, 1}).in({3});
    ASSERT_TRUE(node.infer()) << op;
    EXPECT_EQ(node.type(), DType::boolean);
    EXPECT_EQ(node.out(), (Dims{2, 3}));
  }
}

TEST(ElementwiseShape, AreMismatchesNamed) {
  SingleNode shapes("Add", 14), types("Mul", 14), slope("PRelu", 16);
  shapes.in({2, 3}).in({4});
  EXPECT_EQ(shape_or_error(shapes), "Add: input 1 of shape 4 doesn't broadcast with 2x3");
  types.in({2}).in({2}, DType::int32);
  EXPECT_EQ(shape_or_error(types), "Mul: inputs 0 and 1 must have one type, not float32 and int32");
  slope.in({3}).in({2, 3});
  EXPECT_EQ(shape_or_error(slope), "PRelu: slope of shape 2x3 doesn't broadcast to 3");
}

TEST(DivisionByZero, IsItLeftUnfolded) {
  for (const char* op : {"Div", "Mod"}) {
    SingleNode node(op, 14);
    node.ints({4, 1}).ints({2, 0});
    ASSERT_TRUE(node.infer());
    ASSERT_TRUE(node.fold());
    EXPECT_EQ(node.value(), nullptr) << op;
  }
}

TEST(Random, AreOnlyResultsWrittenAndNothingFolded) {
  SingleNode like("RandomNormalLike", 22), plain("RandomUniform", 22);
  like.in({2, 3}).attr("dtype", 11);
  ASSERT_TRUE(like.infer());
  EXPECT_EQ(like.type(), DType::float64);
  const auto op = item<VectorOp>(like.cost());
  EXPECT_TRUE(op.inputs.empty());
  EXPECT_EQ(op.outputs[0].elements, 6);
  plain.list("shape", {4, 5});
  EXPECT_EQ(shape_or_error(plain), "4x5");
  ASSERT_TRUE(plain.fold());
  EXPECT_EQ(plain.value(), nullptr);
}

/// A draw is three xor-shifts and a multiply-add; two normal ones take a logarithm, a root, a sine
/// and a cosine of two uniform ones, and a trial is a draw and a comparison.
TEST(Random, DoesEachResultTakeItsDraws) {
  const auto work = [](const char* op) {
    SingleNode node(op, 22);
    node.list("shape", {4, 5});
    EXPECT_TRUE(node.infer());
    return item<VectorOp>(node.cost());
  };
  EXPECT_EQ(work("RandomUniform")[VectorClass::elementwise], 4 * 20);
  EXPECT_EQ(work("RandomUniform")[VectorClass::special], 0);
  EXPECT_EQ(work("RandomNormal")[VectorClass::elementwise], 5 * 20);
  EXPECT_EQ(work("RandomNormal")[VectorClass::special], 3 * 20);
  SingleNode trials("Bernoulli", 22);
  trials.in({3, 7});
  ASSERT_TRUE(trials.infer());
  EXPECT_EQ(trials.out(), (Dims{3, 7}));
  EXPECT_EQ(item<VectorOp>(trials.cost())[VectorClass::elementwise], 5 * 21);
}

/// Of each row the running sum of exponentials, in which samples are searched for by halving.
TEST(Random, AreSamplesOfClassesSearchedFor) {
  SingleNode node("Multinomial", 22);
  node.in({3, 100}).attr("sample_size", 9).attr("dtype", 7);
  ASSERT_TRUE(node.infer());
  EXPECT_EQ(node.out(), (Dims{3, 9}));
  EXPECT_EQ(node.type(), DType::int64);
  const auto op = item<VectorOp>(node.cost());
  EXPECT_EQ(op[VectorClass::special], 3 * 100);
  EXPECT_EQ(op[VectorClass::reduce], 3 * 100);
  EXPECT_EQ(op[VectorClass::search], 3 * 9 * 7) << "2^7 is the first power beyond 100";
  EXPECT_EQ(op[VectorClass::elementwise], 3 * 9 * 4);
  EXPECT_EQ(op.row, 100);
  SingleNode flat("Multinomial", 22);
  flat.in({100});
  EXPECT_FALSE(flat.infer().ok());
}

TEST(ElementwiseCost, IsATensorBeyondCountingRefused) {
  SingleNode node("Relu", 14);
  node.in({int64_t{1} << 51});
  ASSERT_TRUE(node.infer());
  ASSERT_FALSE(node.cost());
  EXPECT_EQ(node.cost().errors()[0].code, Errc::overflow);
}

TEST(Clip, AreBoundsThatAreNotGivenThoseOfTheType) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr auto kMost = static_cast<double>(std::numeric_limits<float>::max());
  SingleNode node("Clip", 13);
  node.reals({kInfinity, -kInfinity, 1});
  ASSERT_TRUE(node.infer());
  ASSERT_TRUE(node.fold());
  EXPECT_EQ(node.value()->reals(), (std::vector<double>{kMost, -kMost, 1}));
}

}  // namespace
}  // namespace accsim::sim
