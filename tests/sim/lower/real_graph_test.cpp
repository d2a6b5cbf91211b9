#include "sim/lower/real_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/operators/names.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

struct Real {
  Graph graph;
  Lowered lowered;

  /// `theirs`: operators of com.microsoft, beside those that are called QLinear.
  explicit Real(const ModelBuilder& b, const std::vector<std::string>& theirs = {}) {
    ModelDef model = b.model();
    model.opsets[std::string(kMicrosoft)] = 1;
    for (NodeDef& n : model.graph.nodes)
      if ((n.op_type.starts_with("QLinear") && n.op_type != "QLinearConv" &&
           n.op_type != "QLinearMatMul") ||
          std::ranges::count(theirs, n.op_type) > 0)
        n.domain = kMicrosoft;
    auto elaborated = elaborate(model, {});
    EXPECT_TRUE(elaborated.ok()) << elaborated.errors().front().text();
    graph = real_graph(std::move(*elaborated));
    EXPECT_TRUE(verify_graph(graph).ok());
    auto low = lower(graph);
    EXPECT_TRUE(low.ok()) << low.errors().front().text();
    lowered = std::move(*low);
  }

  /// Names of layers that take time.
  std::vector<std::string> working() const {
    std::vector<std::string> out;
    for (const Layer& l : lowered.layers)
      if (!l.work.empty()) out.push_back(l.name);
    return out;
  }
  const Layer& layer(const std::string& name) const {
    for (const Layer& l : lowered.layers)
      if (l.name == name) return l;
    throw std::logic_error("no layer " + name);
  }
};

using Names = std::vector<std::string>;

/// Scales and zero points "s" and "z" of uint8, "sw" and "zw" of weights.
ModelBuilder builder() {
  ModelBuilder b;
  b.weight("s", {}).weight("z", {}, DType::uint8);
  b.weight("sw", {16}).weight("zw", {16}, DType::int8);
  return b;
}

/// "x" as integers "x_q" and as what they stand for, "x_f".
void quantise(ModelBuilder& b, const std::string& x) {
  b.node("QuantizeLinear", {x, "s", "z"}, {x + "_q"});
  b.node("DequantizeLinear", {x + "_q", "s", "z"}, {x + "_f"});
}

ModelBuilder pairs_around(bool other_reader) {
  ModelBuilder b = builder();
  b.input("x", {1, 8, 10, 10}).weight("w", {16, 8, 3, 3}, DType::int8);
  b.weight("bias", {16}, DType::int32);
  quantise(b, "x");
  b.node("DequantizeLinear", {"w", "sw", "zw"}, {"w_f"}, {{"axis", "", int64_t{0}}});
  b.node("DequantizeLinear", {"bias", "sw"}, {"bias_f"}, {{"axis", "", int64_t{0}}});
  b.node("Conv", {"x_f", "w_f", "bias_f"}, {"conv"}).node("Relu", {"conv"}, {"relu"});
  quantise(b, "relu");
  b.node("MaxPool", {"relu_f"}, {"pool"}, {ModelBuilder::ints("kernel_shape", {2, 2})});
  quantise(b, "pool");
  b.output("pool_f");
  if (other_reader) b.node("Cast", {"x_q"}, {"cast"}, {{"to", "", int64_t{1}}}).output("cast");
  return b;
}

TEST(RealGraph, PairsAroundNodesLeaveNoLayer) {
  const Real real(pairs_around(false));
  EXPECT_EQ(real.working(), (Names{"conv", "pool"}));
  EXPECT_TRUE(real.layer("conv").relu) << "what is between them isn't in the way of a folding";
  const Tensor& output = real.graph.tensor(real.graph.outputs[0]);
  EXPECT_EQ(output.name, "pool_f");
  EXPECT_EQ(output.dtype, DType::float32);
  ASSERT_TRUE(output.quantisation);
  EXPECT_EQ(real.graph.tensor(output.quantisation->scale).name, "s");
}

TEST(RealGraph, IntegersThatAnotherNodeReadsStay) {
  const Real real(pairs_around(true));
  EXPECT_EQ(real.working(), (Names{"x_q", "x_f", "conv", "pool", "cast"}));
}

/// All that moves them is of one type.
TEST(RealGraph, InputsThatStandForRealsAreReals) {
  for (const char* op : {"Transpose", "ReduceMax"}) {
    ModelBuilder b = builder();
    b.input("x", {2, 3}, DType::uint8).node(op, {"x"}, {"y"}).output("y");
    const Real real(b);
    const Node& node = real.graph.nodes[0];
    EXPECT_EQ(real.graph.tensor(node.inputs[0]).dtype, DType::float32) << op;
    EXPECT_EQ(real.graph.tensor(node.outputs[0]).dtype, DType::float32) << op;
  }
}

