#include "hw/engines/tiled_search.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

int64_t cycles_of(const TiledLayer& layer, const EngineMachine& machine) {
  return time_engine_program(make_tiled_program(layer, machine)->commands, machine)->count();
}

/// Every measured program fits into what the RTL has, as the RTL ran it. Least cycles are below
/// those of the RTL, and not by much where nothing is read serially: the engine that bounds a
/// program is busy most of the time.
TEST(TiledSearch, AreMeasuredProgramsAboveTheirLeast) {
  double sum = 0;
  int rows = 0;
  for (const MeasuredRow& row : measured_rows("vta_rtl.csv")) {
    const TiledLayer layer = measured_layer(row);
    const EngineMachine machine = measured_machine(row);
    EXPECT_TRUE(fits_room(layer, number(row, "n_uops"), {})) << row.at("id");
    const auto measured = static_cast<double>(number(row, "total_cycles"));
    const auto least = static_cast<double>(least_tiled_cycles(layer, machine));
    EXPECT_LE(least, measured) << row.at("id");
    if (layer.barrier) continue;
    sum += least / measured;
    ++rows;
  }
  EXPECT_GT(sum / rows, 0.75);
}

/// All programs of a small layer, one by one: none takes fewer cycles than the one that was found.
TEST(TiledSearch, IsThereNoBetterProgram) {
  const TiledLayer layer{TiledGemm{24, 48, 32, 24, 48, 32}};
  for (const int64_t latency : {1, 40}) {
    EngineMachine machine = vta_machine();
    machine.latency = latency;
    const TileRoom room{.inputs = 64, .weights = 8, .sums = 40, .outputs = 40, .micro = 12};
    std::optional<int64_t> best;
    for (const int64_t m : {1, 2, 3, 4, 6, 8, 12, 24})
      for (const int64_t k : {16, 48})
        for (const int64_t n : {16, 32})
          for (const std::string_view order : kGemmOrders)
            for (const std::string_view micro : kGemmNestings)
              for (int64_t contexts = 1; contexts <= kMostSearchContexts; ++contexts)
                for (const bool each : {false, true}) {
                  const TiledLayer one{.sizes = TiledGemm{24, 48, 32, m, k, n},
                                       .order = std::string(order),
                                       .contexts = contexts,
                                       .micro = std::string(micro),
                                       .micro_each = each};
                  const TiledProgram program = *make_tiled_program(one, machine);
                  if (!fits_room(one, program.micro_operations, room)) continue;
                  const int64_t cycles = cycles_of(one, machine);
                  EXPECT_LE(least_tiled_cycles(one, machine), cycles);
                  best = std::min(best.value_or(cycles), cycles);
                }
    const auto found = search_tiled_program(layer, machine, room);
    ASSERT_TRUE(found) << found.errors().front().text();
    EXPECT_EQ(found->cycles.count(), *best) << latency;
    EXPECT_EQ(cycles_of(found->layer, machine), *best);
    EXPECT_LT(found->timed, found->candidates);
  }
}

/// The same of a convolution whose windows reach over the border.
TEST(TiledSearch, IsThereNoBetterConvolution) {
  const TiledConvolution sizes{.height = 6,
                               .width = 6,
                               .channels = 32,
                               .kernels = 32,
                               .taps = 3,
                               .stride = 1,
                               .pad = 1,
                               .out_height = 6,
                               .out_width = 6};
  const EngineMachine& machine = vta_machine();
  std::optional<int64_t> best;
  for (const int64_t h : {1, 2, 3, 6})
    for (const int64_t w : {1, 2, 3, 6})
      for (const int64_t in : {16, 32})
        for (const int64_t out : {16, 32})
          for (const std::string_view order : kConvolutionOrders)
            for (const std::string_view micro : kConvolutionNestings)
              for (int64_t contexts = 1; contexts <= 2; ++contexts) {
                TiledConvolution tile = sizes;
                tile.tile_height = h;
                tile.tile_width = w;
                tile.tile_channels = in;
                tile.tile_kernels = out;
                const TiledLayer one{.sizes = tile,
                                     .order = std::string(order),
                                     .contexts = contexts,
                                     .micro = std::string(micro),
                                     .bias = true};
                const int64_t cycles = cycles_of(one, machine);
                EXPECT_LE(least_tiled_cycles(one, machine), cycles)
                    << h << w << in << out << order << micro << contexts;
                best = std::min(best.value_or(cycles), cycles);
              }
  const auto found = search_tiled_program(
      {.sizes = sizes, .order = "hwc", .micro = "ckk", .bias = true}, machine, {});
  ASSERT_TRUE(found) << found.errors().front().text();
  EXPECT_LE(found->cycles.count(), *best);
  EXPECT_EQ(cycles_of(found->layer, machine), found->cycles.count());
  EXPECT_TRUE(
      fits_room(found->layer, make_tiled_program(found->layer, machine)->micro_operations, {}));
  EXPECT_TRUE(found->layer.bias);
  EXPECT_FALSE(found->layer.barrier);
}

/// One tile of one step: products have the nesting "k" alone, one context and one order, and read
/// their micro-operations once or before every use.
TEST(TiledSearch, AreProgramsCounted) {
  const auto one = search_tiled_program({TiledGemm{1, 16, 16, 1, 16, 16}}, vta_machine(), {});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->candidates, 2);
  EXPECT_LE(one->timed, one->candidates);
  // 3 x 32: 1 or 3 rows, 1 or 2 blocks of columns. Tiles 1, 2, 3 and 6 have as many contexts but
  // no more than 4; tiles along both axes have two orders.
  const auto more = search_tiled_program({TiledGemm{3, 16, 32, 3, 16, 32}}, vta_machine(), {});
  ASSERT_TRUE(more);
  EXPECT_EQ(more->candidates, 2 * (1 + 2 + 3 + 4 * 2));
  EXPECT_LE(more->timed, more->candidates);
}

/// 4 x 64 x 16: 3 sizes of rows, 3 of the reduction, 1 of columns, and two nestings.
TEST(TiledSearch, AreItsLimitsKept) {
  const TiledLayer layer{TiledGemm{4, 64, 16, 4, 64, 16}};
  EXPECT_TRUE(
      search_tiled_program(layer, vta_machine(), {}, {.tilings = 3 * 3 * 2, .commands = 1 << 20}));
  for (const SearchLimits& limits : {SearchLimits{.tilings = 3 * 3 * 2 - 1, .commands = 1 << 20},
                                     SearchLimits{.tilings = 3 * 3 * 2, .commands = 1}}) {
    const auto found = search_tiled_program(layer, vta_machine(), {}, limits);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.errors().front().code, Errc::capacity);
  }
}

TEST(TiledSearch, IsALayerThatNeverFitsRefused) {
  const auto found = search_tiled_program({TiledGemm{}}, vta_machine(), {.weights = 0});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.errors().front().code, Errc::capacity);
}

}  // namespace
}  // namespace accsim::hw
