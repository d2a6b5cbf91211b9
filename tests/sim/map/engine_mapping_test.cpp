#include "sim/map/product/engine_mapping.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/map/mapper.h"
#include "tests/support/gemms.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

hw::HwConfig nv_small() { return *hw::load_hw(kSource + "/configs/known/nvdla-nv-small.yaml"); }

OpRequest request(const GemmOp& op, bool constant_weights = true) {
  OpRequest r;
  r.item = op;
  r.inputs = {{{"a", hw::MemoryId::dram, false}, 1},
              {{"b", hw::MemoryId::dram, constant_weights}, 1}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  return r;
}

Result<Mapping> mapped(const OpRequest& r, const hw::HwConfig& hw, MapOptions options = {}) {
  return Mapper(hw, std::move(options)).choose_mapping(r, "layer");
}
int64_t cycles_of(const OpRequest& r, const hw::HwConfig& hw) {
  const Result<Mapping> found = mapped(r, hw);
  EXPECT_TRUE(found.ok()) << (found ? "" : found.errors().front().text());
  return found ? found->timing.total.count() : 0;
}

/// Cycles of one convolution whose channels all fit.
int64_t alone(const hw::Convolution& c, const hw::HwConfig& hw) {
  return search_division(c, engine_of(hw))->cycles.count();
}

TEST(EngineMapping, IsAConvolutionTimedAsTheEngineDoes) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op = test::convolution(
      {.channels = 20, .size = 15, .outputs = 33, .kernel = 3, .stride = 2, .pad = 1});
  const hw::Convolution c{{15, 15, 20, 33, 3, 3, 8, 8}, 2, 3, 1};
  EXPECT_EQ(cycles_of(request(op), hw), alone(c, hw));
}

TEST(EngineMapping, IsTheDivisionOfTheBanksPinned) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op =
      test::convolution({.channels = 64, .size = 14, .outputs = 64, .kernel = 3, .pad = 1});
  MapOptions options;
  options.pins = {*parse_pin("b8x3")};
  const Result<Mapping> found = mapped(request(op), hw, options);
  ASSERT_TRUE(found.ok());
  const hw::Convolution c{{14, 14, 64, 64, 3, 3, 14, 14}, 1, 3, 1};
  EXPECT_EQ(found->timing.total, divide(c, {8, 3}, engine_of(hw))->cycles);
  EXPECT_EQ(found->description, "1 layer, banks 8 + 3");
  options.pins = {*parse_pin("b8x25")};
  EXPECT_FALSE(mapped(request(op), hw, options).ok());
  options.pins = {*parse_pin("ws")};
  const Result<Mapping> refused = mapped(request(op), hw, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().front().code, Errc::usage);
  EXPECT_NE(refused.errors().front().message.find("bFEATURESxWEIGHTS"), std::string::npos);
}

TEST(EngineMapping, IsTheDivisionThatOfTheCompilerByRule) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op =
      test::convolution({.channels = 64, .size = 56, .outputs = 64, .kernel = 3, .pad = 1});
  const hw::Convolution c{{56, 56, 64, 64, 3, 3, 56, 56}, 1, 3, 1};
  MapOptions options;
  options.effort = MapEffort::rule;
  const Result<Mapping> found = mapped(request(op), hw, options);
  ASSERT_TRUE(found.ok());
  const hw::BankDivision banks = *compiler_division(c, engine_of(hw));
  EXPECT_EQ(found->timing.total, divide(c, banks, engine_of(hw))->cycles);
  EXPECT_GT(found->timing.total.count(), alone(c, hw));
}

/// Groups run one by one, or several as one with zeros between them: whichever is faster.
TEST(EngineMapping, AreGroupsOfADepthwiseConvolutionPutTogether) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op = test::convolution(
      {.channels = 24, .size = 14, .outputs = 24, .kernel = 3, .pad = 1, .groups = 24});
  const auto groups = [&](int64_t n) { return alone({{14, 14, n, n, 3, 3, 14, 14}, 1, 3, 1}, hw); };
  const int64_t eights = 3 * groups(8);
  EXPECT_LT(eights, 24 * groups(1));
  EXPECT_EQ(cycles_of(request(op), hw), std::min({24 * groups(1), 12 * groups(2), 6 * groups(4),
                                                  eights, groups(16) + groups(8), groups(24)}));
  EXPECT_EQ(cycles_of(request(op, false), hw), 24 * groups(1));  // no zeros between what comes
}

