#include "sim/work/op_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace accsim::sim {
namespace {

using Point = std::vector<int64_t>;
/// The element of each operand at a point of an op; none where it is padding.
using Touched = std::map<OperandRole, std::optional<int64_t>>;

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool coin() { return pick(0, 1) == 1; }

 private:
  std::mt19937 random_;
};

// Addresses of elements, written without OpSpace: activations pixel by pixel, channels innermost.

std::optional<int64_t> pixel_of(const GemmOp& op, const Point& p) {
  int64_t out = p[1];  // image
  for (size_t i = 0; i < 3; ++i) {
    const int64_t at = p[2 + i] * op.stride[i] + p[7 + i] * op.dilation[i] - op.pad[i];
    if (at < 0 || at >= op.in[i]) return std::nullopt;
    out = out * op.in[i] + at;
  }
  return out;
}

Touched touched(const GemmOp& op, const Point& p) {
  const int64_t batch = p[0], n = p[5], channel = p[6];
  const int64_t pixels = op.images * op.in[0] * op.in[1] * op.in[2];
  Touched out;
  if (const auto pixel = pixel_of(op, p); !pixel)
    out[OperandRole::a] = std::nullopt;
  else if (op.grouped)
    out[OperandRole::a] = (*pixel * op.batch + batch) * op.channels + channel;
  else if (op.a_transposed)
    out[OperandRole::a] = ((op.a_shared ? 0 : batch) * op.channels + channel) * pixels + *pixel;
  else
    out[OperandRole::a] = ((op.a_shared ? 0 : batch) * pixels + *pixel) * op.channels + channel;
  const int64_t tap = (p[7] * op.kernel[1] + p[8]) * op.kernel[2] + p[9];
  const int64_t k = tap * op.channels + channel, weights = op.k() * op.n();
  out[OperandRole::b] =
      (op.b_shared ? 0 : batch * weights) + (op.b_transposed ? n * op.k() + k : k * op.n() + n);
  const int64_t row = ((p[1] * op.out[0] + p[2]) * op.out[1] + p[3]) * op.out[2] + p[4];
  out[OperandRole::result] =
      op.grouped ? (row * op.batch + batch) * op.n() + n : (batch * op.m() + row) * op.n() + n;
  return out;
}

Touched touched(const LaneWork& w, const Point& p) {
  const size_t n = w.axes.size();
  int64_t a = p[n], b = 0, result = 0;
  bool inside = true;
  for (size_t i = 0; i < n; ++i) {
    const LaneSlide& s = w.axes[i].slide;
    const int64_t at = p[i] * s.stride + p[n + 1 + i] * s.dilation - s.pad;
    inside = inside && at >= 0 && at < s.extent;
    a += at * w.axes[i].a;
    b += p[i] * w.axes[i].b;
    result = result * w.axes[i].count + p[i];
  }
  Touched out = {{OperandRole::result, result}};
  out[OperandRole::a] = inside ? std::optional(a) : std::nullopt;
  if (w.has_b()) out[OperandRole::b] = b;
  return out;
}

Touched touched(const RowWork& w, const Point& p) {
  const auto at = [&](const RowNest& strides, int64_t piece_stride, int64_t in_row) {
    int64_t out = p[4] * piece_stride + p[5] * in_row;
    for (size_t l = 0; l < kRowLevels; ++l) out += p[l] * strides[l];
    return out;
  };
  Touched out = {{OperandRole::a, at(w.row_stride, w.piece_stride, 1)},
                 {OperandRole::result, at(w.row_stride, w.piece_stride, 1)}};
  if (w.mask) out[OperandRole::mask] = at(w.mask->row_stride, w.mask->piece_stride, 1);
  if (w.log) out[OperandRole::log] = at(w.log->row_stride, 0, 0);
  return out;
}

Touched touched(const WorkItem& item, const Point& p) {
  if (const auto* gemm = std::get_if<GemmOp>(&item)) return touched(*gemm, p);
  const auto& vector = std::get<VectorOp>(item);
  return vector.lane ? touched(*vector.lane, p) : touched(*vector.row_work, p);
}

