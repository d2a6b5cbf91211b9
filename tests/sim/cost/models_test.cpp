#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kTree = kSource;

json read_json(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  return json::parse(in);
}

hw::HwConfig machine(const std::string& name) {
  auto hw = hw::load_hw((kTree / "configs" / (name + ".yaml")).string());
  EXPECT_TRUE(hw.ok());
  return *hw;
}

CostedNetwork cost(const fs::path& model, const hw::HwConfig& hw,
                   const ElaborateOptions& options = {}) {
  ElaborateOptions sized = options;
  sized.bindings.emplace(kAllOthers, 1);
  const auto graph = load_graph(model.string(), sized);
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  auto network = cost_network(*graph, hw, {});
  EXPECT_TRUE(network.ok()) << network.errors().front().text();
  return std::move(*network);
}

std::vector<fs::path> models() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(kTree / "models"))
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<fs::path> measured_models() {
  const json truth = read_json(kTree / "tests/data/truth/expected.json");
  std::vector<fs::path> out = models();
  std::erase_if(out, [&](const fs::path& m) { return !truth.contains(m.stem().string()); });
  return out;
}

std::string model_name(const testing::TestParamInfo<fs::path>& model) {
  return model.param.stem().string();
}

class MeasuredModel : public testing::TestWithParam<fs::path> {};

TEST_P(MeasuredModel, HasTheTruthsParametersAndMacs) {
  const json truth = read_json(kTree / "tests/data/truth/expected.json");
  const std::string name = GetParam().stem().string();
  const CostedNetwork network = cost(GetParam(), machine("64x64"));
  EXPECT_EQ(network.report.params, truth[name]["params"].get<int64_t>());
  EXPECT_EQ(network.report.buffers, truth[name]["buffers"].get<int64_t>());
  EXPECT_EQ(network.report.nodes, truth[name]["nodes"].get<int64_t>());
  if (!truth[name].contains("macs")) return;  // symbolic dims: measured at other sizes
  EXPECT_EQ(network.report.totals.macs, truth[name]["macs"].get<int64_t>());
}

INSTANTIATE_TEST_SUITE_P(Models, MeasuredModel, testing::ValuesIn(measured_models()), model_name);

TEST(Truth, IsThereForEveryMeasuredModel) { EXPECT_EQ(measured_models().size(), 18U); }

class EveryModel : public testing::TestWithParam<fs::path> {};

TEST_P(EveryModel, HasNoUnsupportedNodeAndItsSumsAddUp) {
  const CostedNetwork network = cost(GetParam(), machine("64x64"));
  const Report& r = network.report;
  EXPECT_TRUE(r.unsupported.empty());
  Costs sum;
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const LayerReport& l = r.layers[i];
    sum += l.costs;
    EXPECT_NE(l.fate, Fate::unsupported) << l.name;
    const bool free = l.fate == Fate::view || l.fate == Fate::folded ||
                      network.lowered.layers[i].function.rescales;
    EXPECT_EQ(l.costs.alone_cycles == 0, free) << l.name << ": nothing is silently free";
    if (free) {
      EXPECT_EQ(l.costs.cycles, 0) << l.name;
    }
    EXPECT_LE(l.costs.verifiable_cycles, l.costs.cycles) << l.name;
    if (l.unverifiable.empty()) {
      EXPECT_EQ(l.costs.verifiable_cycles, l.costs.cycles) << l.name;
    }
    // The main unit's cycles are accounted for without a gap.
    int64_t parts = l.costs.compute_cycles + l.costs.tail_cycles;
    for (int64_t wait : l.costs.stalls) parts += wait;
    EXPECT_EQ(parts, l.costs.cycles) << l.name;
    // Some of it may be done under the layers before. Pieces of lines load weights again, what the
    // layer takes alone is without.
    const bool in_lines = std::ranges::any_of(
        network.order, [&](const ScheduledOp& t) { return t.layer == i && !t.whole.empty(); });
    if (!in_lines) {
      EXPECT_GE(l.costs.alone_cycles, l.costs.dram_bound) << l.name;
    }
    EXPECT_GE(l.costs.alone_cycles * r.peak_macs_per_cycle(), l.costs.macs) << l.name;
    EXPECT_GE(l.costs.dram_read + l.costs.dram_write, l.costs.traffic_bound) << l.name;
  }
  EXPECT_EQ(sum.cycles, r.totals.cycles);
  EXPECT_LE(r.totals.cycles, r.totals.alone_cycles);
  EXPECT_EQ(sum.verifiable_cycles, r.totals.verifiable_cycles);
  EXPECT_GE(r.totals.cycles, r.totals.lower_bound);
  EXPECT_EQ(sum.macs, r.totals.macs);
  EXPECT_EQ(sum.dram_read, r.totals.dram_read);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(models()), model_name);