TEST(RealGraph, PlacesOfMaximaStayIntegers) {
  ModelBuilder b = builder();
  b.input("x", {1, 2, 6, 6}, DType::uint8);
  b.node("MaxPool", {"x"}, {"y", "places"}, {ModelBuilder::ints("kernel_shape", {2, 2})});
  b.output("y").output("places");
  const Real real(b);
  const Node& node = real.graph.nodes[0];
  EXPECT_EQ(real.graph.tensor(node.outputs[0]).dtype, DType::float32);
  EXPECT_EQ(real.graph.tensor(node.outputs[1]).dtype, DType::int64);
}

TEST(RealGraph, ParametersAreThoseOfTheFile) {
  const Real real(pairs_around(false));
  const int64_t weights = 16 * 8 * 3 * 3;
  EXPECT_EQ(real.lowered.params, weights + 16 + (1 + 1 + 16 + 16)) << "and scales, zero points";
  EXPECT_EQ(real.lowered.weight_bytes, weights + 16 * 4 + (4 + 1 + 16 * 4 + 16));
  EXPECT_EQ(real.layer("conv").params, weights + 16 + (16 + 16)) << "where they are read";
}

TEST(RealGraph, OperatorsOnIntegersAreThoseOnReals) {
  ModelBuilder b = builder();
  b.input("x", {1, 8, 10, 10}).weight("w", {16, 8, 3, 3}, DType::int8);
  const Attribute pads = ModelBuilder::ints("pads", {1, 1, 1, 1});
  b.node("QuantizeLinear", {"x", "s", "z"}, {"x_q"});
  b.node("QLinearConv", {"x_q", "s", "z", "w", "sw", "zw", "s", "z"}, {"a"}, {pads});
  b.node("QLinearConv", {"x_q", "s", "z", "w", "sw", "zw", "s", "z"}, {"b"}, {pads});
  b.node("QLinearAdd", {"a", "s", "z", "b", "s", "z", "s", "z"}, {"sum"});
  b.node("QLinearSigmoid", {"sum", "s", "z", "s", "z"}, {"sigmoid"});
  b.node("QLinearConcat", {"s", "z", "sigmoid", "s", "z", "x_q", "s", "z"}, {"joined"},
         {{"axis", "", int64_t{1}}});
  b.node("DequantizeLinear", {"joined", "s", "z"}, {"y"}).output("y");
  const Real real(b);
  for (const auto& [name, op] :
       {std::pair{"a", "Conv"}, {"sum", "Add"}, {"sigmoid", "Sigmoid"}, {"joined", "Concat"}}) {
    const Node& node = real.graph.nodes[static_cast<size_t>(real.layer(name).node)];
    EXPECT_EQ(node.op_type, op);
    EXPECT_EQ(node.domain, "");
  }
  for (const Layer& l : real.lowered.layers)
    for (const WorkItem& item : l.work) {
      const auto* vector = std::get_if<VectorOp>(&item);
      EXPECT_TRUE(!vector || (*vector)[VectorClass::convert] == 0) << l.name;
    }
}

TEST(RealGraph, IntegersThatAreAddedUpWhereTheyGoStayIntegers) {
  for (const std::string reduction : {"none", "add"}) {
    ModelBuilder b = builder();
    b.input("x", {4, 8}).input("u", {1, 8}).constant("at", {1, 1}, {2});
    b.node("QuantizeLinear", {"x", "s", "z"}, {"x_q"});
    b.node("QuantizeLinear", {"u", "s", "z"}, {"u_q"});
    b.node("ScatterND", {"x_q", "at", "u_q"}, {"put"}, {{"reduction", "", reduction}});
    b.node("DequantizeLinear", {"put", "s", "z"}, {"y"}).output("y");
    const Real real(b);
    const Node& put = real.graph.nodes[static_cast<size_t>(real.layer("put").node)];
    EXPECT_EQ(real.graph.tensor(put.inputs[0]).dtype == DType::uint8, reduction == "add");
  }
}

