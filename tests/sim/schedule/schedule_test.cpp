#include "sim/schedule/schedule.h"

#include <gtest/gtest.h>

#include <set>

#include "hw/config/load.h"
#include "hw/program/place_tensors.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "sim/program/network_program.h"
#include "tests/support/attention_model.h"
#include "tests/support/layer_cycles.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

ValueDef value(const std::string& name, const Dims& dims) {
  ValueDef out;
  out.name = name;
  out.dtype = DType::float32;
  out.dims.emplace();
  for (const int64_t dim : dims) out.dims->push_back({.value = dim, .symbol = ""});
  return out;
}

NodeDef node(const std::string& op, std::vector<std::string> inputs, const std::string& output) {
  NodeDef out;
  out.name = output;
  out.op_type = op;
  out.inputs = std::move(inputs);
  out.outputs = {output};
  return out;
}

struct Shape {
  int64_t heads, queries, keys, size;
};

/// softmax(q k) v of `heads` heads, as three nodes or as one.
Graph attention(const Shape& s, bool one_node) {
  ModelDef model;
  model.ir_version = 8;
  model.opsets[""] = one_node ? 23 : 17;
  const Dims k = one_node ? Dims{1, s.heads, s.keys, s.size} : Dims{1, s.heads, s.size, s.keys};
  model.graph.inputs = {value("q", {1, s.heads, s.queries, s.size}), value("k", k),
                        value("v", {1, s.heads, s.keys, s.size})};
  if (one_node)
    model.graph.nodes = {node("Attention", {"q", "k", "v"}, "y")};
  else
    model.graph.nodes = {node("MatMul", {"q", "k"}, "scores"),
                         node("Softmax", {"scores"}, "weights"),
                         node("MatMul", {"weights", "v"}, "y")};
  model.graph.outputs = {value("y", {1, s.heads, s.queries, s.size})};
  return *elaborate(model, {});
}

hw::HwConfig machine(const std::string& name) {
  return *hw::load_hw(kSource + "/configs/" + name + ".yaml");
}

/// The network's program, in which all that lies in the shared buffer has the place that it was
/// costed with.
hw::Program placed_program(const Graph& graph, const CostedNetwork& network,
                           const hw::HwConfig& hw) {
  hw::Program out = network_program(graph, network).program;
  const std::vector<hw::ProgramTensor> before = out.tensors;
  const Status placed = hw::place_tensors(out, hw);
  EXPECT_TRUE(placed) << placed.errors().front().text();
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before[i].is_placed()) continue;
    EXPECT_EQ(out.tensors[i].address, before[i].address);
  }
  const Status good = verify(out, hw);
  EXPECT_TRUE(good) << good.errors().front().text();
  return out;
}

bool takes_turns(const CostedNetwork& network) {
  return std::ranges::any_of(network.order, [](const ScheduledOp& s) { return s.piece >= 0; });
}

/// The pieces' text is a program of its own right: the verifier takes it, stepping through it gives
/// the report's cycles, and they are no more than those of the layers one behind the other.
TEST(Schedule, OfAttentionIsAProgramThatIsNoSlower) {
  int faster = 0;
  for (const Shape& shape : {Shape{4, 64, 64, 32}, {3, 50, 70, 16}, {1, 96, 96, 64}, {8, 1, 77, 8}})
    for (const bool one_node : {false, true})
      for (const char* name : {"8x8", "16x16", "64x64", "64x64-starved", "64x64-ddr4"}) {
        SCOPED_TRACE(testing::Message() << shape.heads << " heads of " << shape.queries << " x "
                                        << shape.keys << " on " << name << ' ' << one_node);
        const hw::HwConfig hw = machine(name);
        const Graph graph = attention(shape, one_node);
        const auto network = cost_network(graph, hw, {});
        ASSERT_TRUE(network.ok());
        const int64_t cycles = network->report.totals.cycles;
        const hw::Program program = placed_program(graph, *network, hw);
        EXPECT_EQ(hw::simulate(program, hw, hw::TimingMode::step).total.count(), cycles);
        EXPECT_EQ(hw::simulate(program, hw).total.count(), cycles);
        EXPECT_EQ(hw::count_program(program, hw).macs.count(), network->report.totals.macs);
        EXPECT_LE(cycles, test::cycles_of_layers(*network));
        EXPECT_EQ(takes_turns(*network), cycles < test::cycles_of_layers(*network));
        faster += takes_turns(*network) ? 1 : 0;
        const WorkloadTotals totals = Workload::prepare(graph)->cost(hw, {}).value();
        EXPECT_EQ(totals.cycles, cycles);
        EXPECT_EQ(totals.dram_read_bytes, network->report.totals.dram_read);
        EXPECT_EQ(totals.shared_peak_bytes, network->report.shared_peak_bytes);
      }
  EXPECT_GT(faster, 10);
}

