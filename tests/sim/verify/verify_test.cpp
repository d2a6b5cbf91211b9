#include "sim/verify/verify.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "hw/config/load.h"
#include "sim/program/layer_weights.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

hw::HwConfig machine() { return test::small_machine(8, 8); }

TEST(RandomCases, AreTheSameForTheSameSeed) {
  const auto shapes = [](uint64_t seed) {
    std::vector<std::string> out;
    RandomSeries series{seed};
    for (const VerifyCase& c : random_cases(20, series, machine(), {})) out.push_back(c.shape);
    return out;
  };
  EXPECT_EQ(shapes(1), shapes(1));
  EXPECT_NE(shapes(1), shapes(2));
  EXPECT_EQ(shapes(1).size(), 20U);
}

TEST(RandomCases, GoOnWhereTheyWere) {
  RandomSeries whole{3}, parts{3};
  const std::vector<VerifyCase> all = random_cases(9, whole, machine(), {});
  std::vector<VerifyCase> some = random_cases(4, parts, machine(), {});
  for (VerifyCase& c : random_cases(5, parts, machine(), {})) some.push_back(std::move(c));
  ASSERT_EQ(some.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(some[i].name, all[i].name);
    EXPECT_EQ(some[i].shape, all[i].shape);
  }
}

TEST(RandomCases, MeetAllThatAMachineCanSay) {
  std::set<int32_t> zeros;
  std::set<hw::Dataflow> flows, mixed_flows;
  int table = 0, relu = 0, shared = 0, instant = 0, slow = 0, scattered = 0, cut_lines = 0,
      mixed = 0;
  hw::HwConfig hw = machine();
  hw.array.dataflows = {hw::Dataflow::weight_stationary, hw::Dataflow::input_stationary,
                        hw::Dataflow::output_stationary};
  RandomSeries series;
  for (const VerifyCase& c : random_cases(1600, series, hw, {})) {
    if (c.mixed) {  // a program of its own, no product
      ++mixed;
      mixed_flows.insert(c.mixed->program.dataflow);
      EXPECT_TRUE(hw::verify(c.mixed->program, c.hw).ok()) << c.name;
      continue;
    }
    zeros.insert(c.problem.a_zero);
    zeros.insert(c.problem.epilogue.zero + 1000);
    flows.insert(c.dataflow());
    relu += c.problem.epilogue.relu;
    table += c.problem.epilogue.table;
    shared += c.problem.a.memory == hw::MemoryId::shared;
    instant += c.hw.dram.latency == 0;
    slow += c.hw.dram.latency > 150;
    scattered += c.scattered;
    const Tiling& t = std::get<Tiling>(c.tiling);  // its first pass ends within a line
    cut_lines += t.dataflow != hw::Dataflow::weight_stationary && t.lines > 1 &&
                 pixel_block(hw, t.dataflow, t.images * t.lines * t.pixels) % t.pixels != 0;
  }
  EXPECT_GT(zeros.size(), 200U);
  EXPECT_EQ(mixed, 800);
  EXPECT_EQ(flows.size(), 3U);
  EXPECT_EQ(mixed_flows.size(), 3U);
  for (const int n : {table, relu, shared, instant, slow, scattered, cut_lines}) EXPECT_GT(n, 10);
}

TEST(ShapeText, SaysWhatTheProductIs) {
  EXPECT_EQ(shape_text(test::product(3, 4, 5)), "3x4x5");
  EXPECT_EQ(shape_text(test::convolution({.images = 2,
                                          .channels = 16,
                                          .size = 20,
                                          .outputs = 24,
                                          .kernel = 3,
                                          .stride = 2,
                                          .pad = 1})),
            "2x16x20x20 k3x3 /2 -> 24");
  EXPECT_EQ(shape_text(test::convolution(
                {.channels = 16, .size = 20, .outputs = 16, .kernel = 3, .pad = 1, .groups = 16})),
            "16 of 1x1x20x20 k3x3 -> 1");
}