/// A line is a column: its rows are lines, of which parts are made. wav2vec's first layer.
TEST(EngineMapping, AreConvolutionsOfOneLineUpright) {
  const hw::HwConfig hw = nv_small();
  GemmOp op;
  op.in = {1, 1, 16000};
  op.out = {1, 1, 3199};
  op.kernel = {1, 1, 10};
  op.stride = {1, 1, 5};
  op.channels = 1;
  op.outputs = 512;
  EXPECT_EQ(cycles_of(request(op), hw), alone({{1, 16000, 1, 512, 1, 10, 1, 3199}, 5, 10, 0}, hw));
  op.in = {1, 1, 300}, op.out = {1, 1, 148};
  op.kernel[2] = 3, op.stride[2] = 2, op.dilation[2] = 3, op.pad[2] = 1;
  EXPECT_EQ(cycles_of(request(op), hw), alone({{1, 300, 1, 512, 1, 3, 1, 148}, 2, 7, 1}, hw));
}

/// Output planes are layers, planes of a kernel channels; each image has layers of its own.
TEST(EngineMapping, ArePlanesAndImagesLayersOfTheirOwn) {
  const hw::HwConfig hw = nv_small();
  GemmOp op = test::convolution({.channels = 6, .size = 9, .outputs = 10, .kernel = 3});
  const int64_t flat = alone({{9, 9, 6, 10, 3, 3, 7, 7}, 1, 3, 0}, hw);
  op.images = 4;
  EXPECT_EQ(cycles_of(request(op), hw), 4 * flat);
  op.in[0] = 5, op.out[0] = 4, op.kernel[0] = 2;
  EXPECT_EQ(cycles_of(request(op), hw), 16 * alone({{9, 9, 12, 10, 3, 3, 7, 7}, 1, 3, 0}, hw));
}

/// What is added is read behind the layer, at 4 bytes per cycle.
TEST(EngineMapping, IsAResidualReadBehindTheLayer) {
  const hw::HwConfig hw = nv_small();
  OpRequest r = request(test::convolution({.channels = 8, .size = 6, .outputs = 8, .kernel = 1}));
  const int64_t without = cycles_of(r, hw);
  r.inputs.push_back({{"c", hw::MemoryId::dram, false}, 1});
  r.residual = 2;
  EXPECT_EQ(cycles_of(r, hw), without + 36 * 8 / 4);
}

TEST(EngineMapping, HasNoDataflows) {
  MapOptions options;
  options.dataflows = {hw::Dataflow::output_stationary};
  const Result<Mapping> refused = mapped(request(test::product(8, 8, 8)), nv_small(), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().front().code, Errc::usage);
}

/// A row of a product is a line of one output.
TEST(EngineMapping, AreProductsConvolutionsOfOneColumn) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op = test::product(100, 72, 40);
  EXPECT_EQ(cycles_of(request(op), hw), alone({{1, 100, 72, 40, 1, 1, 1, 100}, 1, 1, 0}, hw));
}

/// Weights of 8 kernels of 25,088 channels take 49 banks of 4 KiB, and there are 32. Sums of all
/// parts but the last leave and come back, 4 bytes each, in place of their results.
TEST(EngineMapping, AreChannelsCutThatNoKernelGroupFits) {
  const hw::HwConfig hw = nv_small();
  const auto part = [&](int64_t channels) {
    return alone({{1, 1, channels, 10, 1, 1, 1, 1}, 1, 1, 0}, hw);
  };
  const GemmOp op = test::product(1, 25088, 10);
  EXPECT_FALSE(search_division({{1, 1, 25088, 10, 1, 1, 1, 1}, 1, 1, 0}, engine_of(hw)).ok());
  const int64_t sums = 10 * 4 / 4;  // cycles to write those of a part, and to read them
  EXPECT_EQ(cycles_of(request(op), hw), 2 * part(25088 / 2) + 2 * sums);
  const Result<Mapping> found = mapped(request(op), hw);
  EXPECT_EQ(found->counts.written[hw::MemoryId::dram], Bytes(16 + 10 * 4));  // two atoms of 8
  const Bytes weights(2 * 12544 * 10), features(25088);
  EXPECT_EQ(found->counts.read[hw::MemoryId::dram], weights + features + Bytes(10 * 4));
}

/// A line of 20,000 columns of 8 channels is 160,000 bytes, more than the buffer. Two halves of
/// 10,000 outputs read 10,002 columns each, three lines of which don't fit; four of 5,000 do.
TEST(EngineMapping, AreLinesThatDontFitCutByColumns) {
  const hw::HwConfig hw = nv_small();
  GemmOp op = test::convolution({.channels = 3, .size = 6, .outputs = 8, .kernel = 3, .pad = 1});
  op.in[2] = op.out[2] = 20000;
  EXPECT_EQ(cycles_of(request(op), hw), 4 * alone({{5002, 6, 3, 8, 3, 3, 5000, 6}, 1, 3, 1}, hw));
  op.in[2] = op.out[2] = 20001;  // 5,001 columns, and 4,998 in the last part
  EXPECT_EQ(cycles_of(request(op), hw), 3 * alone({{5003, 6, 3, 8, 3, 3, 5001, 6}, 1, 3, 1}, hw) +
                                            alone({{5000, 6, 3, 8, 3, 3, 4998, 6}, 1, 3, 1}, hw));
}

