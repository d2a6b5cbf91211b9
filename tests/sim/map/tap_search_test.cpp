#include <gtest/gtest.h>

#include "sim/map/mapper.h"
#include "sim/map/product/tap_problem.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

OpRequest request(const GemmOp& op) {
  OpRequest r;
  r.item = op;
  r.inputs = {{{"a", hw::MemoryId::dram, false}, 1}, {{"b", hw::MemoryId::dram, true}, 1}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  return r;
}

int64_t cycles(const Mapping& m) { return m.timing.total.count(); }

Mapping chosen(const OpRequest& r, const hw::HwConfig& hw, MapOptions options = {}) {
  options.slack = 0;
  Result<Mapping> found = Mapper(hw, options).choose_mapping(r, "layer");
  EXPECT_TRUE(found.ok()) << (found ? "" : found.errors().front().text());
  return found ? std::move(*found) : Mapping{};
}

/// Its tiling on the lanes; null on the array.
const TapTiling* on_lanes(const Mapping& m) {
  return std::get_if<TapTiling>(&m.source_as<GemmSource>()->tiling);
}

/// A depthwise convolution that both can do, and how long each takes at its best: of lanes every
/// tiling that is tried, whatever its bound.
TEST(TapSearch, IsTheBetterOfArrayAndLanesTaken) {
  std::mt19937 random(31);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int array = 0, lanes = 0;
  for (int round = 0; round < 60; ++round) {
    hw::HwConfig hw = test::random_machine(random);
    hw.vector.mac_lanes = pick(1, 48);
    const int64_t channels = pick(2, 40);
    const OpRequest r = request(test::convolution({.channels = channels,
                                                   .size = pick(4, 12),
                                                   .outputs = channels,
                                                   .kernel = pick(2, 3),
                                                   .stride = pick(1, 2),
                                                   .pad = pick(0, 1),
                                                   .groups = channels}));
    hw::HwConfig without = hw;
    without.vector.mac_lanes = 0;
    int64_t best = cycles(chosen(r, without));
    const GemmProblem p = GemmSource::of_request(std::get<GemmOp>(r.item), r, hw);
    CostEvaluator evaluator(hw);
    for (const auto& [bound, t] : tap_tilings(p, hw))
      best = std::min(best, evaluator.cost(p, t).timing.total.count());
    const Mapping m = chosen(r, hw);
    ASSERT_EQ(cycles(m), best) << m.description;
    ASSERT_EQ(m.unverifiable, "");
    (on_lanes(m) ? lanes : array) += 1;
  }
  EXPECT_GT(array, 5);
  EXPECT_GT(lanes, 5);
}

/// 16 x 16 x 64 results of 9 taps by 512 lanes are 288 cycles, where ports and DRAM are wide; an
/// array of 8 x 8 has 8 channels at a time, and takes 8 times 9 x 256 rows at least.
TEST(TapSearch, TakesWideLanesWhereTheArrayIsNarrow) {
  hw::HwConfig hw = test::small_machine(8, 8);
  for (hw::BufferConfig& b : hw.buffers) {
    b.kib = 512;
    if (b.width > 0) b.width = 512;
  }
  hw.dram = {{1'000'000}, {1'000'000}, 5};
  hw.vector.mac_lanes = 512;
  const OpRequest r = request(test::convolution(
      {.channels = 64, .size = 16, .outputs = 64, .kernel = 3, .pad = 1, .groups = 64}));
  const Mapping m = chosen(r, hw);
  ASSERT_TRUE(on_lanes(m)) << m.description;
  EXPECT_GT(on_lanes(m)->repeats, 1);  // 64 channels fill an eighth of a beat
  EXPECT_GT(cycles(m), 16 * 16 * 64 * 8 / 512);
  EXPECT_LT(cycles(m), 4 * 288);
  hw.vector.mac_lanes = 0;
  EXPECT_GT(cycles(chosen(r, hw)), 8 * 256);
}

TEST(TapSearch, LeavesWhatIsPinnedToTheArray) {
  hw::HwConfig hw = test::small_machine(4, 4);
  hw.vector.mac_lanes = 16;
  const OpRequest r = request(test::convolution(
      {.channels = 16, .size = 12, .outputs = 16, .kernel = 3, .pad = 1, .groups = 16}));
  ASSERT_TRUE(on_lanes(chosen(r, hw)));
  MapOptions pinned;
  pinned.pins = {*parse_pin("ws")};
  EXPECT_FALSE(on_lanes(chosen(r, hw, pinned)));
  MapOptions dataflow;
  dataflow.dataflows = {hw::Dataflow::weight_stationary};
  EXPECT_FALSE(on_lanes(chosen(r, hw, dataflow)));
  MapOptions rule;
  rule.effort = MapEffort::rule;
  EXPECT_FALSE(on_lanes(chosen(r, hw, rule)));
}

}  // namespace
}  // namespace accsim::sim
