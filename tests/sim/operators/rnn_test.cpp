#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

constexpr int64_t kSteps = 7, kBatch = 2, kInputs = 5, kHidden = 3;

struct Kind {
  const char* op;
  int64_t gates;
  size_t outputs;
};
constexpr Kind kKinds[] = {{"RNN", 1, 2}, {"GRU", 3, 2}, {"LSTM", 4, 3}};

SingleNode recurrent(const Kind& kind, const char* direction, int layout) {
  const int64_t d = direction == std::string("bidirectional") ? 2 : 1;
  SingleNode node(kind.op, 14);
  node.in(layout ? Dims{kBatch, kSteps, kInputs} : Dims{kSteps, kBatch, kInputs});
  node.in({d, kind.gates * kHidden, kInputs}).in({d, kind.gates * kHidden, kHidden});
  node.in({d, 2 * kind.gates * kHidden}).attr("hidden_size", kHidden).attr("layout", layout);
  node.attr("direction", direction).outs(kind.outputs);
  return node;
}

TEST(Recurrent, DoDirectionAndLayoutPlaceTheOutputs) {
  for (const Kind& kind : kKinds)
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (int layout : {0, 1}) {
        const int64_t d = direction == std::string("bidirectional") ? 2 : 1;
        SingleNode node = recurrent(kind, direction, layout);
        ASSERT_TRUE(node.infer().ok()) << kind.op;
        EXPECT_EQ(node.out(0),
                  (layout ? Dims{kBatch, kSteps, d, kHidden} : Dims{kSteps, d, kBatch, kHidden}));
        for (size_t i = 1; i < kind.outputs; ++i)
          EXPECT_EQ(node.out(i), (layout ? Dims{kBatch, d, kHidden} : Dims{d, kBatch, kHidden}));
      }
}

TEST(Recurrent, IsTheCostInputsOnceAndStatesEveryStep) {
  for (const Kind& kind : kKinds)
    for (const char* direction : {"forward", "bidirectional"}) {
      const int64_t d = direction == std::string("bidirectional") ? 2 : 1;
      SingleNode node = recurrent(kind, direction, 0);
      ASSERT_TRUE(node.infer().ok());
      const auto work = node.cost();
      ASSERT_EQ(work->size(), static_cast<size_t>(3 * d));
      EXPECT_EQ(item<GemmOp>(work, 0).m(), kSteps * kBatch);
      EXPECT_EQ(item<GemmOp>(work, 0).bias_port, 3);
      const auto state = item<GemmOp>(work, 1);
      EXPECT_EQ(state.batch, kSteps);
      EXPECT_EQ(state.m(), kBatch);
      EXPECT_TRUE(state.b_shared);
      EXPECT_EQ(total_macs(work), d * kSteps * kBatch * kind.gates * kHidden * (kInputs + kHidden));
    }
}

TEST(Recurrent, IsAnLstmOfIntegersAsDearAsOneOfFloats) {
  const auto lstm = [](Dims w, const Dims& scale) {
    SingleNode node("DynamicQuantizeLSTM", 1, "com.microsoft");
    node.in({kSteps, kBatch, kInputs}).in(std::move(w), DType::int8);
    node.in({2, kHidden, 4 * kHidden}, DType::int8).in({2, 8 * kHidden});
    for (int i = 4; i < 8; ++i) node.absent();
    node.in(scale).in(scale, DType::int8).in({2}).in({2}, DType::int8);
    return node.attr("direction", "bidirectional").outs(3);
  };
  SingleNode node = lstm({2, kInputs, 4 * kHidden}, {2, 4 * kHidden});
  ASSERT_EQ(shape_or_error(node), "7x2x2x3");
  EXPECT_EQ(node.out(2), (Dims{2, kBatch, kHidden}));
  SingleNode floats = recurrent(kKinds[2], "bidirectional", 0);
  ASSERT_TRUE(floats.infer().ok());
  const auto ours = node.cost(), theirs = floats.cost();
  EXPECT_EQ(total_macs(ours), total_macs(theirs));
  EXPECT_EQ(ours->size(), theirs->size());
  EXPECT_FALSE(lstm({2, 4 * kHidden, kInputs}, {2}).infer().ok()) << "as an LSTM of floats has W";
  EXPECT_FALSE(lstm({2, kInputs, 4 * kHidden}, {3}).infer().ok());
}

TEST(Recurrent, AreMalformedWeightsErrors) {
  const auto error = [](Dims x, Dims w, Dims r, const char* direction = "forward") {
    SingleNode node("LSTM", 14);
    node.in(std::move(x)).in(std::move(w)).in(std::move(r)).attr("direction", direction);
    return !node.infer().ok();
  };
  EXPECT_FALSE(error({7, 2, 5}, {1, 12, 5}, {1, 12, 3}));
  EXPECT_TRUE(error({7, 2}, {1, 12, 5}, {1, 12, 3}));
  EXPECT_TRUE(error({7, 2, 5}, {1, 12, 4}, {1, 12, 3}));
  EXPECT_TRUE(error({7, 2, 5}, {1, 9, 5}, {1, 9, 3}));
  EXPECT_TRUE(error({7, 2, 5}, {1, 12, 5}, {1, 12, 3}, "bidirectional"));
  EXPECT_TRUE(error({7, 2, 5}, {1, 12, 5}, {1, 12, 3}, "sideways"));
  SingleNode wrong("LSTM", 14);
  wrong.in({7, 2, 5}).in({1, 12, 5}).in({1, 12, 3}).attr("hidden_size", 4);
  EXPECT_FALSE(wrong.infer().ok());
}

TEST(Recurrent, AreInitialStatesOfAnotherShapeErrors) {
  for (const Kind& kind : kKinds)
    for (const Dims& state : {Dims{}, Dims{1, kBatch, kHidden + 1}, Dims{2, kBatch, kHidden}}) {
      SingleNode node = recurrent(kind, "forward", 0);
      node.absent().in(state);
      EXPECT_FALSE(node.infer().ok()) << kind.op << " " << to_string(state);
    }
}

}  // namespace
}  // namespace accsim::sim
