#include <gtest/gtest.h>

#include <algorithm>

#include "sim/map/lane_problem.h"
#include "sim/map/mapper.h"
#include "tests/sim/map/lane_trial.h"

namespace accsim::sim {
namespace {

OpRequest lane_request(const LaneWork& work, int64_t elements) {
  VectorOp op;
  op.inputs = {{0, elements, 0}};
  op.outputs = {{0, elements, 0}};
  op[VectorClass::elementwise] = elements;
  op.lane = work;
  return {op, {{{"in"}, 1}, {{"by"}, 1}}, {{{"out"}, 1}}};
}

bool lane_streams(const std::vector<hw::Item>& body) {
  return std::ranges::any_of(body, [](const hw::Item& item) {
    if (const auto* loop = std::get_if<hw::Loop>(&item.node)) return lane_streams(loop->body);
    const auto* c = std::get_if<hw::Command>(&item.node);
    return c && std::holds_alternative<hw::VectorCommand>(*c);
  });
}

TEST(LaneSearch, DoSpreadOperandsFillBeats) {
  hw::HwConfig hw = test::small_machine();  // 8 lanes, and 8 bytes of two operands a cycle
  LaneWork work;
  work.op = LaneArithmetic::mul;
  work.b_port = 1;
  work.axes = {{30, 12, 0, {.extent = 30}}, {12, 1, 1, {.extent = 12}}};
  const LaneProblem p{work, {"in"}, {"by"}, {"out"}};
  EXPECT_EQ(best_spread(p, hw), 2) << "24 bytes are three beats";
  const auto lanes = [&](int64_t spread) {
    const LaneTiling t{lane_tile(spread_lanes(p, spread), hw, 1), true, spread};
    return hw::simulate(emit(p, hw, t), hw).queue(hw::Queue::vector).busy.count();
  };
  EXPECT_EQ(lanes(1), 30 * 2);
  EXPECT_EQ(lanes(2), 15 * 3);
}

TEST(LaneSearch, DoesTheMapperWriteTheProgramWhereElementsAreInt8) {
  LaneWork work;
  work.axes = {{30'000, 1, 0, {.extent = 30'000}}};
  hw::HwConfig hw = test::small_machine();
  const auto streams = [&](const OpRequest& r) {
    Mapper mapper(hw, {});
    const auto m = mapper.map(r, "layer");
    EXPECT_TRUE(m.ok());
    return lane_streams((*m)->program.body);
  };
  EXPECT_FALSE(streams(lane_request(work, 30'000)));
  OpRequest wide = lane_request(work, 30'000);
  wide.outputs[0].element_bytes = 4;
  EXPECT_TRUE(streams(wide)) << "elements of four bytes";
  LaneWork large = work;
  large.across = 5000;
  EXPECT_TRUE(streams(lane_request(large, 30'000))) << "no slot holds a row";
  hw.types.activation = DType::float16;
  hw.types.accumulator = DType::float32;
  EXPECT_TRUE(streams(lane_request(work, 30'000))) << "a machine of floats";
}

/// Times that fill beats better than any fewer do, by their share of bytes that aren't idle.
std::vector<int64_t> useful_spreads(const hw::HwConfig& hw, int64_t pixels, int64_t channels) {
  const int64_t beat = std::min({hw.vector.lanes[0], hw.buffer(hw::Buffer::activation).width,
                                 hw.buffer(hw::Buffer::output).width});
  const auto filled = [&](int64_t times) {
    const int64_t bytes = times * channels, moved = ceil_div(bytes, beat) * beat;
    return static_cast<double>(bytes) / static_cast<double>(moved);
  };
  std::vector<int64_t> out = {1};
  for (int64_t times = 2; times <= std::min(beat, pixels); ++times)
    if (pixels % times == 0 && filled(times) > filled(out.back())) out.push_back(times);
  return out;
}

/// All numbers of tiles that are tried: what bounds drop mustn't be the best.
TEST(LaneSearch, DoesTheMapperFindTheBestWayToCut) {
  Draw d(6);
  int differs = 0, fewer_times = 0;
  for (int i = 0; i < 60; ++i) {
    const hw::HwConfig hw = test::random_machine(d.random);
    LaneWork work;
    work.op = LaneArithmetic::mul;
    work.b_port = 1;
    const int64_t pixels = d.of(1, 100), channels = d.of(1, 60);
    work.axes = {{pixels, channels, 0, {.extent = pixels}}, {channels, 1, 1, {.extent = channels}}};
    const LaneProblem p{work, {"in"}, {"by"}, {"out"}};
    int64_t best = INT64_MAX, most = 0;
    std::vector<int64_t> numbers;
    for (int64_t n = 1; n <= pixels * channels; n *= 2) {
      numbers.push_back(n);
      if (n > 1) numbers.push_back(n + n / 2);
    }
    const auto try_cut = [&](int64_t chunks, bool once, int64_t spread) {
      const LaneTiling t{lane_tile(spread_lanes(p, spread), hw, chunks), once, spread};
      if (!fits(p, hw, t)) return;
      const int64_t cycles = hw::simulate(emit(p, hw, t), hw).total.count();
      best = std::min(best, cycles);
      most = std::max(most, cycles);
    };
    for (const int64_t chunks : numbers)
      for (const bool once : {false, true})
        for (const int64_t spread : useful_spreads(hw, pixels, channels))
          try_cut(chunks, once, spread);
    Mapper mapper(hw, {});
    const auto m = mapper.map(lane_request(work, pixels * channels), "layer");
    ASSERT_TRUE(m.ok());
    if (most == 0) continue;
    EXPECT_EQ((*m)->timing.total.count(), best);
    differs += best < most;
    const int64_t chosen = (*m)->lanes->tiling.spread;
    fewer_times += chosen > 1 && chosen < best_spread(p, hw);
  }
  EXPECT_GT(differs, 30);
  EXPECT_GT(fewer_times, 3) << "where beats filled best aren't the fastest";
}

}  // namespace
}  // namespace accsim::sim
