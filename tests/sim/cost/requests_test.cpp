#include "sim/cost/requests.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "tests/support/machines.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

hw::HwConfig float_machine() {
  hw::HwConfig hw = test::small_machine();
  hw.types.activation = hw.types.weight = DType::float16;
  hw.types.accumulator = DType::float32;
  return hw;
}

/// What layer `name` asks of a machine.
std::vector<OpRequest> requests_of(const ModelBuilder& b, const std::string& name,
                                   const hw::HwConfig& hw) {
  const auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto lowered = lower_in_memory(*graph);
  EXPECT_TRUE(lowered.ok());
  const Residency residency = plan_residency(*graph, *lowered, hw);
  for (const Layer& l : lowered->layers)
    if (l.name == name) return layer_requests(*graph, l, residency, hw);
  return {};
}

/// 4 x 6 results of a product; `dynamic`: of two inputs.
ModelBuilder product(bool dynamic = false) {
  ModelBuilder b(17);
  b.input("x", {4, 8}).weight("c", {});
  if (dynamic)
    b.input("w", {8, 6});
  else
    b.weight("w", {8, 6});
  b.node("MatMul", {"x", "w"}, {"r"});
  return b;
}

ModelBuilder silu(bool dynamic = false) {
  ModelBuilder b = product(dynamic);
  b.node("Sigmoid", {"r"}, {"s"}).node("Mul", {"r", "s"}, {"y"}).output("y");
  return b;
}

TEST(Requests, IntegersLookAFunctionUp) {
  const auto all = requests_of(silu(), "r", test::small_machine());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].table);
  EXPECT_EQ(all[0].outputs[0].place.name, "y");
}

TEST(Requests, IntegersTimesAPositiveNumberAreTheSameCodes) {
  const auto scaled = [](const std::string& op, double factor, const hw::HwConfig& hw) {
    ModelBuilder b(17);
    b.input("x", {4, 8});
    b.node("Constant", {}, {"c"}, {Attribute{"value_float", "", factor}});
    b.node(op, {"x", "c"}, {"s"}).output("s");
    return requests_of(b, "s", hw).size();
  };
  EXPECT_EQ(scaled("Mul", 0.125, test::small_machine()), 0U);
  EXPECT_EQ(scaled("Div", 8, test::small_machine()), 0U);
  EXPECT_EQ(scaled("Mul", -0.125, test::small_machine()), 1U);
  EXPECT_EQ(scaled("Mul", 0, test::small_machine()), 1U);
  EXPECT_EQ(scaled("Add", 8, test::small_machine()), 1U);
  EXPECT_EQ(scaled("Mul", 0.125, float_machine()), 1U);
}

TEST(Requests, FloatsDoTheFunctionBehindItsProduct) {
  const auto all = requests_of(silu(), "r", float_machine());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].table);
  EXPECT_TRUE(std::holds_alternative<GemmOp>(all[0].item));
  const auto& op = std::get<VectorOp>(all[1].item);
  EXPECT_EQ(op[VectorClass::special], 24) << "a sigmoid an element";
  EXPECT_EQ(op[VectorClass::elementwise], 24) << "and a product";
  ASSERT_EQ(op.inputs.size(), 1U);
  EXPECT_EQ(op.inputs[0].elements, 24);
  for (const auto* side : {&all[1].inputs, &all[1].outputs})  // in place
    EXPECT_EQ((*side)[0].place.name, all[0].outputs[0].place.name);
}

TEST(Requests, SoDoIntegersWithoutRoomForATable) {
  hw::HwConfig hw = test::small_machine();
  hw.buffers[static_cast<size_t>(hw::Buffer::parameter)] = {1, 5, 16};  // 204 bytes a slot
  const auto all = requests_of(silu(), "r", hw);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].table);
}

TEST(Requests, WhatFollowsAFunctionComesBehindIt) {
  ModelBuilder b = product();
  b.input("other", {4, 6});
  b.node("Relu", {"r"}, {"k"})
      .node("Exp", {"k"}, {"e"})
      .node("Add", {"e", "other"}, {"a"})
      .node("Relu", {"a"}, {"y"})
      .output("y");
  const auto integers = requests_of(b, "r", test::small_machine());
  ASSERT_EQ(integers.size(), 1U);
  EXPECT_TRUE(integers[0].relu && integers[0].table && integers[0].clips_sum);
  EXPECT_EQ(integers[0].residual, 2);
  const auto floats = requests_of(b, "r", float_machine());
  ASSERT_EQ(floats.size(), 2U);
  EXPECT_TRUE(floats[0].relu);
  EXPECT_TRUE(floats[0].residual.is_none());
  EXPECT_FALSE(floats[0].clips_sum);
  const auto& op = std::get<VectorOp>(floats[1].item);
  EXPECT_EQ(op[VectorClass::special], 24);
  EXPECT_EQ(op[VectorClass::elementwise], 2 * 24) << "the sum and its clip";
  ASSERT_EQ(op.inputs.size(), 2U);
  EXPECT_EQ(floats[1].inputs[1].place.name, "other");
}