TEST(RealGraph, ASumOfIntegersIsPartOfTheProductBeforeIt) {
  ModelBuilder b = builder();
  b.input("x", {1, 16, 10, 10}).weight("w", {16, 16, 1, 1}, DType::int8);
  b.node("QuantizeLinear", {"x", "s", "z"}, {"x_q"});
  b.node("QLinearConv", {"x_q", "s", "z", "w", "sw", "zw", "s", "z"}, {"conv"});
  b.node("QLinearAdd", {"conv", "s", "z", "x_q", "s", "z", "s", "z"}, {"sum"});
  b.node("DequantizeLinear", {"sum", "s", "z"}, {"y"}).output("y");
  const Real real(b);
  EXPECT_EQ(real.working(), Names{"conv"});
  const Layer& conv = real.layer("conv");
  EXPECT_EQ(conv.op_type, "QLinearConv") << "reports say what the file has";
  ASSERT_TRUE(conv.residual.is_of_node());
  EXPECT_EQ(real.graph.tensor(conv.inputs[conv.residual.index()]).name, "x");
}

TEST(RealGraph, ProductsOfMeasuredIntegersAreProducts) {
  ModelBuilder b = builder();
  b.input("x", {4, 8}).weight("w", {8, 16}, DType::int8).weight("bias", {16});
  b.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  b.node("MatMulInteger", {"q", "w", "zero"}, {"sums"});
  b.node("Cast", {"sums"}, {"cast"}, {{"to", "", int64_t{1}}});
  b.node("Mul", {"scale", "sw"}, {"both"}).node("Mul", {"cast", "both"}, {"y"});
  b.node("Add", {"y", "bias"}, {"biased"}).output("biased");
  const Real real(b);
  EXPECT_EQ(real.working(), Names{"sums"});
  const auto& gemm = std::get<GemmOp>(real.layer("sums").work.back());
  EXPECT_GE(gemm.bias_port, 0);
  EXPECT_EQ(gemm.macs(), 4 * 8 * 16);
}

TEST(RealGraph, AMeasuredScaleThatIsReadElsewhereStays) {
  ModelBuilder b = builder();
  b.input("x", {4, 8}).weight("w", {8, 16}, DType::int8);
  b.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  b.node("MatMulInteger", {"q", "w", "zero"}, {"sums"});
  b.node("Cast", {"sums"}, {"cast"}, {{"to", "", int64_t{1}}});
  b.node("Mul", {"cast", "scale"}, {"y"}).output("y").output("scale");
  EXPECT_EQ(Real(b).working().size(), 4U);
}

ModelBuilder scaled_product(bool zero_point_is_read) {
  ModelBuilder b = builder();
  b.input("x", {4, 8}).weight("w", {8, 16}, DType::int8).weight("bias", {16});
  b.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  b.node("MatMulIntegerToFloat", {"q", "w", "scale", "sw", "zero", "zw", "bias"}, {"y"});
  b.output("y");
  if (zero_point_is_read) b.output("zero");
  return b;
}

TEST(RealGraph, AProductThatScalesMeasuredIntegersItselfIsAProduct) {
  const Real real(scaled_product(false), {"MatMulIntegerToFloat"});
  EXPECT_EQ(real.working(), Names{"y"});
  EXPECT_EQ(real.layer("y").macs, 4 * 8 * 16);
  // w, its scales and zero points, the bias
  EXPECT_EQ(real.lowered.weight_bytes, 8 * 16 + 16 * 4 + 16 + 16 * 4);
  EXPECT_EQ(Real(scaled_product(true), {"MatMulIntegerToFloat"}).working().size(), 2U);
}

TEST(RealGraph, IntegersOf16BitsStandForReals) {
  ModelBuilder b;
  b.weight("s", {}).weight("z", {}, DType::uint16);
  b.input("x", {1, 8, 10, 10}).weight("w", {16, 8, 3, 3});
  quantise(b, "x");
  b.node("Conv", {"x_f", "w"}, {"conv"});
  quantise(b, "conv");
  b.output("conv_f");
  EXPECT_EQ(Real(b).working(), Names{"conv"});
}

TEST(RealGraph, AConstantOfEachChannelIsTheConvolutionsBias) {
  for (const Dims& bias : {Dims{1, 16, 1, 1}, Dims{16, 1, 1}}) {
    ModelBuilder b;
    b.input("x", {1, 8, 10, 10}).weight("w", {16, 8, 3, 3}).weight("bias", bias);
    b.node("Conv", {"x", "w"}, {"conv"}).node("Add", {"conv", "bias"}, {"y"}).output("y");
    const Real real(b);
    EXPECT_EQ(real.working(), Names{"conv"});
    EXPECT_GE(std::get<GemmOp>(real.layer("conv").work.back()).bias_port, 0);
  }
}