TEST(NetworkCases, HoldEveryGemmLayerOnce) {
  const auto hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  const auto graph = load_graph(kSource + "/models/resnet18_op13.onnx", {});
  ASSERT_TRUE(hw.ok() && graph.ok());
  const auto network = cost_network(*graph, *hw, {});
  ASSERT_TRUE(network.ok());
  size_t layers = 0, programs = 0;
  int64_t macs = 0;
  for (const VerifyCase& c : network_cases(*graph, *network, *hw)) {
    ++programs;
    layers += 1 + c.same.size();
    macs += c.problem.op.macs() * static_cast<int64_t>(1 + c.same.size());
  }
  EXPECT_EQ(layers, 21U);
  EXPECT_LT(programs, layers);
  EXPECT_EQ(macs, network->report.totals.macs);
}

/// A Conv of 2 groups whose weights are in the file: w[o][c][ky][kx] = some function of the index.
TEST(StoredWeights, AreQuantisedPerOutputChannelAndLaidOut) {
  Graph g;
  Tensor w;
  w.name = "w";
  w.origin = Tensor::Origin::initializer;
  w.dtype = DType::float32;
  w.dims = {4, 3, 2, 2};
  std::vector<double> values(4 * 3 * 2 * 2);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t block = 1 + i / 12;
    values[i] = (static_cast<double>(i % 7) - 3) * static_cast<double>(block);
  }
  w.value = std::make_shared<ConstData>(values);
  g.tensors.push_back(w);
  g.nodes.emplace_back().op_type = "Conv";
  GemmOp op = test::convolution({.channels = 6, .size = 5, .outputs = 4, .kernel = 2, .groups = 2});
  op.b_port = 0;
  Layer layer;
  layer.node = 0;
  layer.op_type = "Conv";
  layer.inputs = {0};
  const auto q = stored_weights(g, layer, op);
  ASSERT_TRUE(q.has_value());
  for (size_t o = 0; o < 4; ++o)
    for (size_t c = 0; c < 3; ++c)
      for (size_t tap = 0; tap < 4; ++tap) {
        const double v = values[(o * 3 + c) * 4 + tap];
        const double scale = 127 / (3.0 * static_cast<double>(1 + o));  // every channel holds a 3
        const size_t at = ((o / 2 * 4 + tap) * 3 + c) * 2 + o % 2;
        EXPECT_EQ((*q)[at], static_cast<int8_t>(std::nearbyint(v * scale)));
      }
  g.nodes[0].op_type = "Einsum";
  EXPECT_FALSE(stored_weights(g, layer, op).has_value()) << "an unknown layout isn't guessed";
}

/// Without a compiler nothing runs: what is left is the cutting, and errors that land in their
/// rows.
std::vector<VerifyRow> rows_without_core(std::vector<VerifyCase> cases, int64_t max_cycles) {
  VerifyOptions options;
  options.variant.source_dir = kSource;
  options.variant.cache_dir = test::temp_path("no_variants");
  options.variant.verilator = "/no/such/verilator";
  options.max_cycles = max_cycles;
  options.jobs = 2;
  return verify_cases(std::move(cases), options);
}

