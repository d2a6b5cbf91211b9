#include <gtest/gtest.h>

#include <random>

#include "hw/config/load.h"
#include "sim/schedule/line_tile_shape.h"
#include "sim/schedule/op_flow.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

hw::HwConfig machine() { return *hw::load_hw(kSource + "/configs/8x8.yaml"); }

Operand operand(bool constant) { return {{"t", hw::MemoryId::shared, constant, {}}, 1}; }

/// Windows of lines as they are drawn: every result has a line in the tensor.
LaneSlide random_window(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  LaneSlide w;
  w.kernel = pick(1, 5);
  w.stride = pick(1, 3);
  w.dilation = pick(1, 2);
  w.pad = pick(0, (w.kernel - 1) * w.dilation / 2);
  w.extent = pick(12, 30);
  w.counted_from = -w.pad * pick(0, 1);
  w.counted_to = w.extent - w.counted_from;
  return w;
}
int64_t results(const LaneSlide& w) {
  return (w.extent + 2 * w.pad - (w.kernel - 1) * w.dilation - 1) / w.stride + 1;
}

constexpr int64_t kWidth = 6, kChannels = 3, kOutputs = 5;

/// Pixels of the result; pooling has those of its input.
OpRequest convolution(const LaneSlide& w) {
  GemmOp op;
  op.channels = kChannels;
  op.outputs = kOutputs;
  op.in = {1, w.extent, kWidth};
  op.out = {1, results(w), kWidth};
  op.kernel = {1, w.kernel, 1};
  op.stride = {1, w.stride, 1};
  op.dilation = {1, w.dilation, 1};
  op.pad = {0, w.pad, 0};
  OpRequest out;
  out.item = op;
  out.inputs = {operand(false), operand(true), operand(false)};
  out.outputs = {operand(false)};
  out.residual = 2;
  return out;
}
OpRequest pooling(const LaneSlide& w) {
  VectorOp op;
  op.lane.emplace();
  op.lane->gather = LaneGather::mean;
  op.lane->axes = {{1, 0, 0, {}},
                   {results(w), kWidth * kChannels, 0, w},
                   {kWidth, kChannels, 0, {.extent = kWidth}},
                   {kChannels, 1, 0, {.extent = kChannels}}};
  op.inputs = {{0, w.extent * kWidth * kChannels, 0}};
  op.outputs = {{0, results(w) * kWidth * kChannels, 0}};
  OpRequest out;
  out.item = op;
  out.inputs = {operand(false)};
  out.outputs = {operand(false)};
  return out;
}

/// Lines that a result is made of: taps with their line of the tensor, and how many a mean counts.
using Made = std::pair<std::vector<std::pair<int64_t, int64_t>>, int64_t>;
Made made_of(const LaneSlide& w, int64_t result, int64_t first_line) {
  Made out;
  for (int64_t k = 0; k < w.kernel; ++k) {
    const int64_t line = result * w.stride + k * w.dilation - w.pad;
    if (line >= 0 && line < w.extent) out.first.push_back({k, line + first_line});
    if (line >= w.counted_from && line < w.counted_to) ++out.second;
  }
  return out;
}

LaneSlide window_of(const WorkItem& item) {
  if (const auto* op = std::get_if<VectorOp>(&item)) return op->lane->axes[1].slide;
  const auto& op = std::get<GemmOp>(item);
  return {.extent = op.in[1],
          .kernel = op.kernel[1],
          .stride = op.stride[1],
          .dilation = op.dilation[1],
          .pad = op.pad[1],
          .counted_from = -1000,  // a product counts none
          .counted_to = 1000};
}
int64_t lines_of(const WorkItem& item) {
  if (const auto* op = std::get_if<VectorOp>(&item)) return op->lane->axes[1].count;
  return std::get<GemmOp>(item).out[1];
}

/// Every line of every piece is made of the lines that it is made of in the whole, and nothing that
/// no line needs is read.
TEST(LinePieces, ReadWhatTheirLinesAreMadeOf) {
  std::mt19937 random(1);
  for (int times = 0; times < 300; ++times) {
    const LaneSlide w = random_window(random);
    for (const OpRequest& whole : {convolution(w), pooling(w)}) {
      const auto flow = line_flow(whole, machine());
      ASSERT_TRUE(flow);
      const bool product = std::holds_alternative<GemmOp>(whole.item);
      ASSERT_EQ(flow->count, results(w));
      EXPECT_EQ(flow->out_bytes, kWidth * (product ? kOutputs : kChannels));
      EXPECT_EQ(flow->in_bytes, kWidth * kChannels);
      const auto all = static_cast<uint64_t>(flow->count);
      const auto first = static_cast<int64_t>(random() % all);
      const auto count = static_cast<int64_t>(1 + random() % (all - static_cast<uint64_t>(first)));
      const OpPieces piece = piece_of_lines(whole.item, *flow, first, count);
      EXPECT_EQ(lines_of(piece.item), count);
      const int64_t from = piece.operands.offset(flow->in) / flow->in_bytes;
      EXPECT_EQ(from * flow->in_bytes, piece.operands.offset(flow->in));
      EXPECT_EQ(piece.operands.offset(flow->out), first * flow->out_bytes);
      if (product) {
        EXPECT_EQ(piece.operands.offset({OperandPort::Side::input, 2}), first * flow->out_bytes);
      }
      const LaneSlide part = window_of(piece.item);
      EXPECT_LE(from + part.extent, w.extent);
      int64_t last = 0;
      for (int64_t i = 0; i < count; ++i) {
        const Made expected = made_of(window_of(whole.item), first + i, 0);
        EXPECT_EQ(made_of(part, i, from), expected);
        for (const auto& [tap, line] : expected.first) last = std::max(last, line);
      }
      EXPECT_LE(last, from + part.extent - 1);
      EXPECT_LE(last + 1, flow->slices_needed(first + count));
    }
  }
}

