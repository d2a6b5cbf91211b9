#include "sim/map/kept_weights.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "sim/map/residency.h"
#include "tests/support/machines.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

constexpr int64_t kParameters = 12;  // of an output channel: bias, multiplier, shift

/// x (32 x 64) -> a (32 x 128) -> b (32 x 16) -> y: products with weights of 8 KiB and 2 KiB, and
/// of two computed tensors.
Graph products() {
  test::ModelBuilder b;
  b.input("x", {32, 64}).weight("large", {64, 128}).weight("small", {128, 16});
  b.node("MatMul", {"x", "large"}, {"a"})
      .node("MatMul", {"a", "small"}, {"b"})
      .node("Transpose", {"b"}, {"turned"})
      .node("MatMul", {"b", "turned"}, {"y"})
      .output("y");
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok());
  return std::move(*graph);
}

hw::HwConfig keeping(int64_t kib) {
  hw::HwConfig hw = test::small_machine();
  hw.shared.kib = kib;
  hw.shared.weights = hw::RunWeights::kept;
  return hw;
}

std::vector<std::string> kept(const Graph& g, const hw::HwConfig& hw, int64_t* bytes = nullptr) {
  const KeptWeights out = kept_weights(g, *lower(g), hw);
  if (bytes) *bytes = out.bytes;
  std::vector<std::string> names;
  for (const TensorId id : out.tensors) names.push_back(g.tensor(id).name);
  return names;
}

using Names = std::vector<std::string>;
constexpr int64_t kSmall = 128 * 16 + 16 * kParameters, kLarge = 64 * 128 + 128 * kParameters;

TEST(KeptWeights, AreThoseOfProductsWithTheirParameters) {
  int64_t bytes = 0;
  EXPECT_EQ(kept(products(), keeping(64), &bytes), Names({"small", "large"}));
  EXPECT_EQ(bytes, kSmall + kLarge);
}

TEST(KeptWeights, AreNoneWhereEveryRunReadsThem) {
  hw::HwConfig hw = keeping(64);
  hw.shared.weights = hw::RunWeights::read;
  int64_t bytes = -1;
  EXPECT_EQ(kept(products(), hw, &bytes), Names());
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(kept(products(), keeping(0)), Names());
}

/// Tensors between layers have their room first: a and b are 4.5 KiB at a time.
TEST(KeptWeights, HaveWhatTensorsLeaveTheSmallestFirst) {
  const Graph g = products();
  const hw::HwConfig hw = keeping(64);
  const int64_t peak = plan_residency(g, *lower(g), hw).peak_bytes;
  ASSERT_GE(peak, 32 * 128 + 32 * 16);
  for (int64_t kib = 0; kib < 24; ++kib) {
    const int64_t room = kib * 1024 - plan_residency(g, *lower(g), keeping(kib)).peak_bytes;
    Names expected;
    if (room >= kSmall) expected.emplace_back("small");
    if (room >= kSmall + kLarge) expected.emplace_back("large");
    EXPECT_EQ(kept(g, keeping(kib)), expected) << kib << " KiB";
  }
}

TEST(KeptWeights, LieInTheSharedBufferAndTakeItsRoom) {
  const Graph g = products();
  const Lowered lowered = *lower(g);
  const KeptWeights weights = kept_weights(g, lowered, keeping(16));
  const hw::HwConfig hw = machine_beside(weights, keeping(16));
  EXPECT_EQ(hw.shared.free_bytes(), 16 * 1024 - weights.bytes);
  const Residency r = plan_residency(g, lowered, hw, {}, weights.tensors);
  for (const TensorId id : weights.tensors) EXPECT_TRUE(r.resident[static_cast<size_t>(id)]);
  EXPECT_LE(r.peak_bytes, hw.shared.free_bytes());
}

}  // namespace
}  // namespace accsim::sim