/// Scores that are too large for the shared buffer go through it piece by piece: DRAM sees the
/// inputs and the result alone.
TEST(Schedule, KeepsPiecesOfLongScoresOnChip) {
  const Shape s{2, 1536, 1536, 64};
  for (const bool one_node : {false, true}) {
    const hw::HwConfig hw = machine("64x64");
    ASSERT_GT(s.heads * s.queries * s.keys, hw.shared.kib * 1024);
    const auto network = cost_network(attention(s, one_node), hw, {});
    ASSERT_TRUE(network.ok());
    EXPECT_TRUE(takes_turns(*network));
    EXPECT_EQ(network->report.totals.dram_write, s.heads * s.queries * s.size);
    const Costs& c = network->report.totals;
    EXPECT_LE(c.traffic_bound, c.dram_read + c.dram_write);
    EXPECT_LE(network->report.shared_peak_bytes, hw.shared.kib * 1024);
    EXPECT_LT(network->report.totals.cycles, test::cycles_of_layers(*network));
  }
}

/// What layers copy before their products, keys and values that are turned and that several heads
/// share, doesn't keep them from taking turns, and each layer's copies are its own.
TEST(Schedule, OfCopiesIsAProgramThatIsNoSlower) {
  const hw::HwConfig hw = machine("64x64");
  for (const bool masked : {false, true}) {
    const test::AttentionShape shape{8, 2, 256, 256, 64};
    const Graph graph = *elaborate(test::grouped_attention(shape, masked).model(), {});
    const auto network = cost_network(graph, hw, {});
    ASSERT_TRUE(network.ok());
    EXPECT_TRUE(takes_turns(*network));
    EXPECT_LT(network->report.totals.cycles, test::cycles_of_layers(*network));
    const hw::Program program = placed_program(graph, *network, hw);
    EXPECT_EQ(hw::simulate(program, hw, hw::TimingMode::step).total.count(),
              network->report.totals.cycles);
    std::set<int32_t> seen;
    for (const LayerTensors& t : network->tensors)
      for (int32_t i = t.internal; i < t.end; ++i) EXPECT_TRUE(seen.insert(i).second);
  }
}

/// Two pieces of P rows of scores, and two of weights, are in the shared buffer when all three ops
/// take turns: P is 64 here, and each score takes 2 x size / P = 4 bytes of keys and values. Scores
/// that go to DRAM and back take 2, and leave room for 128 rows of weights, with 1 of values: that
/// is less than the 4 of scores and weights that both go there, with all else read or written once.
TEST(Schedule, CutsTwoOfThreeWhereThatMovesLess) {
  hw::HwConfig hw = machine("64x64");
  hw.shared.kib = 512;
  hw.vector.lanes[1] = hw.vector.lanes[0];  // else the exponentials decide
  const Shape s{1, 1024, 2048, 128};
  const auto network = cost_network(attention(s, false), hw, {});
  ASSERT_TRUE(network.ok());
  EXPECT_TRUE(takes_turns(*network));
  const Costs& c = network->report.totals;
  const int64_t once = 2 * s.heads * (s.queries + s.keys) * s.size;
  EXPECT_LT(c.dram_read + c.dram_write, 4 * s.heads * s.queries * s.keys + once);
  EXPECT_LT(c.cycles, test::cycles_of_layers(*network));
}

/// A tensor that somebody else reads, or a mapping that the user pins, isn't cut.
TEST(Schedule, LeavesAloneWhatIsAskedFor) {
  const hw::HwConfig hw = machine("64x64");
  const Shape shape{12, 128, 128, 64};
  EXPECT_TRUE(takes_turns(*cost_network(attention(shape, false), hw, {})));
  MapOptions pinned;
  pinned.pins = {*parse_pin("scores=n64")};
  EXPECT_FALSE(takes_turns(*cost_network(attention(shape, false), hw, pinned)));
  MapOptions energy;
  energy.objective = Objective::energy;
  EXPECT_FALSE(takes_turns(*cost_network(attention(shape, false), hw, energy)));
}

