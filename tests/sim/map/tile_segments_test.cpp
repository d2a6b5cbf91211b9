#include "sim/map/tile_segments.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/base/units.h"

namespace accsim::sim {
namespace {

/// Every tile, from the definition: outputs [i * tile, ...) read inputs [first, last], clipped.
TEST(Segments, SayOfEveryTileWhatItsDefinitionSays) {
  std::mt19937 random(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 5000; ++round) {
    Slide s{.in = pick(1, 40),
            .out = pick(1, 40),
            .kernel = pick(1, 7),
            .stride = pick(1, 4),
            .dilation = pick(1, 3),
            .pad = pick(0, 12)};
    const int64_t tile = pick(1, s.out);
    Segments segments;
    split(s, tile, segments);
    int64_t i = 0;
    for (const Segment& g : segments) {
      for (int64_t k = 0; k < g.count; ++k, ++i) {
        const int64_t start = i * tile, size = std::min(tile, s.out - start);
        const int64_t first = start * s.stride - s.pad;
        const int64_t last = first + (size - 1) * s.stride + (s.kernel - 1) * s.dilation;
        const int64_t begin = std::clamp<int64_t>(first, 0, s.in - 1);
        const int64_t end = std::clamp<int64_t>(last + 1, begin + 1, s.in);
        ASSERT_EQ(g.start + k * g.step, start);
        ASSERT_EQ(g.size, size);
        ASSERT_EQ(g.in_start + k * g.in_step, begin);
        ASSERT_EQ(g.in_size, end - begin);
        ASSERT_EQ(g.origin, first - begin);
      }
    }
    ASSERT_EQ(i, ceil_div(s.out, tile));
    ASSERT_EQ(total_count(segments), i);
  }
}

TEST(Segments, TilesThatReadNoPaddingAreOneSegment) {
  Segments segments;
  split({.in = 1000, .out = 1000, .kernel = 3, .pad = 1}, 7, segments);
  EXPECT_EQ(segments.size(), 3U);  // the first, 141 inside, the ragged last
  EXPECT_EQ(segments[1].count, 141);
}

TEST(Segments, OfALengthAreTheSameAsOfASlideOfThatLength) {
  for (int64_t length = 1; length < 40; ++length)
    for (int64_t tile = 1; tile <= length; ++tile) {
      Segments slid;
      split({.in = length, .out = length}, tile, slid);
      const auto plain = split(length, tile);
      ASSERT_TRUE(std::equal(plain.begin(), plain.end(), slid.begin(), slid.end()))
          << length << " in " << tile;
    }
}

}  // namespace
}  // namespace accsim::sim