TEST(LinePieces, NeedConstantWeightsAndOneImage) {
  LaneSlide w{.extent = 12, .kernel = 3, .pad = 1, .counted_to = 12};
  const auto has_lines = [](const OpRequest& r) { return line_flow(r, machine()).has_value(); };
  EXPECT_TRUE(has_lines(convolution(w)));
  OpRequest computed = convolution(w);
  computed.inputs[1] = operand(false);
  EXPECT_FALSE(has_lines(computed));
  OpRequest images = convolution(w);
  std::get<GemmOp>(images.item).images = 2;
  EXPECT_FALSE(has_lines(images));
  OpRequest wide = pooling(w);
  wide.inputs[0].element_bytes = 4;
  EXPECT_FALSE(has_lines(wide));
  OpRequest turned = pooling(w);  // lines that aren't one behind the other
  std::swap(std::get<VectorOp>(turned.item).lane->axes[1].a,
            std::get<VectorOp>(turned.item).lane->axes[2].a);
  EXPECT_FALSE(has_lines(turned));
}

/// A run of the two, with the second reading what the first has made.
LineGroup run_of(const LaneSlide& first, const LaneSlide& second, bool array_first) {
  LineGroup run;
  run.ops = {0, 1};
  for (const LaneSlide& w : {first, second}) {
    OpFlow& flow = run.flows.emplace_back();
    flow.count = results(w);
    flow.window = w;
  }
  run.on_array = {array_first, !array_first};
  return run;
}

TEST(LineEnds, HaveAllThatTheNextOpReads) {
  std::mt19937 random(2);
  for (int times = 0; times < 300; ++times) {
    const LaneSlide first = random_window(random);
    LaneSlide second = random_window(random);
    second.extent = results(first);
    if (results(second) < 2) continue;
    const bool array_first = times % 2 == 0;
    const LineGroup run = run_of(first, second, array_first);
    const int64_t lines = 1 + times % 5;
    const auto ends = line_ends(run, lines);
    ASSERT_EQ(ends[0].size(), ends[1].size());
    const auto& cut = ends[array_first ? 0 : 1];
    for (size_t i = 0; i < cut.size(); ++i) {
      EXPECT_EQ(cut[i], std::min(static_cast<int64_t>(i + 1) * lines,
                                 run.flows[array_first ? 0 : 1].count));
      int64_t last = -1;  // line that the next op's lines so far are made of
      for (int64_t result = 0; result < ends[1][i]; ++result)
        for (const auto& [tap, line] : made_of(second, result, 0).first)
          last = std::max(last, line);
      EXPECT_LT(last, ends[0][i]);
    }
    EXPECT_EQ(ends[0].back(), results(first));
    EXPECT_EQ(ends[1].back(), results(second));
  }
}

TEST(LineRuns, HaveTwoFirstOps) {
  const LaneSlide w{.extent = 12, .counted_to = 12};
  LineGroup run = run_of(w, w, false);
  run.ops = {4, 6, 9};
  run.flows.push_back(run.flows[0]);
  run.on_array = {false, true, false};
  run.shared = 900;
  run.shared_of_two = 700;
  const LineGroup two = first_two(run);
  EXPECT_EQ(two.ops, (std::vector<size_t>{4, 6}));
  EXPECT_EQ(two.flows.size(), 2U);
  EXPECT_EQ(two.on_array, (std::vector<bool>{false, true}));
  EXPECT_EQ(two.shared, 700);
}

TEST(BestLineCut, IsTheFastestOfThoseTried) {
  for (const int64_t best : {1, 2, 4, 8}) {
    for (const int64_t tiles : {1, 2})
      for (const int64_t chunks : {1, 2}) {
        const auto found = best_line_shape(12, [&](const LineTileShape& c) {
          return 100 + 10 * std::abs(c.lines - best) + std::abs(c.tiles - tiles) +
                 std::abs(c.chunks - chunks);
        });
        ASSERT_TRUE(found);
        EXPECT_EQ(found->cut.lines, best);
        EXPECT_EQ(found->cut.tiles, tiles);
        EXPECT_EQ(found->cut.chunks, chunks);
        EXPECT_EQ(found->cycles, 100);
      }
  }
  EXPECT_FALSE(best_line_shape(0, [](const LineTileShape&) { return int64_t{1}; }));
}

}  // namespace
}  // namespace accsim::sim