/// The MACs of the measured network's products, as a multiset: names differ between the two worlds,
/// order and sizes don't.
std::multiset<int64_t> truth_macs(const json& truth) {
  std::multiset<int64_t> out;
  const bool records = truth.contains("mac_records");
  for (const json& l : truth[records ? "mac_records" : "layers"])
    if (l["macs"].get<int64_t>() > 0) out.insert(l["macs"].get<int64_t>());
  return out;
}

class MeasuredLayers : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(MeasuredLayers, EqualTheGemmFatedNodes) {
  const auto [model, name] = GetParam();
  const json truth = read_json(kTree / "tests/data/truth" / (std::string(name) + ".json"));
  const CostedNetwork network =
      cost(kTree / "models" / (std::string(model) + ".onnx"), machine("64x64"));
  std::multiset<int64_t> ours;
  for (const LayerReport& l : network.report.layers)
    if (l.fate == Fate::gemm) ours.insert(l.costs.macs);
  EXPECT_EQ(ours, truth_macs(truth));
}

INSTANTIATE_TEST_SUITE_P(
    Models, MeasuredLayers,
    testing::Values(
        std::pair{"alexnet_op13", "alexnet"}, std::pair{"vgg16_op13", "vgg16"},
        std::pair{"resnet18_op13", "resnet18"}, std::pair{"resnet18_bn_op13", "resnet18"},
        std::pair{"resnet50_op17", "resnet50"}, std::pair{"resnet50_dynbatch_op17", "resnet50"},
        std::pair{"mobilenet_v2_op9", "mobilenet_v2"},
        std::pair{"mobilenet_v2_op13", "mobilenet_v2"}, std::pair{"googlenet_op17", "googlenet"},
        std::pair{"googlenet_bn_op13", "googlenet"},
        std::pair{"squeezenet1_1_op13", "squeezenet1_1"}, std::pair{"bert_base_op17", "bert_base"},
        std::pair{"gpt2_small_op17", "gpt2_small"},
        std::pair{"llama3_8b_layer_decode1024_op17", "llama3_8b_layer_decode1024"},
        std::pair{"llama_tiny2_prefill64_op17", "llama_tiny2_prefill64"}),
    [](const auto& model) { return std::string(model.param.first); });