TEST(RealGraph, AConstantOfEachColumnOfPixelsIsNoBias) {
  ModelBuilder b;
  b.input("x", {1, 8, 10, 18}).weight("w", {16, 8, 3, 3}).weight("bias", {16});
  b.node("Conv", {"x", "w"}, {"conv"}).node("Add", {"conv", "bias"}, {"y"}).output("y");
  EXPECT_EQ(Real(b).working(), (Names{"conv", "y"}));
}

TEST(Parameters, PackedWeightsCountByTheElementsThatTheyHold) {
  ModelBuilder b;
  b.input("x", {4, 64}).weight("w", {16, 2, 16}, DType::uint8).weight("scales", {32});
  const auto number = [](const char* name, int64_t v) { return Attribute{name, "", v}; };
  b.node("MatMulNBits", {"x", "w", "scales"}, {"y"},
         {number("K", 64), number("N", 16), number("bits", 4), number("block_size", 32)});
  b.output("y");
  ModelDef model = b.model();
  model.opsets[std::string(kMicrosoft)] = 1;
  model.graph.nodes[0].domain = kMicrosoft;
  const auto graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto lowered = lower(*graph);
  ASSERT_TRUE(lowered.ok());
  EXPECT_EQ(lowered->params, 64 * 16 + 32);
  EXPECT_EQ(lowered->weight_bytes, 64 * 16 / 2 + 32 * 4);
  EXPECT_EQ(lowered->parameters[0].type, DType::uint4);
  EXPECT_EQ(lowered->layers[0].work.size(), 1U) << "constants are unpacked off line";
}

TEST(Parameters, RowsThatAreGatheredOffLineCountWithTheirTable) {
  ModelBuilder b;
  b.weight("t", {100, 8}, DType::uint8).weight("s", {}).weight("z", {}, DType::uint8);
  b.input("x", {3, 8}).constant("ids", {3}, {7, 1, 90});
  b.node("Gather", {"t", "ids"}, {"rows"}).node("DequantizeLinear", {"rows", "s", "z"}, {"reals"});
  const Real real(b.node("Add", {"x", "reals"}, {"y"}).output("y"));
  EXPECT_EQ(real.lowered.weight_bytes, 100 * 8 + 4 + 1);
}

/// 100 x 8 bytes, a scale of each row, as the file has them, and as the graph on reals does.
TEST(Parameters, ATableOfIntegersCountsWhoeverGathersItsRows) {
  for (const bool scale_a_row : {false, true}) {
    ModelBuilder b;
    b.input("ids", {5}, DType::int64).weight("t", {100, 8}, DType::int8);
    b.node("Gather", {"t", "ids"}, {"rows"});
    if (scale_a_row) {
      b.weight("s", {100}).node("Gather", {"s", "ids"}, {"of_rows"});
      b.node("DequantizeLinear", {"rows", "of_rows"}, {"y"}, {{"axis", "", int64_t{0}}});
    } else {
      b.weight("s", {}).node("DequantizeLinear", {"rows", "s"}, {"y"});
    }
    b.output("y");
    const int64_t scales = scale_a_row ? 100 : 1;
    const Real real(b);
    EXPECT_EQ(real.lowered.params, 100 * 8 + scales);
    EXPECT_EQ(real.lowered.weight_bytes, 100 * 8 + 4 * scales);
    const auto written = elaborate(b.model(), {});
    ASSERT_TRUE(written.ok()) << written.errors().front().text();
    const auto lowered = lower(*written);
    ASSERT_TRUE(lowered.ok());
    EXPECT_EQ(lowered->params, 100 * 8 + scales);
    EXPECT_EQ(lowered->weight_bytes, 100 * 8 + 4 * scales);
  }
}

TEST(Parameters, RowsOfAPackedTableCountByTheNumbersThatTheyHold) {
  ModelBuilder b;
  b.input("ids", {5}, DType::int64).weight("t", {100, 32}, DType::uint8).weight("scales", {100, 2});
  b.node("GatherBlockQuantized", {"t", "ids", "scales"}, {"y"},
         {{"bits", "", int64_t{4}}, {"block_size", "", int64_t{32}}});
  const Real real(b.output("y"), {"GatherBlockQuantized"});
  EXPECT_EQ(real.lowered.params, 100 * 64 + 200);
  EXPECT_EQ(real.lowered.weight_bytes, 100 * 32 + 200 * 4);
  EXPECT_EQ(real.layer("y").fate, Fate::memory) << "unpacked off line";
}

}  // namespace
}  // namespace accsim::sim
