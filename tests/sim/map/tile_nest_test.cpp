#include "sim/map/product/tile_nest.h"

#include <gtest/gtest.h>

#include "sim/base/units.h"

namespace accsim::sim {
namespace {

constexpr TileDimSet kPixels = (1U << kImage) | (1U << kZ) | (1U << kY) | (1U << kX);

/// Three groups of 7 channels and 10 outputs, of a plain product of 100 pixels.
GemmProblem product() {
  GemmProblem p;
  p.op.batch = 3;
  p.op.grouped = true;
  p.op.channels = 7;
  p.op.outputs = 10;
  p.x.in = p.x.out = 100;
  return p;
}

/// What doesn't depend on a loop that loops is loaded outside it; where none loops, outside all.
TEST(TileNest, HasOperandsInsideTheInnermostLoopTheyDependOn) {
  const GemmProblem p = product();
  Tiling t{.pixels = 30, .outputs = 4, .channels = 7};
  const TileNest<hw::Affine> nest(p, t);  // batch, image, z, y, x, n, c
  EXPECT_EQ(nest.level_of(kPixels), 5u);
  EXPECT_EQ(nest.level_of(dim_bit(kN) | dim_bit(kC)), 6u) << "channels are one tile";
  EXPECT_EQ(nest.level_of(dim_bit(kC)), 0u);
  t.outputs_outer = true;  // batch, n, image, z, y, x, c
  const TileNest<hw::Affine> outer(p, t);
  EXPECT_EQ(outer.level_of(dim_bit(kN) | dim_bit(kC)), 2u);
  EXPECT_EQ(outer.level_of(kPixels), 6u);
}

/// In a loop a tile starts where its iterator says, and those inside are on their first tiles.
TEST(TileNest, EntersATileWithAllThatIsInsideRewound) {
  const GemmProblem p = product();
  const Tiling t{.pixels = 30, .outputs = 4, .channels = 7};
  TileNest<hw::Affine> nest(p, t);
  const Segments pixels = nest.segments_of(kX), outputs = nest.segments_of(kN);
  ASSERT_EQ(pixels.size(), 2u) << "three of 30, and 10";
  ASSERT_EQ(outputs.size(), 2u) << "two of 4, and 2";
  nest.enter(5, outputs[1], hw::Affine(outputs[1].start), -1);
  EXPECT_EQ(nest.current_tile().outputs, 2);
  hw::Affine start(0);
  start.add_term(9, 30);
  nest.enter(4, pixels[0], start, 9);
  EXPECT_EQ(nest.current_tile().pixel_count(), 30);
  EXPECT_EQ(nest.current_tile().outputs, 4) << "inside, so rewound";
  EXPECT_EQ(nest.at(kX).loop, 9);
  EXPECT_EQ(nest.at(kX).start, start);
  EXPECT_EQ(nest.at(kX).in_start, start) << "a plain product reads the pixels that it writes";
}

/// A pack has the outputs and channels of its groups; the last one those that are left.
TEST(TileNest, HasOutputsOfThePack) {
  const GemmProblem p = product();
  const Tiling t{.pixels = 100, .groups = 2, .outputs = 20, .channels = 14};
  TileNest<hw::Affine> nest(p, t);
  EXPECT_EQ(nest.current_tile().outputs, 2 * 10);
  const Segment last = nest.segments_of(kBatch).back();
  nest.enter(0, last, hw::Affine(last.start), -1);
  EXPECT_EQ(nest.current_tile().groups, 1);
  EXPECT_EQ(nest.current_tile().outputs, 10);
  EXPECT_EQ(nest.current_tile().channels, 7);
}

/// Each of the pixels once and in order, the first and the last tile alone, where there is more
/// than one.
TEST(TileNest, PartsFirstAndLastPixels) {
  for (const int64_t tile : {100, 50, 30, 25, 1}) {
    const GemmProblem p = product();
    const Tiling t{.pixels = tile, .outputs = 10, .channels = 7};
    TileNest<hw::Affine> nest(p, t);
    EXPECT_EQ(nest.part_first_and_last_pixels(), kX);
    const Segments& cut = nest.segments_of(kX);
    EXPECT_EQ(cut.front().count, 1) << tile;
    EXPECT_EQ(cut.back().count, 1) << tile;
    EXPECT_EQ(total_count(cut), ceil_div(100, tile));
    int64_t next = 0;
    for (const Segment& s : cut) {
      EXPECT_EQ(s.start, next) << tile;
      EXPECT_EQ(s.in_start, next) << tile;
      next += s.count > 1 ? s.count * s.step : s.size;
    }
    EXPECT_EQ(next, 100) << tile;
  }
}

}  // namespace
}  // namespace accsim::sim
