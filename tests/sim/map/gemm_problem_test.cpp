#include "sim/map/product/gemm_problem.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/program/contract.h"
#include "sim/map/product/gemm_options.h"
#include "sim/map/product/heuristic_tiling.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

/// Lines of a kernel that the lanes from `first` on read together, as a window of contiguous
/// elements lies there.
int64_t lines_read(const Passes& cut, int64_t first) {
  const int64_t last = std::min(first + cut.lanes, cut.flat) - 1;
  return last / cut.line - first / cut.line + 1;
}

/// Four lines of a window lie in different banks; of lines an even number apart only two, or one.
TEST(Passes, ReadNoMoreLinesThanBanksWhereverTheyBegin) {
  const hw::HwConfig hw = test::small_machine(64, 64);
  int shortened = 0, whole = 0;
  for (int64_t kernel = 1; kernel <= 9; ++kernel)
    for (int64_t channels = 1; channels <= 40; ++channels)
      for (const int64_t dilation : {1, 2, 3, 4}) {
        GemmOp op = test::convolution({.channels = channels, .size = 60, .kernel = kernel});
        op.dilation[1] = dilation;
        op.out[1] = 60 - (kernel - 1) * dilation;
        const Passes cut = array_passes(make_problem(op, hw), hw, channels, false);
        const int64_t banks = dilation % 4 == 0   ? 1
                              : dilation % 2 == 0 ? 2
                                                  : hw::contract::kWindowLines;
        ASSERT_EQ(cut.outer * cut.flat, kernel * kernel * channels);
        if (cut.by_line) continue;
        for (int64_t first = 0; first < cut.flat; first += cut.lanes)
          ASSERT_LE(lines_read(cut, first), banks)
              << kernel << " x " << kernel << " of " << channels << ", lane " << first;
        shortened += cut.lanes < std::min<int64_t>(64, cut.flat);
        whole += cut.lanes == 64;
      }
  EXPECT_GT(shortened, 20);
  EXPECT_GT(whole, 100);
}

/// A second operand that is computed is read as weights are, whatever its tensor's elements take.
TEST(Problem, HasPitchesInTheElementsThatItReads) {
  hw::HwConfig hw = test::small_machine();
  hw.types.activation = DType::int16;
  OpRequest r;
  r.item = test::product(10, 6, 4);
  r.inputs = {{{"a", hw::MemoryId::dram, false, {}, {12, 40}}, 2},
              {{"b", hw::MemoryId::dram, false, {}, {8, 20}}, 2}};
  r.outputs = {{{"y", hw::MemoryId::dram, false, {}, {8, 12}}, 2}};
  const GemmProblem p = GemmSource::of_request(std::get<GemmOp>(r.item), r, hw);
  EXPECT_EQ(p.a.pitch, (Pitch{12, 40}));
  EXPECT_EQ(p.b.pitch, (Pitch{4, 10}));
  EXPECT_EQ(p.out.pitch, (Pitch{8, 12}));
}

TEST(Problem, HasTheBytesOfItsTensors) {
  const hw::HwConfig hw = test::small_machine();
  GemmOp op = test::product(10, 6, 4);
  op.batch = 3;
  const auto bytes = [&] { return make_problem(op, hw).tensor_bytes(); };
  const int64_t moved = 3 * (10 * 6 + 10 * 4);
  EXPECT_EQ(bytes(), moved + 3 * 6 * 4);
  op.b_shared = true;
  EXPECT_EQ(bytes(), moved + 6 * 4);
  op.a_shared = true;
  EXPECT_EQ(bytes(), 10 * 6 + 3 * 10 * 4 + 6 * 4);
}

/// Of packed groups each output has the weights of its own group's channels.
TEST(Problem, HoldsTheWeightsOfPackedGroupsOnce) {
  const hw::HwConfig hw = test::small_machine(16, 16);
  const GemmOp op = test::convolution(
      {.channels = 24, .size = 9, .outputs = 36, .kernel = 3, .pad = 1, .groups = 12});
  const GemmProblem p = make_problem(op, hw);
  for (const int64_t groups : {1, 2, 4}) {
    const Tiling t{
        .lines = 2, .pixels = 9, .groups = groups, .outputs = 3 * groups, .channels = 2 * groups};
    const Footprint f = tiling_footprint(p, hw, t);
    EXPECT_EQ(f.weight, groups * (3 * 3 * 2) * 3);
    EXPECT_EQ(f.activation, (4 * 9) * 2 * groups);  // padding isn't held: 4 of the 9 lines
    EXPECT_EQ(f.output, 2 * 9 * 3 * groups);
  }
}

/// Images lie one behind the other: a tile has several only where it has all of each, and volumes
/// are worked off plane by plane.
TEST(Images, ShareATileWhereTheyAreWholeAndFlat) {
  const hw::HwConfig hw = test::small_machine();
  const auto most = [&](const GemmOp& op) {
    int64_t images = 1;
    const GemmProblem p = make_problem(op, hw);
    for (const hw::Dataflow d : {hw::Dataflow::weight_stationary, hw::Dataflow::input_stationary}) {
      for (const PixelOption& o : pixel_options(p, hw, d, {})) {
        images = std::max(images, o.images);
        if (o.images > 1) {
          EXPECT_EQ(o.lines * o.pixels, op.out[1] * op.out[2]);
        }
      }
      const auto ruled = heuristic_tiling(p, hw, d);
      if (!ruled) {
        ADD_FAILURE() << "no tiling";
        continue;
      }
      EXPECT_EQ(ruled->images > 1, op.out[0] == 1 && op.in[0] == 1);
    }
    return images;
  };
  GemmOp op = test::convolution({.images = 64, .channels = 4, .size = 2, .outputs = 4});
  EXPECT_EQ(most(op), 64);
  op.in[0] = op.out[0] = 3;
  EXPECT_EQ(most(op), 1);
  op.out[0] = 1;
  op.kernel[0] = 3;
  EXPECT_EQ(most(op), 1);
}

}  // namespace
}  // namespace accsim::sim