TEST(EngineMapping, IsWhatWouldTakeVeryLongRefusedAtOnce) {
  const Result<Mapping> refused =
      mapped(request(test::product(1 << 16, 1 << 16, 1 << 16)), nv_small());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors().front().message.find("kernel groups in all parts"), std::string::npos);
}

TEST(EngineMapping, CountsWhatIsReadWrittenAndComputed) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op =
      test::convolution({.channels = 20, .size = 6, .outputs = 9, .kernel = 3, .pad = 1});
  const Result<Mapping> found = mapped(request(op), hw);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->counts.macs, Macs(36 * 20 * 9 * 9));
  EXPECT_EQ(found->counts.array_macs, Macs(36 * 24 * 9 * 16));
  // Features in atoms of 8 channels; weights of 9 x 180 bytes, padded to 128.
  EXPECT_EQ(found->counts.read[hw::MemoryId::dram], Bytes(36 * 24 + 13 * 128));
  EXPECT_EQ(found->counts.written[hw::MemoryId::dram], Bytes(36 * 16));
  EXPECT_FALSE(found->has_program());
  EXPECT_EQ(found->unverifiable, "rows of dot products");
}

/// Every cycle belongs to blocks or to what is waited for.
TEST(EngineMapping, AreCyclesOfBlocksOrOfWaits) {
  hw::HwConfig hw = nv_small();
  const auto waits = [&](const GemmOp& op) { return mapped(request(op), hw)->counts.engine; };
  // 16 groups of 2 x 9 blocks for 196 outputs: 11 stripes of 16, then 8 and 12.
  const GemmOp conv =
      test::convolution({.channels = 16, .size = 14, .outputs = 128, .kernel = 3, .pad = 1});
  const int64_t blocks = 16 * 18 * 196;
  const hw::EngineWaits of_conv = waits(conv);
  EXPECT_EQ(of_conv.reads + of_conv.outputs, cycles_of(request(conv), hw) - blocks);
  EXPECT_GE(of_conv.reads, (196 * 16) / 4);  // all features come first, 4 bytes per cycle
  // A row by a matrix is bound by its reads: 512 blocks of 8 cycles for 32 KiB.
  const GemmOp row = test::product(1, 512, 64);
  EXPECT_GE(waits(row).reads, 512 * 64 / 4 - 512 * 8);
  EXPECT_EQ(waits(row).loads, 0);
  hw.array.engine.kernel_cycles = 3;  // 24 cycles to load what lasts 8
  EXPECT_EQ(waits(row).loads, 512 * (24 - 8));
}

/// Where an answer takes less than its read, the last read takes its cycles, too.
TEST(EngineMapping, IsNoLayerBelowItsReads) {
  hw::HwConfig hw = nv_small();
  hw.dram.latency = 0;
  hw.dram.read = hw::ByteRate{50};  // a byte in 20 cycles
  hw::DotProductEngine& e = hw.array.engine;
  e.weight_start = e.feature_start = e.feature_latency = 0;
  e.issue_to_atom = e.atom_to_place = e.atom_to_write = 0;
  const Result<Mapping> found = mapped(request(test::product(1, 8, 8)), hw);
  ASSERT_TRUE(found.ok());
  EXPECT_GE(found->timing.total.count(),
            hw.dram.read.cycles(found->counts.read[hw::MemoryId::dram].count()));
}

/// With `reread` each part of a layer reads its weights.
TEST(EngineMapping, AreWeightsOfPartsReadAgainWhereItIsPinned) {
  const hw::HwConfig hw = nv_small();
  const GemmOp op = test::convolution({.channels = 96, .size = 56, .outputs = 24, .kernel = 1});
  const auto read = [&](const char* pin) {
    MapOptions options;
    options.pins = {*parse_pin(pin)};
    return mapped(request(op), hw, options)->counts.read[hw::MemoryId::dram];
  };
  EXPECT_EQ(read("b31x1 reread") - read("b31x1"), Bytes(2 * 96 * 24));  // 3 parts of 23 lines
  MapOptions alone;
  alone.pins = {*parse_pin("reread")};
  EXPECT_EQ(mapped(request(op), hw, alone).errors().front().code, Errc::usage);
}

TEST(EngineMapping, DoSystolicMachinesRefuseBanks) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  MapOptions options;
  options.pins = {*parse_pin("b8x3")};
  const Result<Mapping> refused = mapped(request(test::product(8, 8, 8)), hw, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors().front().message.find("pins banks"), std::string::npos);
}

}  // namespace
}  // namespace accsim::sim