// Random ops.

WorkItem draw_gemm(Draw& d) {
  GemmOp op;
  op.batch = d.pick(1, 3);
  op.images = d.pick(1, 2);
  op.channels = d.pick(1, 3);
  op.outputs = d.pick(1, 3);
  op.grouped = op.batch > 1 && d.coin();
  for (size_t i = 0; i < 3; ++i) {
    op.kernel[i] = d.pick(1, i == 0 ? 1 : 3);
    op.stride[i] = d.pick(1, 2);
    op.dilation[i] = d.pick(1, 2);
    op.pad[i] = d.pick(0, (op.kernel[i] - 1) * op.dilation[i]);
    op.out[i] = d.pick(1, i == 0 ? 2 : 4);
    const int64_t reach = (op.out[i] - 1) * op.stride[i] + (op.kernel[i] - 1) * op.dilation[i] + 1;
    op.in[i] = std::max<int64_t>(1, reach - op.pad[i] - d.pick(-1, op.pad[i]));
  }
  op.b_transposed = d.coin();
  if (!op.grouped) {
    op.a_shared = d.coin();
    op.b_shared = d.coin();
    op.a_transposed = d.coin();
  }
  return op;
}

WorkItem draw_lanes(Draw& d) {
  VectorOp op;
  LaneWork& w = op.lane.emplace();
  w.gather = LaneGather::sum;
  w.across = d.pick(1, 2);
  if (d.coin()) w.b_port = 1;
  int64_t a = w.across, b = 1;
  for (int64_t n = d.pick(1, 3); n-- > 0;) {
    LaneAxis axis;
    LaneSlide& s = axis.slide;
    axis.count = d.pick(1, 5);
    s.kernel = d.pick(1, 3);
    s.stride = d.pick(1, 2);
    s.dilation = d.pick(1, 2);
    s.pad = d.pick(0, (s.kernel - 1) * s.dilation);
    s.extent = std::max<int64_t>(
        1, (axis.count - 1) * s.stride + (s.kernel - 1) * s.dilation + 1 - s.pad - d.pick(-1, 1));
    s.counted_from = -s.pad * d.pick(0, 1);
    s.counted_to = s.extent - s.counted_from;
    axis.a = a;
    a *= s.extent;
    if (w.has_b() && d.coin()) {
      axis.b = b;
      b *= axis.count;
    }
    w.axes.insert(w.axes.begin(), axis);
  }
  int64_t results = 1;
  for (const LaneAxis& axis : w.axes) results *= axis.count;
  op.inputs = {{0, a, 0}};
  op.outputs = {{0, results, 0}};
  op[VectorClass::pool] = 7 * results;
  return op;
}

WorkItem draw_rows(Draw& d) {
  VectorOp op;
  RowWork& w = op.row_work.emplace();
  w.run = d.pick(1, 3);
  w.pieces = d.pick(1, 2);
  w.piece_stride = w.run + d.pick(0, 2);
  int64_t next = w.pieces * w.piece_stride, masked = next;
  if (d.coin()) w.mask = RowMask{1, 0, {}, w.piece_stride};
  if (d.coin()) w.log = RowLog{1, {}};
  int64_t log = 1;
  for (size_t l = kRowLevels; l-- > 0;) {
    w.rows[l] = d.pick(1, 3);
    w.row_stride[l] = next;
    next *= w.rows[l];
    if (w.mask && d.coin()) {
      w.mask->row_stride[l] = masked;
      masked *= w.rows[l];
    }
    if (!w.log) continue;
    w.log->row_stride[l] = log;
    log *= w.rows[l];
  }
  op.inputs = {{0, w.element_count(), 0}};
  if (w.mask) {
    w.mask->elements = masked;
    op.inputs.push_back({1, masked, 0});
  }
  op.outputs = {{0, w.element_count(), 0}};
  if (w.log) op.outputs.push_back({1, w.row_count(), 0});
  op[VectorClass::reduce] = 2 * w.element_count();
  return op;
}

