#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

constexpr int64_t kB = 2, kS = 5, kL = 6, kH = 8, kHv = 10, kPast = 4;

TEST(Attention, DoGroupedHeadsShareProducts) {
  for (int64_t q_heads : {2, 4, 12})
    for (int64_t kv_heads : {1, 2}) {
      SingleNode node("Attention", 23);
      node.in({kB, q_heads, kS, kH}).in({kB, kv_heads, kL, kH}).in({kB, kv_heads, kL, kHv});
      ASSERT_EQ(shape_or_error(node), to_string({kB, q_heads, kS, kHv}));
      const auto work = node.cost();
      EXPECT_EQ(total_macs(work), kB * q_heads * kS * kL * (kH + kHv));
      EXPECT_EQ(item<GemmOp>(work).batch, kB * kv_heads);
      EXPECT_EQ(item<GemmOp>(work).m(), q_heads / kv_heads * kS);
      const int64_t scores = kB * q_heads * kS * kL;
      const auto softmax = item<VectorOp>(work, 1);
      EXPECT_EQ(softmax[VectorClass::reduce], 2 * scores);
      EXPECT_EQ(softmax[VectorClass::elementwise], 2 * scores);
      EXPECT_EQ(softmax[VectorClass::special], scores + scores / kL);
      EXPECT_EQ(softmax.row, kL);
    }
}

/// B x heads x S rows of L; a mask for each batch and key.
TEST(Attention, SaysTheSoftmaxWhichRowsItIsOf) {
  const auto rows_of = [](SingleNode& node) {
    EXPECT_TRUE(node.infer().ok());
    return node.rows();
  };
  SingleNode plain("Attention", 23), causal("Attention", 23), short_mask("Attention", 23);
  for (SingleNode* node : {&plain, &causal, &short_mask})
    node->in({kB, 4, kS, kH}).in({kB, 2, kL, kH}).in({kB, 2, kL, kHv});
  plain.in({kB, 1, 1, kL});
  causal.attr("is_causal", 1);
  short_mask.in({kS, kL - 1});
  const auto rows = rows_of(plain);
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->in_port, kInternalPort);
  EXPECT_EQ(rows->mask_port, 3);
  const std::vector<int64_t> counts = {kB, 4, kS, kL}, mask = {kL, 0, 0, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows->axes[i].count, counts[i]);
    EXPECT_EQ(rows->axes[i].mask_stride, mask[i]);
    EXPECT_EQ(rows->axes[i].reduced, i == 3);
  }
  EXPECT_FALSE(rows_of(causal).has_value());
  EXPECT_FALSE(rows_of(short_mask).has_value());
}

TEST(Attention, DoThreeDimsSplitIntoTheStatedHeads) {
  SingleNode node("Attention", 24);
  node.in({kB, kS, 4 * kH}).in({kB, kL, 2 * kH}).in({kB, kL, 2 * kHv}).outs(4);
  node.attr("q_num_heads", 4).attr("kv_num_heads", 2);
  ASSERT_EQ(shape_or_error(node), to_string({kB, kS, 4 * kHv}));
  EXPECT_EQ(node.out(1), (Dims{kB, 2, kL, kH}));
  EXPECT_EQ(node.out(2), (Dims{kB, 2, kL, kHv}));
  EXPECT_EQ(node.out(3), (Dims{kB, 4, kS, kL}));
  SingleNode headless("Attention", 24);
  headless.in({kB, kS, 4 * kH}).in({kB, kL, 2 * kH}).in({kB, kL, 2 * kHv});
  EXPECT_FALSE(headless.infer().ok());
}

TEST(Attention, DoPastKeysLengthenWhatIsAttendedTo) {
  SingleNode node("Attention", 23);
  node.in({kB, 4, 1, kH}).in({kB, 2, 1, kH}).in({kB, 2, 1, kHv}).in({1, kPast + 1});
  node.in({kB, 2, kPast, kH}).in({kB, 2, kPast, kHv}).outs(3);
  ASSERT_EQ(shape_or_error(node), to_string({kB, 4, 1, kHv}));
  EXPECT_EQ(node.out(1), (Dims{kB, 2, kPast + 1, kH}));
  const auto work = node.cost();
  EXPECT_EQ(total_macs(work), kB * 4 * (kPast + 1) * (kH + kHv));
  // Both caches are written before the products.
  EXPECT_EQ(item<MemoryOp>(work, 0).outputs.front().elements, kB * 2 * (kPast + 1) * kH);
  EXPECT_EQ(item<MemoryOp>(work, 1).outputs.front().elements, kB * 2 * (kPast + 1) * kHv);
}

TEST(Attention, AreMalformedOperandsErrors) {
  const auto error = [](Dims q, Dims k, Dims v) {
    SingleNode node("Attention", 23);
    node.in(std::move(q)).in(std::move(k)).in(std::move(v));
    return !node.infer().ok();
  };
  EXPECT_TRUE(error({2, 3, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 8}));  // 3 heads on 2
  EXPECT_TRUE(error({2, 4, 5, 8}, {2, 2, 6, 7}, {2, 2, 6, 8}));
  EXPECT_TRUE(error({2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 5, 8}));
  EXPECT_TRUE(error({2, 0, 5, 8}, {2, 0, 6, 8}, {2, 0, 6, 8}));
  EXPECT_TRUE(error({5, 8}, {6, 8}, {6, 8}));
  SingleNode mask("Attention", 23);
  mask.in({2, 4, 5, 8}).in({2, 4, 6, 8}).in({2, 4, 6, 8}).in({4, 6});
  EXPECT_FALSE(mask.infer().ok());
}

TEST(LinearAttention, IsTheStateReadAndUpdatedEveryStep) {
  SingleNode node("LinearAttention", 27);
  node.in({kB, kS, 4 * kH}).in({kB, kS, 2 * kH}).in({kB, kS, 2 * kHv}).absent();
  node.in({kB, kS, 2}).in({kB, kS, 2}).attr("q_num_heads", 4).attr("kv_num_heads", 2).outs(2);
  ASSERT_EQ(shape_or_error(node), to_string({kB, kS, 4 * kHv}));
  EXPECT_EQ(node.out(1), (Dims{kB, 2, kH, kHv}));
  // The recalled value per key head, the output per query head.
  EXPECT_EQ(total_macs(node.cost()), kB * kS * (2 + 4) * kH * kHv);
}

}  // namespace
}  // namespace accsim::sim
