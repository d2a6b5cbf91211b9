#include <gtest/gtest.h>

#include <algorithm>

#include "sim/map/lanes/lane_problem.h"
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

/// The lane commands of a body.
void find_lanes(const std::vector<hw::Item>& body, std::vector<hw::LaneCommand>& out) {
  for (const hw::Item& item : body) {
    if (const auto* loop = std::get_if<hw::Loop>(&item.node)) find_lanes(loop->body, out);
    const auto* c = std::get_if<hw::Command>(&item.node);
    if (c && std::holds_alternative<hw::LaneCommand>(*c))
      out.push_back(std::get<hw::LaneCommand>(*c));
  }
}

/// Windows of `kernel` lines and columns two apart: rows of a line, or of a column, keep the column
/// or the line that they share.
TEST(LaneSearch, DoWindowsSlideAlongTheSideThatKeepsMore) {
  hw::HwConfig hw = test::small_machine();
  for (hw::BufferConfig& b : hw.buffers) b.kib = 128;
  int along_lines = 0, along_columns = 0;
  for (const auto& [lines, columns] : {std::pair<int64_t, int64_t>{3, 9}, {9, 3}, {2, 11}, {8, 5}})
    for (const auto& [high, wide] : {std::pair<int64_t, int64_t>{3, 3}, {4, 3}, {3, 5}}) {
      const int64_t in_lines = 2 * (lines - 1) + high, in_columns = 2 * (columns - 1) + wide;
      LaneWork work;
      work.gather = LaneGather::max;
      work.axes = {
          {lines, in_columns * 5, 0, {.extent = in_lines, .kernel = high, .stride = 2}},
          {columns, 5, 0, {.extent = in_columns, .kernel = wide, .stride = 2}},
          {5, 1, 0, {.extent = 5}},
      };
      const LaneProblem p{work, {"in"}, {}, {"out"}};
      const LaneTiling whole{lane_tile(p, hw, 1), false, 1};
      ASSERT_TRUE(fits(p, hw, whole));
      std::vector<hw::LaneCommand> commands;
      find_lanes(emit(p, hw, whole).body, commands);
      ASSERT_EQ(commands.size(), 1);
      const int64_t along_line = lines * in_columns * high,
                    along_column = columns * in_lines * wide;
      EXPECT_EQ(commands[0].taps_taken(), std::min(along_line, along_column));
      EXPECT_TRUE(commands[0].slides_well());
      along_lines += along_line < along_column;
      along_columns += along_column < along_line;
    }
  EXPECT_GT(along_lines, 2);
  EXPECT_GT(along_columns, 2);
}

/// A command has four levels of rows, and a run where the elements of the last axis lie side by
/// side: so many axes of a tile may be longer than one.
TEST(LaneSearch, DoTilesHaveAsManyAxesAsACommand) {
  const hw::HwConfig hw = test::small_machine();
  LaneWork work;
  for (const int64_t stride : {200, 80, 30, 12, 5, 1})
    work.axes.push_back({2, stride, 0, {.extent = 2}});
  const auto tile = [&] { return lane_tile({work, {"in"}, {}, {"out"}}, hw, 1); };
  EXPECT_EQ(tile(), (std::vector<int64_t>{1, 2, 2, 2, 2, 2}));
  work.axes.back().a = 2;
  EXPECT_EQ(tile(), (std::vector<int64_t>{1, 1, 2, 2, 2, 2}));
  work.axes.back().a = 1;
  work.gather = LaneGather::sum;
  work.across = 3;
  EXPECT_EQ(tile(), (std::vector<int64_t>{1, 1, 2, 2, 2, 2}));
}

TEST(LaneSearch, DoWindowsOfOneLineUnroll) {
  const hw::HwConfig hw = test::small_machine();
  LaneWork work;
  work.gather = LaneGather::max;
  work.axes = {{9, 10, 0, {.extent = 19, .kernel = 3, .stride = 2}}, {5, 1, 0, {.extent = 5}}};
  EXPECT_TRUE(can_unroll({work, {"in"}, {}, {"out"}}, hw)) << "runs of 5 are no beats of 8";
  work.axes.back() = {8, 1, 0, {.extent = 8}};
  EXPECT_FALSE(can_unroll({work, {"in"}, {}, {"out"}}, hw));
  work.axes.erase(work.axes.begin());
  EXPECT_FALSE(can_unroll({work, {"in"}, {}, {"out"}}, hw));
}

LaneProblem sum_of_two(int64_t elements) {
  LaneWork work;
  work.op = LaneArithmetic::add;
  work.b_port = 1;
  work.axes = {{elements, 1, 1, {.extent = elements}}};
  return {work, {"in"}, {"by"}, {"out"}};
}

TEST(LaneSearch, DoTilesFitThatFillTheirSlots) {
  hw::HwConfig hw = test::small_machine();  // 4096 bytes of operands, 2048 of results
  EXPECT_TRUE(fits(sum_of_two(2048), hw, {{2048}}));
  EXPECT_FALSE(fits(sum_of_two(2049), hw, {{2049}}));
  hw.buffers[static_cast<size_t>(hw::Buffer::output)].kib = 64;
  EXPECT_TRUE(fits(sum_of_two(2048), hw, {{2048}}));
  EXPECT_FALSE(fits(sum_of_two(2049), hw, {{2049}})) << "two operands beside each other";
}

TEST(LaneSearch, DoSecondOperandsLieInEitherBuffer) {
  const auto ways = chunked_tilings(sum_of_two(64), test::small_machine(), 4);
  ASSERT_EQ(ways.size(), 2);
  EXPECT_NE(ways[0].b_once, ways[1].b_once);
  for (const LaneTiling& t : ways) EXPECT_EQ(t.tile, std::vector<int64_t>{16});
}

/// As many tiles as let loads and stores overlap, however much there is of what fits.
TEST(LaneSearch, DoesTheRuleTakeAFewTiles) {
  hw::HwConfig hw = test::small_machine();
  for (hw::BufferConfig& b : hw.buffers) b.kib = 1024;
  for (const int64_t elements : {4, 64, 1024, 65'536}) {
    const auto ruled = rule_tiling(sum_of_two(elements), hw);
    ASSERT_TRUE(ruled);
    EXPECT_EQ(ceil_div(elements, ruled->tile[0]), std::min<int64_t>(elements, 8)) << elements;
  }
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
    const int64_t chosen = (*m)->source_as<LaneSource>()->tiling.spread;
    fewer_times += chosen > 1 && chosen < best_spread(p, hw);
  }
  EXPECT_GT(differs, 30);
  EXPECT_GT(fewer_times, 3) << "where beats filled best aren't the fastest";
}

}  // namespace
}  // namespace accsim::sim