/// A box of the dims that make results; of most of them all.
SpaceBox draw_box(const OpSpace& space, Draw& d) {
  SpaceBox out = space.whole_box();
  for (size_t i = 0; i < out.size(); ++i)
    if (space.dims[i].kind == DimKind::parallel && d.pick(0, 2) == 0) {
      out[i].first = d.pick(0, out[i].count - 1);
      out[i].count = d.pick(1, out[i].count - out[i].first);
    }
  return out;
}

/// Calls for every point of a box, counted from its first one.
template <class Each>
void each_point(const SpaceBox& box, const Each& each) {
  Point p(box.size(), 0);
  for (;;) {
    each(p);
    size_t carried = p.size();  // dims from here on begin anew
    for (; carried > 0; --carried) {
      if (++p[carried - 1] < box[carried - 1].count) break;
      p[carried - 1] = 0;
    }
    if (carried == 0) return;
  }
}

/// At every point of a tile, each operand's element is the one that the whole op has there.
void expect_same_elements(const WorkItem& whole, const SpaceTile& part, const OpSpace& space,
                          const SpaceBox& box) {
  std::map<OperandRole, int64_t> begin;
  for (size_t i = 0; i < space.operands.size(); ++i) {
    const SpaceOperand& o = space.operands[i];
    EXPECT_EQ(part.regions[i], region(space, o, box));
    begin[o.role] = first_element(o, part.regions[i]);
  }
  each_point(box, [&](const Point& p) {
    Point at = p;
    for (size_t i = 0; i < at.size(); ++i) at[i] += box[i].first;
    Touched got = touched(part.item, p);
    for (auto& [role, element] : got)
      if (element) *element += begin.at(role);
    ASSERT_EQ(got, touched(whole, at));
  });
}

/// Tiles of random ops; returns how many boxes were ops themselves.
template <class DrawOp>
int try_tiles(const DrawOp& draw, uint32_t seed) {
  Draw d(seed);
  int tiled = 0;
  for (int times = 0; times < 2'000; ++times) {
    const WorkItem whole = draw(d);
    const auto space = space_of(whole);
    EXPECT_TRUE(space);
    const SpaceBox box = draw_box(*space, d);
    const auto part = tile(whole, *space, box);
    if (!part) continue;
    ++tiled;
    const SpaceBox its = space_of(part->item)->whole_box();
    EXPECT_EQ(its.size(), box.size());
    for (size_t i = 0; i < its.size(); ++i) EXPECT_EQ(its[i].count, box[i].count);
    expect_same_elements(whole, *part, *space, box);
  }
  return tiled;
}

TEST(OpSpace, TilesOfProductsHaveTheElementsOfTheWhole) { EXPECT_GT(try_tiles(draw_gemm, 1), 500); }
TEST(OpSpace, TilesOfLaneOperationsHaveTheElementsOfTheWhole) {
  EXPECT_GT(try_tiles(draw_lanes, 2), 500);
}
TEST(OpSpace, TilesOfRowsHaveTheElementsOfTheWhole) { EXPECT_GT(try_tiles(draw_rows, 3), 500); }

/// What a box needs is in its region.
TEST(OpSpace, RegionsHaveWhatABoxNeeds) {
  Draw d(4);
  for (int times = 0; times < 2'000; ++times) {
    const WorkItem whole = times % 2 == 0 ? draw_gemm(d) : draw_lanes(d);
    const auto space = space_of(whole);
    const SpaceBox box = draw_box(*space, d);
    std::map<OperandRole, std::pair<int64_t, int64_t>> reach;  // first and last element
    each_point(box, [&](Point p) {
      for (size_t i = 0; i < p.size(); ++i) p[i] += box[i].first;
      for (const auto& [role, element] : touched(whole, p)) {
        if (!element) continue;
        auto& [low, high] = reach.try_emplace(role, *element, *element).first->second;
        low = std::min(low, *element);
        high = std::max(high, *element);
      }
    });
    for (const auto& [role, its] : reach) {
      const SpaceOperand& operand = *space->operand(role);
      const Region part = region(*space, operand, box);
      const int64_t first = first_element(operand, part);
      EXPECT_LE(first, its.first);
      EXPECT_GE(first + elements_spanned(operand, part) - 1, its.second);
    }
  }
}