/// One 1024 x 1024 x 1024 product, as `accsim gemm` would write it.
TEST(Sanity, A1024CubedProductEndsCloseToIdeal) {
  const hw::HwConfig hw = machine("64x64");
  ASSERT_NEAR(hw.dram.read.value() + hw.dram.write.value(), 153.0, 1.0) << "GB/s at 1 GHz";
  GemmOp op;
  op.in = op.out = {1, 1, 1024};
  op.channels = op.outputs = 1024;
  OpRequest r;
  r.item = op;
  r.inputs = {{{"a", hw::MemoryId::dram, false}, 1}, {{"b", hw::MemoryId::dram, true}, 1}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  Mapper mapper(hw, {.slack = 0});
  const auto mapping = mapper.map(r, "gemm");
  ASSERT_TRUE(mapping.ok());
  const int64_t ideal = 1024LL * 1024 * 1024 / (64 * 64);
  EXPECT_GE((*mapping)->timing.total.count(), ideal);
  EXPECT_LE((*mapping)->timing.total.count(), 264'500);
}

/// An output stationary array that takes F folds of 64 pixels x 64 channels, one after the other,
/// is busy with each for its reduction, K, and for what fills and empties it: F (K + R + C - 2).
/// 13 x 13 outputs are three folds, though four lines of them are 52 of the 64 rows.
TEST(Sanity, OutputStationaryConvolutionsTakeNoMoreThanTheirFolds) {
  MapOptions options;
  options.dataflows = {hw::Dataflow::output_stationary};
  const auto graph = load_graph((kTree / "models/alexnet_op13.onnx").string(), {});
  ASSERT_TRUE(graph.ok());
  const auto network = cost_network(*graph, machine("64x64"), options);
  ASSERT_TRUE(network.ok());
  struct Fold {
    const char* layer;
    int64_t pixels, reduction, channels;
  };
  for (const Fold& f : {Fold{"/features/features.0/Conv", 55 * 55, 3 * 11 * 11, 64},
                        Fold{"/features/features.3/Conv", 27 * 27, 64 * 5 * 5, 192},
                        Fold{"/features/features.6/Conv", 13 * 13, 192 * 3 * 3, 384},
                        Fold{"/features/features.8/Conv", 13 * 13, 384 * 3 * 3, 256},
                        Fold{"/features/features.10/Conv", 13 * 13, 256 * 3 * 3, 256}}) {
    const int64_t folds = ceil_div(f.pixels, 64) * ceil_div(f.channels, 64);
    int seen = 0;
    for (const LayerReport& l : network->report.layers) {
      if (l.name != f.layer) continue;
      ++seen;
      EXPECT_EQ(l.costs.macs, f.pixels * f.reduction * f.channels);
      EXPECT_LE(l.costs.cycles, folds * (f.reduction + 64 + 64 - 2)) << f.layer;
    }
    EXPECT_EQ(seen, 1) << f.layer;
  }
}

/// Cycles that ONNXim reports for the same array and bandwidth.
TEST(Sanity, ResNetsStayUnderOnnxim) {
  const hw::HwConfig hw = machine("64x64");
  EXPECT_LT(cost(kTree / "models/resnet18_op13.onnx", hw).report.totals.cycles, 1'105'605);
  EXPECT_LT(cost(kTree / "models/resnet50_op17.onnx", hw).report.totals.cycles, 1'827'259);
}

TEST(Residency, SavesWhatItKeepsOnChip) {
  hw::HwConfig with = machine("64x64"), without = with;
  without.shared.kib = 0;
  const Report a = cost(kTree / "models/resnet18_op13.onnx", with).report;
  const Report b = cost(kTree / "models/resnet18_op13.onnx", without).report;
  EXPECT_EQ(b.totals.shared_read + b.totals.shared_write, 0);
  EXPECT_GT(a.totals.shared_read, 0);
  EXPECT_LT(a.totals.dram_read + a.totals.dram_write, b.totals.dram_read + b.totals.dram_write);
  EXPECT_LE(a.totals.cycles, b.totals.cycles);
  EXPECT_LE(a.shared_peak_bytes, with.shared.kib * 1024);
}

TEST(Network, SaysWhatOfItIsProved) {
  const fs::path model = kTree / "models/resnet18_op13.onnx";
  const Report all = cost(model, machine("64x64")).report;
  EXPECT_EQ(all.totals.verifiable_cycles, all.totals.cycles);  // products, pools, sums
  hw::HwConfig floats = machine("64x64"), wide = floats;
  floats.types = {DType::bfloat16, DType::bfloat16, DType::float32};
  wide.buffers[static_cast<size_t>(hw::Buffer::weight)].width = 1 << 20;
  const std::pair<hw::HwConfig, std::string> machines[] = {{machine("64x64-ddr4"), "banked DRAM"},
                                                           {floats, "other types than the core's"},
                                                           {wide, "no core of this machine"}};
  for (const auto& [hw, why] : machines) {
    const Report none = cost(model, hw).report;
    EXPECT_EQ(none.totals.verifiable_cycles, 0);
    for (const LayerReport& l : none.layers)
      EXPECT_EQ(l.unverifiable, l.mapping.empty() ? "" : why) << l.name;
  }
}

/// Each layer alone; of their chain, whose layers are mapped one by one, up to half a percent.
TEST(Network, NeverGetsSlowerWithMoreBandwidthLessLatencyOrMoreSram) {
  const fs::path model = kTree / "models/squeezenet1_1_op13.onnx";
  const hw::HwConfig base = machine("64x64-starved");
  const Report before = cost(model, base).report;
  const int64_t cycles = before.totals.alone_cycles;
  const auto improved = [&](auto change) {
    hw::HwConfig hw = base;
    change(hw);
    const Report r = cost(model, hw).report;
    EXPECT_LE(r.totals.cycles, before.totals.cycles * 1005 / 1000);
    return r.totals.alone_cycles;
  };
  EXPECT_LE(improved([](hw::HwConfig& h) { h.dram.read.milli *= 2; }), cycles);
  EXPECT_LE(improved([](hw::HwConfig& h) { h.dram.write.milli *= 2; }), cycles);
  EXPECT_LE(improved([](hw::HwConfig& h) { h.dram.latency /= 2; }), cycles);
  EXPECT_LE(improved([](hw::HwConfig& h) { h.shared.kib += 512; }), cycles);
  for (size_t b = 0; b < hw::kBuffers; ++b)
    EXPECT_LE(improved([&](hw::HwConfig& h) { h.buffers[b].kib += 32 * h.buffers[b].slots; }),
              cycles)
        << name(static_cast<hw::Buffer>(b));
}

TEST(SymbolicDims, CostWhatTheyAreBoundTo) {
  const hw::HwConfig hw = machine("64x64");
  ElaborateOptions eight;
  eight.bindings = {{"batch", 8}};
  const fs::path model = kTree / "models/resnet50_dynbatch_op17.onnx";
  const int64_t one = cost(model, hw).report.totals.macs;
  EXPECT_EQ(cost(model, hw, eight).report.totals.macs, 8 * one);
}

}  // namespace
}  // namespace accsim::sim
