#include "sim/elaborate/graph_builder.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

Tensor input_of(Dims dims, DType dtype = DType::float32) {
  Tensor tensor;
  tensor.name = "x";
  tensor.origin = Tensor::Origin::input;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  return tensor;
}

Node node_of(std::string op_type, TensorIds inputs) {
  Node node;
  node.name = "n";
  node.op_type = std::move(op_type);
  node.opset = 17;
  node.inputs = std::move(inputs);
  return node;
}

TEST(GraphBuilder, IsANodesOutputKnownAsSoonAsItIsAdded) {
  Budget budget;
  GraphBuilder builder(Graph{}, budget);
  const Result<TensorId> x = builder.add_tensor(input_of({3, 4}));
  ASSERT_TRUE(x.ok());
  const Result<TensorIds> s =
      builder.add_node(node_of("Shape", {*x}), {"s"}, *find_op("", "Shape"));
  ASSERT_TRUE(s.ok()) << s.errors().front().text();
  const Tensor& shape = builder.graph().tensor(s->front());
  EXPECT_EQ((Dims{2}), shape.dims);
  ASSERT_TRUE(shape.value);
  EXPECT_EQ((std::vector<int64_t>{3, 4}), shape.value->integers());
  EXPECT_EQ(0, shape.producer);
  EXPECT_EQ(1, builder.next_node());
  const Graph graph = builder.finish_graph({*x}, *s);
  EXPECT_TRUE(verify_graph(graph).ok());
}

TEST(GraphBuilder, IsAnErrorOfARuleTheNodes) {
  Budget budget;
  GraphBuilder builder(Graph{}, budget);
  const Result<TensorId> x = builder.add_tensor(input_of({3, 4}));
  ASSERT_TRUE(x.ok());
  const Result<TensorIds> y =
      builder.add_node(node_of("Relu", {*x, *x}), {"y"}, *find_op("", "Relu"));
  ASSERT_FALSE(y.ok());
  EXPECT_EQ("node 'n' (op Relu): has 2 inputs, at most 1 are allowed", y.errors().front().text());
}

TEST(GraphBuilder, WhatIsAssumedOfUnknownOperators) {
  Budget budget;
  GraphBuilder builder(Graph{}, budget);
  const Result<TensorId> x = builder.add_tensor(input_of({3, 4}, DType::int8));
  ASSERT_TRUE(x.ok());
  const std::vector<DeclaredType> declared = {
      {}, {}, {DType::float16, std::nullopt}, {DType::undefined, Dims{7}}};
  const Result<TensorIds> ids =
      builder.add_unsupported(node_of("Odd", {kNoTensor, *x}), {"a", "", "b", "c"}, declared);
  ASSERT_TRUE(ids.ok()) << ids.errors().front().text();
  ASSERT_EQ(4u, ids->size());
  EXPECT_EQ(kNoTensor, (*ids)[1]);
  const auto type = [&](size_t i) { return builder.graph().tensor((*ids)[i]).dtype; };
  const auto dims = [&](size_t i) { return builder.graph().tensor((*ids)[i]).dims; };
  EXPECT_EQ(DType::int8, type(0));
  EXPECT_EQ((Dims{3, 4}), dims(0));
  EXPECT_EQ(DType::float16, type(2));
  EXPECT_EQ((Dims{3, 4}), dims(2));
  EXPECT_EQ(DType::int8, type(3));
  EXPECT_EQ((Dims{7}), dims(3));
  EXPECT_FALSE(builder.graph().nodes.back().folded);
}

TEST(GraphBuilder, DoInternalNodesTakeSteps) {
  constexpr int64_t kSteps = 100;
  Budget budget(Limits{.nodes = kSteps});
  GraphBuilder builder(Graph{}, budget);
  const Result<TensorId> x = builder.add_tensor(input_of({2}));
  ASSERT_TRUE(x.ok());
  for (int64_t i = 1; i < kSteps; ++i) ASSERT_TRUE(budget.take_step().ok());
  const Result<TensorId> last = builder.add_internal("Identity", "i", {*x}, {});
  ASSERT_TRUE(last.ok()) << last.errors().front().text();
  EXPECT_EQ("i_output", builder.graph().tensor(*last).name);
  const Result<TensorId> beyond = builder.add_internal("Identity", "j", {*x}, {});
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ("node 'j' (op Identity)", beyond.errors().front().where);
}

TEST(GraphBuilder, WhichScalarsAreKnown) {
  Budget budget;
  GraphBuilder builder(Graph{}, budget);
  const Result<TensorId> x = builder.add_tensor(input_of({}));
  const Result<TensorId> one = builder.add_integers("one", {1}, {5});
  const Result<TensorId> two = builder.add_integers("two", {2}, {5, 6});
  ASSERT_TRUE(x.ok() && one.ok() && two.ok());
  EXPECT_EQ(std::nullopt, builder.known_scalar(*x));
  EXPECT_EQ(5, builder.known_scalar(*one));
  EXPECT_EQ(std::nullopt, builder.known_scalar(*two));
}

}  // namespace
}  // namespace accsim::sim