TEST(VerifyCases, CutLongLayersAndSaySo) {
  const auto whole = product_case(
      test::convolution({.channels = 16, .size = 40, .outputs = 24, .kernel = 3, .pad = 1}), "c",
      machine(), {});
  ASSERT_TRUE(whole.ok());
  const auto cut = rows_without_core({*whole}, 10'000);
  EXPECT_NE(cut[0].cut.find("1x16x40x40 k3x3 -> 24 to "), std::string::npos) << cut[0].cut;
  EXPECT_TRUE(rows_without_core({*whole}, 0)[0].cut.empty());
}

TEST(VerifyCases, KeepAllButTheSizesOfACutCase) {
  RandomSeries series{2};
  for (const VerifyCase& whole : random_cases(100, series, machine(), {})) {
    VerifyCase c = whole;
    cut_case(c, 500);
    const GemmProblem &was = whole.problem, &is = c.problem;
    EXPECT_EQ(is.a_zero, was.a_zero);
    EXPECT_EQ(is.epilogue.zero, was.epilogue.zero);
    EXPECT_EQ(is.epilogue.relu, was.epilogue.relu);
    EXPECT_EQ(is.has_parameters, was.has_parameters);
    const auto kept = [](const Place& now, const Place& then) {
      EXPECT_EQ(now.name, then.name);
      EXPECT_EQ(now.memory, then.memory);
      EXPECT_EQ(now.constant, then.constant);
    };
    kept(is.a, was.a);
    kept(is.b, was.b);
    kept(is.parameters, was.parameters);
    kept(is.out, was.out);
    // What follows from the op does so from the new one.
    EXPECT_EQ(is.x.out, is.op.out[2]);
    EXPECT_EQ(is.x.in, is.op.in[2]);
    EXPECT_EQ(is.y.out, is.op.out[1]);
    EXPECT_EQ(is.z.out, is.op.out[0]);
    EXPECT_LE(is.most_groups, is.op.batch);
    EXPECT_EQ(c.cut.empty(), is.op.macs() == was.op.macs());
    EXPECT_TRUE(verify(emit(is, c.hw, c.tiling), c.hw).ok()) << c.cut;
  }
}

TEST(VerifyCases, PutTheReasonInTheRowWhenACoreCannotBeBuilt) {
  const auto c = product_case(test::product(8, 8, 8), "p", machine(), {});
  ASSERT_TRUE(c.ok());
  const auto rows = rows_without_core({*c, *c, *c}, 0);
  ASSERT_EQ(rows.size(), 3U);
  for (const VerifyRow& r : rows) {
    EXPECT_TRUE(r.done);
    EXPECT_FALSE(r.has_passed());
    EXPECT_FALSE(r.error.empty());
  }
}

TEST(VerifyCases, StopWhenToldTo) {
  const auto c = product_case(test::product(8, 8, 8), "p", machine(), {});
  const std::atomic<bool> stop{true};
  VerifyOptions options;
  options.stop = &stop;
  for (const VerifyRow& r : verify_cases({*c, *c}, options)) EXPECT_FALSE(r.done);
}

TEST(VerifyReport, PassesOnlyWhenEverythingWasRunAndEqual) {
  VerifyReport report;
  EXPECT_FALSE(report.all_passed()) << "nothing was run";
  VerifyRow good;
  good.name = "good";
  good.done = good.values_equal = good.cycles_equal = true;
  report.rows = {good, good};
  EXPECT_TRUE(report.all_passed());
  report.rows[1].cycles_equal = false;
  report.rows[1].difference = "gemm 3 at k0=1";
  EXPECT_FALSE(report.all_passed());
  EXPECT_NE(to_text(report, {}).find("first difference: gemm 3 at k0=1"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"failed\": 1"), std::string::npos);
  report.rows[1] = good;
  report.interrupted = true;
  EXPECT_FALSE(report.all_passed());
}

TEST(VerifyReport, TellsOfOtherCyclesWhereTheyMayBe) {
  VerifyRow row;
  row.done = row.values_equal = row.any_cycles = true;
  row.commands = 40;
  row.rtl_cycles = 205;
  row.model_cycles = 200;
  row.late = {{{"post", 8}, {"store", 4}}, "post command 3 finishes in cycle 51, model 50"};
  VerifyReport report{.hw = "", .model = "", .rows = {row}};
  report.any_cycles = true;
  EXPECT_TRUE(report.all_passed());
  const std::string text = to_text(report, {.width = 300});
  EXPECT_NE(text.find("other cycles: 12 of 40 commands (8 post, 4 store), total +5 (+2.50 %); "
                      "the first: post command 3 finishes in cycle 51, model 50"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1 of 1 equal in values; cycles are reported"), std::string::npos) << text;
  EXPECT_NE(to_json(report).find("\"difference_percent\": 2.5"), std::string::npos);
  report.rows[0].values_equal = false;
  EXPECT_FALSE(report.all_passed());
  report.rows[0] = row;
  report.rows[0].broken = "the core changes a request in cycle 7";
  EXPECT_FALSE(report.all_passed());
  report.rows[0] = row;
  report.rows[0].any_cycles = false;
  EXPECT_FALSE(report.all_passed());
}

}  // namespace
}  // namespace accsim::sim