/// A convolution and pooling behind it, and perhaps another convolution behind that.
Graph stem(int64_t size, int64_t channels, int64_t outputs, int64_t kernel, bool longer) {
  test::ModelBuilder m;
  m.input("in", {1, channels, size, size}).weight("w", {outputs, channels, kernel, kernel});
  m.weight("v", {24, outputs, 1, 1});
  const int64_t pad = kernel / 2;
  const auto ints = [](const std::string& name, std::vector<int64_t> values) {
    return test::ModelBuilder::ints(name, std::move(values));
  };
  m.node("Conv", {"in", "w"}, {"c"}, {ints("pads", {pad, pad, pad, pad})});
  m.node("MaxPool", {"c"}, {"p"},
         {ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), ints("pads", {1, 1, 1, 1})});
  if (longer) m.node("Conv", {"p", "v"}, {"q"});
  m.output(longer ? "q" : "p");
  return *elaborate(m.model(), {});
}

/// Lines of a convolution and of pooling: a program of its own right, with the report's cycles, and
/// where it is cut, fewer than those of the layers one behind the other.
TEST(Schedule, OfConvolutionsAndPoolingIsAProgramThatIsNoSlower) {
  int faster = 0;
  for (const bool longer : {false, true})
    for (const int64_t size : {30, 57})
      for (const char* name : {"8x8", "16x16", "64x64", "64x64-starved"}) {
        SCOPED_TRACE(testing::Message() << size << " lines on " << name << ' ' << longer);
        const hw::HwConfig hw = machine(name);
        const Graph graph = stem(size, 8, 40, 3, longer);
        const auto network = cost_network(graph, hw, {});
        ASSERT_TRUE(network.ok());
        const int64_t cycles = network->report.totals.cycles;
        const hw::Program program = placed_program(graph, *network, hw);
        EXPECT_EQ(hw::simulate(program, hw, hw::TimingMode::step).total.count(), cycles);
        EXPECT_EQ(hw::simulate(program, hw).total.count(), cycles);
        EXPECT_EQ(hw::count_program(program, hw).macs.count(), network->report.totals.macs);
        EXPECT_EQ(takes_turns(*network), cycles < test::cycles_of_layers(*network));
        faster += takes_turns(*network) ? 1 : 0;
        const WorkloadTotals totals = Workload::prepare(graph)->cost(hw, {}).value();
        EXPECT_EQ(totals.cycles, cycles);
        EXPECT_EQ(totals.dram_read_bytes, network->report.totals.dram_read);
        MapOptions rule;
        rule.effort = MapEffort::rule;
        EXPECT_FALSE(takes_turns(*cost_network(graph, hw, rule)));
      }
  EXPECT_GT(faster, 5);
}

/// Where the shared buffer has room for what is alive at each op, but not for all that is while ops
/// take turns, what they make for each other may lie in DRAM.
TEST(Schedule, MovesLinesToDramWhereTurnsNeedMoreRoom) {
  test::ModelBuilder m;
  const int64_t size = 56, channels = 40, written = size * size * channels;
  m.input("in", {1, 8, size, size}).weight("w", {channels, 8, 3, 3});
  m.weight("v", {channels, channels, 1, 1}).weight("u", {1, channels, 1, 1});
  m.node("Conv", {"in", "w"}, {"c"}, {test::ModelBuilder::ints("pads", {1, 1, 1, 1})});
  m.node("MaxPool", {"c"}, {"p"},
         {test::ModelBuilder::ints("kernel_shape", {3, 3}),
          test::ModelBuilder::ints("pads", {1, 1, 1, 1})});
  m.node("Conv", {"p", "v"}, {"q"}).node("Conv", {"q", "u"}, {"y"}).output("y");
  const Graph graph = *elaborate(m.model(), {});
  int moved = 0;
  for (const char* name : {"8x8", "16x16", "64x64"}) {
    SCOPED_TRACE(name);
    hw::HwConfig hw = machine(name);
    hw.shared.kib = ceil_div(2 * written, 1024) + 8;  // two of c, p and q
    const auto network = cost_network(graph, hw, {});
    ASSERT_TRUE(network.ok());
    const hw::Program program = placed_program(graph, *network, hw);
    EXPECT_EQ(hw::simulate(program, hw, hw::TimingMode::step).total.count(),
              network->report.totals.cycles);
    EXPECT_LE(network->report.shared_peak_bytes, hw.shared.kib * 1024);
    const int64_t to_dram = network->report.totals.dram_write - size * size;
    EXPECT_EQ(to_dram % written, 0);
    moved += to_dram > 0 ? 1 : 0;
  }
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace accsim::sim
