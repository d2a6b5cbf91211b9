#include "hw/engines/tiled_layer.h"

#include <gtest/gtest.h>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

/// Where a refusal says that the mistake is.
std::string refused(const TiledLayer& layer) {
  const Result<TiledProgram> program = make_tiled_program(layer, vta_machine());
  return program ? "" : program.errors().front().where;
}

TEST(TiledLayer, AreTilesThatAreNotWholeRefused) {
  EXPECT_EQ(refused({TiledGemm{16, 32, 16, 16, 16, 16}}), "");
  EXPECT_EQ(refused({TiledGemm{16, 32, 16, 5, 16, 16}}), "rows");
  EXPECT_EQ(refused({TiledGemm{16, 32, 16, 16, 8, 16}}), "inner");
  EXPECT_EQ(refused({TiledGemm{16, 32, 16, 16, 16, 0}}), "columns");
  TiledLayer layer{TiledGemm{}};
  layer.order = "hw";
  EXPECT_EQ(refused(layer), "order");
  layer = {TiledGemm{}};
  layer.micro = "ckk";
  EXPECT_EQ(refused(layer), "micro");
  layer = {TiledGemm{}};
  layer.contexts = 0;
  EXPECT_EQ(refused(layer), "contexts");
}

TEST(TiledLayer, AreWindowsOutsideTheInputRefused) {
  TiledLayer layer{TiledConvolution{
      .height = 4, .width = 4, .taps = 3, .pad = 1, .out_height = 4, .out_width = 4}};
  layer.order = "hwc";
  layer.micro = "ckk";
  EXPECT_EQ(refused(layer), "");
  std::get<TiledConvolution>(layer.sizes).pad = 3;
  EXPECT_EQ(refused(layer), "out_height");
  std::get<TiledConvolution>(layer.sizes).pad = 0;
  EXPECT_EQ(refused(layer), "out_height");
}

/// What nobody could make is refused before anything is made.
TEST(TiledLayer, AreLayersThatAreTooLargeRefused) {
  constexpr int64_t kLarge = 1 << 20;
  EXPECT_EQ(refused({TiledGemm{kLarge, kLarge, 16, 1, 16, 16}}), "tiles");
  TiledLayer layer{TiledConvolution{.height = kLarge,
                                    .width = kLarge,
                                    .channels = kLarge,
                                    .kernels = kLarge,
                                    .taps = kLarge,
                                    .stride = kLarge,
                                    .pad = kLarge - 1}};
  layer.order = "hwc";
  layer.micro = "ckk";
  layer.contexts = kLarge;
  EXPECT_EQ(refused(layer), "tiles");
  std::get<TiledConvolution>(layer.sizes) = {.height = kLarge,
                                             .width = kLarge,
                                             .kernels = kLarge,
                                             .out_height = kLarge,
                                             .out_width = kLarge,
                                             .tile_height = kLarge,
                                             .tile_width = kLarge,
                                             .tile_kernels = kLarge};
  EXPECT_EQ(refused(layer), "tiles");
}

/// Of a window of 3 x 3 that lies in the corner of an image, one row and one column are padding.
TEST(TiledLayer, IsTheBorderOfAWindowPadded) {
  const TiledConvolution sizes{
      .height = 4, .width = 4, .taps = 3, .pad = 1, .out_height = 4, .out_width = 4};
  const auto layout = make_convolution_layout(sizes, "ckk");
  const auto padding = [&](int64_t row, int64_t column) {
    return layout->loads({0, row, column, 0}, 0).front().padding;
  };
  EXPECT_EQ(padding(0, 0), (ReadPadding{1, 3 + 2, 0, 0}));
  EXPECT_EQ(padding(1, 1), ReadPadding{});
  EXPECT_EQ(padding(3, 0), (ReadPadding{0, 2, 0, 3}));
  EXPECT_EQ(padding(3, 1), (ReadPadding{0, 0, 2, 3}));
}

/// 16 x 16 x 16 in one tile: micro-operations, sums cleared, two loads, a product, three commands
/// on the results, a store, the end.
TEST(TiledLayer, HasASmallProductTenCommands) {
  const TiledProgram program = *make_tiled_program({TiledGemm{}}, vta_machine());
  std::vector<int64_t> kinds;
  for (const EngineCommand& command : program.commands) kinds.push_back(command.kind);
  using namespace tiled;
  EXPECT_EQ(kinds, (std::vector<int64_t>{kUop, kGemmReset, kInp, kWgt, kGemm, kAluImm, kAluImm,
                                         kAluImm, kStore, kFinish}));
  EXPECT_EQ(program.micro_operations, 1);  // all kernels are the same
}

}  // namespace
}  // namespace accsim::hw
