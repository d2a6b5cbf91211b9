#include <gtest/gtest.h>

#include <random>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

TEST(MatMul, DoVectorsAndBatchesFollowNumPy) {
  struct Case {
    Dims a, b, out;
    int64_t batch, m, k, n;
  };
  const Case cases[] = {
      {{3, 4}, {4, 5}, {3, 5}, 1, 3, 4, 5},
      {{4}, {4, 5}, {5}, 1, 1, 4, 5},
      {{3, 4}, {4}, {3}, 1, 3, 4, 1},
      {{4}, {4}, {}, 1, 1, 4, 1},
      {{2, 7, 3, 4}, {4, 5}, {2, 7, 3, 5}, 1, 42, 4, 5},
      {{2, 7, 3, 4}, {1, 1, 4, 5}, {2, 7, 3, 5}, 1, 42, 4, 5},
      {{2, 7, 3, 4}, {2, 7, 4, 5}, {2, 7, 3, 5}, 14, 3, 4, 5},
      {{2, 7, 3, 4}, {7, 4, 5}, {2, 7, 3, 5}, 7, 6, 4, 5},
      {{4}, {6, 4, 5}, {6, 5}, 6, 1, 4, 5},
      {{6, 3, 4}, {4}, {6, 3}, 1, 18, 4, 1},
      {{0, 4}, {4, 5}, {0, 5}, 1, 0, 4, 5},
  };
  for (const Case& c : cases) {
    SingleNode node("MatMul", 13);
    node.in(c.a).in(c.b);
    ASSERT_EQ(shape_or_error(node), to_string(c.out));
    const auto op = item<GemmOp>(node.cost());
    EXPECT_EQ(op.batch, c.batch);
    EXPECT_EQ(op.m(), c.m);
    EXPECT_EQ(op.k(), c.k);
    EXPECT_EQ(op.n(), c.n);
    EXPECT_EQ(op.in, op.out);
  }
}

TEST(MatMul, AreMacsOutputsTimesReduction) {
  std::mt19937 rng(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  for (int round = 0; round < 300; ++round) {
    Dims a, b, out;
    for (int64_t d = pick(0, 3); d > 0; --d) {
      const int64_t full = pick(1, 4), kind = pick(0, 3);
      a.push_back(kind == 0 ? 1 : full);
      b.push_back(kind == 1 ? 1 : full);
      out.push_back(full);
      if (kind == 0 && b.back() == 1) out.back() = 1;
    }
    const int64_t m = pick(1, 6), k = pick(1, 6), n = pick(1, 6);
    a.insert(a.end(), {m, k});
    b.insert(b.end(), {k, n});
    out.insert(out.end(), {m, n});
    SingleNode node("MatMul", 9);
    node.in(a).in(b);
    ASSERT_EQ(shape_or_error(node), to_string(out));
    EXPECT_EQ(item<GemmOp>(node.cost()).macs(), elements(out) * k);
  }
}

TEST(MatMul, IsABroadcastLeftOperandShared) {
  SingleNode node("MatMul", 13);
  node.in({3, 4}).in({6, 4, 5});
  ASSERT_TRUE(node.infer().ok());
  EXPECT_TRUE(item<GemmOp>(node.cost()).a_shared);
}

TEST(MatMul, AreMalformedOperandsErrors) {
  const auto error = [](Dims a, Dims b) {
    SingleNode node("MatMul", 13);
    node.in(std::move(a)).in(std::move(b));
    return !node.infer().ok();
  };
  EXPECT_TRUE(error({}, {4, 5}));
  EXPECT_TRUE(error({3, 4}, {5, 4}));
  EXPECT_TRUE(error({2, 3, 4}, {3, 4, 5}));
  EXPECT_TRUE(error({int64_t{1} << 40, 1}, {1, int64_t{1} << 40}));
}

TEST(MatMul, AreMacsBeyondCountingRefused) {
  const int64_t large = int64_t{1} << 24;
  SingleNode node("MatMul", 13);
  node.in({large, large}).in({large, large});
  ASSERT_TRUE(node.infer().ok());
  const auto work = node.cost();
  ASSERT_FALSE(work.ok());
  EXPECT_EQ(work.errors().front().code, Errc::overflow);
}

TEST(MatMul, DoQuantisedVariantsUseTheirPorts) {
  SingleNode integer("MatMulInteger", 10);
  integer.in({3, 4}, DType::uint8).in({4, 5}, DType::int8).in({}, DType::uint8);
  EXPECT_EQ(shape_or_error(integer), "3x5");
  EXPECT_EQ(integer.type(), DType::int32);
  SingleNode linear("QLinearMatMul", 10);
  linear.in({2, 3, 4}, DType::uint8).in({}).in({}, DType::uint8).in({4, 5}, DType::int8);
  linear.in({5}).in({5}, DType::int8).in({}).in({}, DType::int8);
  EXPECT_EQ(shape_or_error(linear), "2x3x5");
  EXPECT_EQ(linear.type(), DType::int8);
  EXPECT_EQ(item<GemmOp>(linear.cost()).b_port, 3);
  EXPECT_EQ(total_macs(linear.cost()), 2 * 3 * 4 * 5);
}

TEST(Gemm, DoTransposesAndBiasShapesDecideTheWork) {
  for (int64_t ta : {0, 1})
    for (int64_t tb : {0, 1})
      for (const Dims& c : {Dims{}, Dims{1}, Dims{5}, Dims{1, 5}, Dims{3, 1}, Dims{3, 5}}) {
        SingleNode node("Gemm", 13);
        node.in(ta ? Dims{4, 3} : Dims{3, 4}).in(tb ? Dims{5, 4} : Dims{4, 5}).in(c);
        node.attr("transA", ta).attr("transB", tb);
        ASSERT_EQ(shape_or_error(node), "3x5");
        const auto work = node.cost();
        EXPECT_EQ(item<GemmOp>(work).macs(), 3 * 4 * 5);
        const bool per_row = c.size() == 2 && c[0] == 3;
        EXPECT_EQ(item<GemmOp>(work).bias_port, per_row ? ValuePort::none() : ValuePort(2));
        ASSERT_EQ(work->size(), per_row ? 2U : 1U);
        if (per_row) {
          EXPECT_EQ(item<VectorOp>(work, 1)[VectorClass::elementwise], 15);
        }
      }
  SingleNode bare("Gemm", 11);
  bare.in({3, 4}).in({4, 5});
  ASSERT_EQ(shape_or_error(bare), "3x5");
  EXPECT_TRUE(item<GemmOp>(bare.cost()).bias_port.is_none());
}

TEST(Gemm, AreMalformedOperandsErrors) {
  const auto error = [](Dims a, Dims b, Dims c) {
    SingleNode node("Gemm", 13);
    node.in(std::move(a)).in(std::move(b)).in(std::move(c));
    return !node.infer().ok();
  };
  EXPECT_TRUE(error({3, 4}, {5, 4}, {5}));
  EXPECT_TRUE(error({1, 3, 4}, {4, 5}, {5}));
  EXPECT_TRUE(error({3, 4}, {4, 5}, {4}));
  EXPECT_TRUE(error({3, 4}, {4, 5}, {2, 3, 5}));
}

}  // namespace
}  // namespace accsim::sim