TEST(Requests, AFactorCostsNothingWhereItIsKnownOffLineOrIntegersAreScaled) {
  const auto scaled = [](bool dynamic, const hw::HwConfig& hw) {
    ModelBuilder b = product(dynamic);
    b.node("Mul", {"r", "c"}, {"m"}).node("Relu", {"m"}, {"y"}).output("y");
    return requests_of(b, "r", hw);
  };
  for (const bool dynamic : {false, true}) {
    const auto all = scaled(dynamic, test::small_machine());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_FALSE(all[0].table);
    EXPECT_TRUE(all[0].relu);
  }
  EXPECT_EQ(scaled(false, float_machine()).size(), 1U);
  const auto floats = scaled(true, float_machine());
  ASSERT_EQ(floats.size(), 2U);
  EXPECT_FALSE(floats[0].relu);
  EXPECT_EQ(std::get<VectorOp>(floats[1].item)[VectorClass::elementwise], 2 * 24);
}

TEST(Requests, AFactorBehindAProductOfACopyIsAnOperationOfFloats) {
  ModelBuilder b(17);
  b.input("q", {6, 4, 8}).input("k", {2, 6, 8}).weight("c", {});
  b.node("Transpose", {"k"}, {"t"}, {ModelBuilder::ints("perm", {1, 2, 0})});
  b.node("Relu", {"t"}, {"u"}).output("u");  // takes it as it lies
  b.node("MatMul", {"q", "t"}, {"r"}).node("Mul", {"r", "c"}, {"y"}).output("y");
  const auto floats = requests_of(b, "r", float_machine());
  ASSERT_EQ(floats.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<MemoryOp>(floats[0].item));
  EXPECT_LT(std::get<GemmOp>(floats[1].item).b_port, 0);
  EXPECT_TRUE(std::holds_alternative<VectorOp>(floats[2].item));
  EXPECT_EQ(requests_of(b, "r", test::small_machine()).size(), 2U);
}

TEST(Requests, AFunctionOfItsOwnIsOneOperationOfIntegers) {
  ModelBuilder b(17);
  b.input("x", {3, 5});
  b.node("Sigmoid", {"x"}, {"s"}).node("Mul", {"x", "s"}, {"y"}).output("y");
  const auto ops = [&](const hw::HwConfig& hw) {
    const auto all = requests_of(b, "y", hw);
    EXPECT_EQ(all.size(), 1U);
    return std::get<VectorOp>(all[0].item).ops;
  };
  std::array<int64_t, kVectorClasses> looked_up{}, computed{};
  looked_up[static_cast<size_t>(VectorClass::elementwise)] = 15;
  computed[static_cast<size_t>(VectorClass::elementwise)] = 15;
  computed[static_cast<size_t>(VectorClass::special)] = 15;
  EXPECT_EQ(ops(test::small_machine()), looked_up);
  EXPECT_EQ(ops(float_machine()), computed);
}

/// The first of them lies in the result from the start: nothing of it moves.
TEST(Requests, EqualMovesOfALayerAreOneRequest) {
  ModelBuilder b(17);
  for (const char* name : {"p", "q", "r", "s"}) b.input(name, {2, 4});
  b.node("Concat", {"p", "q", "r", "s"}, {"y"}, {{"axis", "", int64_t{1}}}).output("y");
  const auto all = requests_of(b, "y", test::small_machine());
  ASSERT_EQ(all.size(), 3U);
  const OperandPort in{OperandPort::Side::input, 0}, out{OperandPort::Side::output, 0};
  for (int i = 0; i < 3; ++i) {
    const OpRequest& r = all[static_cast<size_t>(i)];
    EXPECT_EQ(r.inputs.size(), 1U);
    EXPECT_EQ(key_of(r), key_of(all[0]));
    EXPECT_EQ(r.ports.layer_port(in), (OperandPort{OperandPort::Side::input, i + 1}));
    EXPECT_EQ(r.ports.layer_port(out), out);
    EXPECT_EQ(r.ports.offset(in), 0);
    EXPECT_EQ(r.ports.offset(out), (i + 1) * 4);
  }
}

TEST(Requests, ElementsThatAMoveTurnsAroundBeginWithTheFirstInMemory) {
  ModelBuilder b(17);
  b.input("x", {6, 5}).constant("start", {1}, {4}).constant("end", {1}, {0});
  b.constant("axis", {1}, {0}).constant("step", {1}, {-1});
  b.node("Slice", {"x", "start", "end", "axis", "step"}, {"y"}).output("y");
  const auto all = requests_of(b, "y", test::small_machine());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].ports.offset({OperandPort::Side::input, 0}),
            5);                                         // row 1 is the last that's read
  EXPECT_EQ(std::get<MemoryOp>(all[0].item).from, 15);  // and row 4 the first
}

}  // namespace
}  // namespace accsim::sim
