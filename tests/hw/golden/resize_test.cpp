#include <gtest/gtest.h>

#include <cmath>

#include "tests/hw/golden/draws.h"
#include "tests/hw/golden/lane_program.h"
#include "tests/support/index.h"

namespace accsim::hw {
namespace {

using test::as_index;
using test::Draws;
using test::LaneProgram;
using test::outputs;

/// An image of so many lines of so many pixels of so many channels.
struct Size {
  int64_t lines, pixels, channels;
  int64_t line() const { return pixels * channels; }
  int64_t bytes() const { return lines * line(); }
};

/// Section "Resize" of docs/vector-arithmetic.md: nearest, by `up` for every `down` of the source.
LaneProgram nearest(const Size& in, int64_t up, int64_t down, std::vector<int> a) {
  LaneProgram p{std::move(a), {}, {}};
  const int64_t out_line = in.line() * up / down;
  const bool whole = down == 1;  // a source pixel again and again: one command
  for (int64_t y = 0; y < (whole ? 1 : up); ++y)
    for (int64_t x = 0; x < (whole ? 1 : up); ++x) {
      LaneCommand c;
      c.rows = {in.lines / down, whole ? up : 1, in.pixels / down, whole ? up : 1};
      c.run = in.channels;
      c.a.offset = Affine(y * down / up * in.line() + x * down / up * in.channels);
      c.a.row_stride = {down * in.line(), 0, down * in.channels, 0};
      c.slot_offset = Affine(y * out_line + x * in.channels);
      c.out_stride = {up * out_line, out_line, up * in.channels, in.channels};
      p.commands.push_back({c});
    }
  return p;
}

TEST(Resize, IsNearestTheSourcePixelBelowTheScaledPlace) {
  Draws draws(1);
  const std::array<std::pair<int64_t, int64_t>, 5> factors = {
      {{2, 1}, {3, 1}, {3, 2}, {2, 3}, {5, 4}}};
  for (const auto& [up, down] : factors) {
    const Size in{down * draws.pick(1, 3), down * draws.pick(1, 3), draws.pick(1, 5)};
    const Size out{in.lines * up / down, in.pixels * up / down, in.channels};
    const std::vector<int> a = draws.bytes(in.bytes());
    std::vector<int> want;
    const double scale = static_cast<double>(down) / static_cast<double>(up);
    for (int64_t y = 0; y < out.lines; ++y)
      for (int64_t x = 0; x < out.pixels; ++x)
        for (int64_t c = 0; c < in.channels; ++c) {
          const auto from = [&](int64_t to) {
            return static_cast<int64_t>(std::floor(static_cast<double>(to) * scale + 1e-9));
          };
          want.push_back(a[as_index(from(y) * in.line() + from(x) * in.channels + c)]);
        }
    EXPECT_EQ(outputs(nearest(in, up, down, a), out.bytes()), want) << up << " / " << down;
  }
}

/// Linear by two, of `n` pieces of `run` bytes, one behind the other, in each of `outer`.
LaneProgram doubled(int64_t outer, int64_t n, int64_t run, std::vector<int> a) {
  LaneProgram p{std::move(a), {}, {}};
  const auto add = [&](int64_t from, int64_t other, int64_t to, int64_t count) {
    LaneCommand c;
    c.rows = {1, 1, outer, count};
    c.run = run;
    c.a.offset = Affine(from * run);
    c.a.row_stride = {0, 0, n * run, run};
    c.slot_offset = Affine(to * run);
    c.out_stride = {0, 0, 2 * n * run, 2 * run};
    if (other != from) {
      c.op = LaneOp::add;
      c.b = c.a;
      c.b->offset = Affine(other * run);
      c.a.multiplier = 3;
      c.shift = 2;
    }
    p.commands.push_back({c});
  };
  add(0, 0, 0, 1);
  add(n - 1, n - 1, 2 * n - 1, 1);
  if (n == 1) return p;
  add(1, 0, 2, n - 1);
  add(0, 1, 1, n - 1);
  return p;
}

/// What lies at `place` of a line of pieces, limited to it, pieces `stride` apart from `first` on.
double between(const std::vector<double>& v, int64_t first, int64_t stride, int64_t n,
               double place) {
  const double inside = std::fmin(std::fmax(place, 0), static_cast<double>(n - 1));
  const auto low = static_cast<int64_t>(inside);
  const int64_t high = std::min(low + 1, n - 1);
  const double part = inside - static_cast<double>(low);
  return v[as_index(first + low * stride)] * (1 - part) + v[as_index(first + high * stride)] * part;
}

/// Linear by two along pieces of `run`, without rounding: output i lies at (i + 1/2) / 2 - 1/2.
std::vector<double> twice(const std::vector<double>& v, int64_t outer, int64_t n, int64_t run) {
  std::vector<double> out;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < 2 * n; ++i)
      for (int64_t e = 0; e < run; ++e)
        out.push_back(
            between(v, o * n * run + e, run, n, (static_cast<double>(i) + 0.5) / 2 - 0.5));
  return out;
}

TEST(Resize, IsLinearOneDimensionAtATimeEachRounded) {
  Draws draws(2);
  for (int round = 0; round < 40; ++round) {
    const Size in{draws.pick(1, 5), draws.pick(1, 5), draws.pick(1, 4)};
    const std::vector<int> a = draws.bytes(in.bytes());
    const std::vector<int> tall = outputs(doubled(1, in.lines, in.line(), a), 2 * in.bytes());
    const std::vector<int> got =
        outputs(doubled(2 * in.lines, in.pixels, in.channels, tall), 4 * in.bytes());
    const std::vector<double> exact(a.begin(), a.end());
    std::vector<double> lines = twice(exact, 1, in.lines, in.line());
    const std::vector<double> unrounded = twice(lines, 2 * in.lines, in.pixels, in.channels);
    for (double& v : lines) v = std::round(v);
    std::vector<int> want;
    for (const double v : twice(lines, 2 * in.lines, in.pixels, in.channels))
      want.push_back(static_cast<int>(std::round(v)));
    EXPECT_EQ(got, want);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_LE(std::fabs(got[i] - unrounded[i]), 1);
  }
}

}  // namespace
}  // namespace accsim::hw