/// Blocks of keys and tiles of matrices are cut out of tensors by it.
TEST(OpSpace, PartsOfMatricesAreIntervalsOfTheLastAxes) {
  GemmOp op;
  op.batch = 3;
  op.in[2] = op.out[2] = 7;
  op.channels = 5;
  op.outputs = 6;
  const OpSpace space = *space_of(WorkItem(op));
  const std::map<GemmDim, DimRange> cut = {
      {GemmDim::width, {1, 3}}, {GemmDim::channel, {1, 2}}, {GemmDim::output, {2, 4}}};
  SpaceBox box = space.whole_box();
  for (const auto& [dim, range] : cut) box[static_cast<size_t>(dim)] = range;
  const std::map<OperandRole, std::array<GemmDim, 2>> axes = {
      {OperandRole::a, {GemmDim::width, GemmDim::channel}},
      {OperandRole::b, {GemmDim::channel, GemmDim::output}},
      {OperandRole::result, {GemmDim::width, GemmDim::output}}};
  for (const auto& [role, dims] : axes) {
    const SpaceOperand& operand = *space.operand(role);
    const Region part = region(space, operand, box);
    for (const auto& [dim, range] : cut) {
      const auto back = operand.axis_from_back(static_cast<size_t>(dim));
      const auto at = std::ranges::find(dims, dim);
      ASSERT_EQ(back.has_value(), at != dims.end());
      if (!back) continue;
      EXPECT_EQ(*back, static_cast<size_t>(dims.end() - at));
      EXPECT_EQ(part[part.size() - *back], range);
    }
  }
}

/// Smaller products have the windows and the padding of the whole, on no more than they reach.
TEST(OpSpace, ProductsOnABoxHaveWhatItsWindowsReach) {
  Draw d(5);
  for (int times = 0; times < 2'000; ++times) {
    const GemmOp whole = std::get<GemmOp>(draw_gemm(d));
    const OpSpace space = *space_of(WorkItem(whole));
    SpaceBox box = draw_box(space, d);
    box[static_cast<size_t>(GemmDim::channel)].count = d.pick(1, whole.channels);
    const GemmOp part = product_on(whole, space, box);
    const SpaceBox its = space_of(WorkItem(part))->whole_box();
    for (size_t i = 0; i < its.size(); ++i) EXPECT_EQ(its[i].count, box[i].count);
    for (size_t i = 0; i < 3; ++i) {
      std::vector<std::optional<int64_t>> expected, got;  // coordinates from the first one met on
      const auto add_coordinates = [&](const GemmOp& op, int64_t first, auto& out) {
        std::optional<int64_t> begin;
        for (int64_t o = first; o < first + part.out[i]; ++o)
          for (int64_t k = 0; k < op.kernel[i]; ++k) {
            const int64_t at = o * op.stride[i] + k * op.dilation[i] - op.pad[i];
            const bool met = at >= 0 && at < op.in[i];
            if (met && !begin) begin = at;
            out.push_back(met ? std::optional(at - *begin) : std::nullopt);
          }
      };
      add_coordinates(whole, box[2 + i].first, expected);
      add_coordinates(part, 0, got);
      EXPECT_EQ(got, expected);
    }
  }
}

TEST(OpSpace, TilesAreNoPartsOfSums) {
  GemmOp op;
  op.channels = 8;
  op.in[2] = op.out[2] = 4;
  op.outputs = 6;
  const WorkItem item = op;
  const OpSpace space = *space_of(item);
  SpaceBox box = space.whole_box();
  box[static_cast<size_t>(GemmDim::channel)] = {0, 4};
  EXPECT_FALSE(tile(item, space, box));
  box = space.whole_box();
  box[static_cast<size_t>(GemmDim::output)] = {0, 3};
  EXPECT_FALSE(tile(item, space, box)) << "columns of a row-major matrix aren't one piece";
  box = space.whole_box();
  box[static_cast<size_t>(GemmDim::width)] = {1, 2};
  EXPECT_TRUE(tile(item, space, box));
}

}  // namespace
}  // namespace accsim::sim
