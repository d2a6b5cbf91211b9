#include "sim/cost/product_modes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/lower/real_graph.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

hw::HwConfig machine(const std::string& name) {
  return *hw::load_hw(kSource + "/configs/" + name + ".yaml");
}

Graph graph_of(const ModelBuilder& builder) {
  Result<Graph> graph = elaborate(builder.model(), {});
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.errors().front().text());
  return graph.ok() ? real_graph(std::move(*graph)) : Graph{};
}

/// How a model has an operand: its type in the file, and whether that is changed to floats.
struct Stored {
  DType type = DType::float32;
  bool quantised = false;  ///< integers or float8 behind a DequantizeLinear
};

/// `to` = reals of M x K activations that are stored as `as`; the input is x.
void add_activations(ModelBuilder& b, const Dims& dims, const Stored& as, const std::string& to) {
  if (!as.quantised) {
    b.input(to, dims, as.type);
    return;
  }
  b.input("x_" + to, dims, DType::float32);
  b.weight("s_" + to, {}).weight("z_" + to, {}, as.type);
  b.node("QuantizeLinear", {"x_" + to, "s_" + to, "z_" + to}, {"q_" + to});
  b.node("DequantizeLinear", {"q_" + to, "s_" + to, "z_" + to}, {to});
}

void add_weights(ModelBuilder& b, const Dims& dims, const Stored& as, DType real,
                 const std::string& to) {
  if (!as.quantised && as.type == real) {
    b.weight(to, dims, real);
    return;
  }
  b.weight("q_" + to, dims, as.type);
  if (!as.quantised) {
    b.node("Cast", {"q_" + to}, {to}, {{"to", "", static_cast<int64_t>(real)}});
    return;
  }
  b.weight("s_" + to, {}, real);
  b.node("DequantizeLinear", {"q_" + to, "s_" + to}, {to});
}

/// y = a x w.
Graph product(int64_t m, int64_t k, int64_t n, const Stored& a, const Stored& w) {
  ModelBuilder b(21);
  add_activations(b, {m, k}, a, "a");
  add_weights(b, {k, n}, w, a.quantised ? DType::float32 : a.type, "w");
  b.node("MatMul", {"a", "w"}, {"y"}).output("y");
  return graph_of(b);
}

/// The only product of a network on a machine.
LayerReport only_product(const Graph& graph, const hw::HwConfig& hw, const MapOptions& o = {}) {
  const auto network = cost_network(graph, hw, o);
  EXPECT_TRUE(network.ok()) << (network.ok() ? "" : network.errors().front().text());
  if (!network.ok()) return {};
  for (const LayerReport& l : network->report.layers)
    if (l.fate == Fate::gemm) return l;
  ADD_FAILURE() << "no product";
  return {};
}

constexpr DType kInt4 = DType::int4, kInt8 = DType::int8, kUint8 = DType::uint8,
                kHalf = DType::float16, kBrain = DType::bfloat16, kFp8 = DType::float8e4m3fn,
                kFloat = DType::float32;

/// What a product asks for, what it gets on a machine, and what of the reason must be said.
struct Choice {
  std::string_view what;
  Stored a, w;
  std::string_view types, note;
};

void expect_choices(const hw::HwConfig& hw, const std::vector<Choice>& table) {
  for (const auto& [what, a, w, types, note] : table) {
    const LayerReport l = only_product(product(8, 256, 64, a, w), hw);
    EXPECT_EQ(l.types, types) << what;
    if (note.empty())
      EXPECT_EQ(l.types_note, "") << what;
    else
      EXPECT_NE(l.types_note.find(note), std::string::npos) << what << ": " << l.types_note;
  }
}

TEST(ProductModes, AreWhatTheOperandsAskFor) {
  expect_choices(
      machine("64x64-modes"),
      {
          {"nothing", {}, {}, "int8 x int8", ""},
          {"W8A8", {kInt8, true}, {kInt8, true}, "int8 x int8", ""},
          {"W8A8, unsigned", {kUint8, true}, {kUint8, true}, "int8 x int8", ""},
          {"W4A8", {kInt8, true}, {kInt4, true}, "int8 x int4", ""},
          {"W4, activations say nothing", {}, {kInt4, true}, "int8 x int4", ""},
          {"W4A16", {kBrain}, {kInt4, true}, "bfloat16 x int4", ""},
          {"W8A16", {kBrain}, {kInt8, true}, "bfloat16 x int8", ""},
          {"W16A16", {kBrain}, {kBrain}, "bfloat16 x bfloat16", ""},
          {"float8", {kFp8, true}, {kFp8, true}, "float8e4m3fn x float8e4m3fn", ""},
          {"half",
           {kHalf},
           {kHalf},
           "bfloat16 x bfloat16",
           "W16A16: no mode of float16 activations, they are bfloat16; no bfloat16 x float16 mode, "
           "weights become bfloat16"},
          {"W4A16, half",
           {kHalf},
           {kInt4, true},
           "bfloat16 x int4",
           "W4A16: no mode of float16 activations, they are bfloat16"},
          {"W4 with float8",
           {kFp8, true},
           {kInt4, true},
           "float8e4m3fn x float8e4m3fn",
           "W4A8: no float8e4m3fn x int4 mode, weights widened to float8e4m3fn"},
          {"float8 weights alone",
           {kBrain},
           {kFp8, true},
           "bfloat16 x bfloat16",
           "no bfloat16 x float8e4m3fn mode, weights widened to bfloat16"},
          {"half weights alone",
           {},
           {kHalf},
           "int8 x int8",
           "W16A8: no int8 x float16 mode, weights rounded to int8"},
      });
}

/// Without the mode that is asked for the next wider weights are taken, and that is said.
TEST(ProductModes, ThatAreMissingAreSaid) {
  hw::HwConfig hw = machine("64x64-modes");
  const auto without = [&](DType a, DType w) {
    const auto erased = std::erase_if(
        hw.types.modes, [&](const hw::TypeMode& m) { return m.activation == a && m.weight == w; });
    EXPECT_EQ(erased, 1u);
  };
  without(kBrain, kInt4);
  expect_choices(hw, {{"W4A16",
                       {kBrain},
                       {kInt4, true},
                       "bfloat16 x int8",
                       "W4A16: no bfloat16 x int4 mode, weights widened to int8"}});
  without(kBrain, kInt8);
  expect_choices(hw, {{"W4A16",
                       {kBrain},
                       {kInt4, true},
                       "bfloat16 x bfloat16",
                       "W4A16: no bfloat16 x int4 mode, weights widened to bfloat16"}});
  without(kBrain, kBrain);
  without(kInt8, kInt4);
  // float8 is no place for 16 bits: such a network runs in the machine's own types.
  expect_choices(hw, {{"W4A16",
                       {kBrain},
                       {kInt4, true},
                       "int8 x int8",
                       "W4A16: no mode of bfloat16 activations, they are int8"}});
}

/// Of one mode: nothing is chosen, nothing is said, whatever the operands are.
TEST(ProductModes, OfAMachineWithoutModesAreNotSaid) {
  for (const Stored& a : {Stored{kBrain}, Stored{kInt8, true}})
    for (const Stored& w : {Stored{kInt4, true}, Stored{kBrain}}) {
      const LayerReport l = only_product(product(8, 256, 64, a, w), machine("64x64"));
      EXPECT_EQ(l.types + l.types_note, "");
    }
}

/// Attention's products have no weights: both operands are of the activations' type.
TEST(ProductModes, OfTwoComputedTensorsAreThoseOfActivations) {
  ModelBuilder b(21);
  b.input("q", {4, 64, 32}, kBrain).input("k", {4, 32, 64}, kBrain);
  b.node("MatMul", {"q", "k"}, {"y"}).output("y");
  const LayerReport l = only_product(graph_of(b), machine("64x64-modes"));
  EXPECT_EQ(l.types, "bfloat16 x bfloat16");
  EXPECT_EQ(l.types_note, "");
}

/// Weights of 4 bits of grouped convolutions don't lie packed: they take a byte each.
TEST(ProductModes, OfGroupedConvolutionsAreNotPacked) {
  ModelBuilder b(21);
  add_activations(b, {1, 32, 8, 8}, {kInt8, true}, "a");
  add_weights(b, {32, 1, 3, 3}, {kInt4, true}, kFloat, "w");
  b.node("Conv", {"a", "w"}, {"y"},
         {{"group", "", {32}}, ModelBuilder::ints("pads", {1, 1, 1, 1})});
  b.output("y");
  const LayerReport l = only_product(graph_of(b), machine("64x64-modes"));
  EXPECT_EQ(l.types, "int8 x int8");
  EXPECT_NE(l.types_note.find("weights of grouped convolutions aren't packed"), std::string::npos)
      << l.types_note;
}

/// Two products, one behind the other, that ask for different activations: the larger one decides.
TEST(ProductModes, AllActivationsHaveTheTypeThatMostMacsAskFor) {
  for (const int64_t half : {64, 1024}) {  // outputs of the one in bfloat16; the other has 256
    ModelBuilder b(21);
    add_activations(b, {16, 128}, {kBrain}, "a");
    add_activations(b, {16, 128}, {kInt8, true}, "c");
    b.weight("w", {128, half}, kBrain);
    add_weights(b, {128, 256}, {kInt8, true}, kFloat, "v");
    b.node("MatMul", {"a", "w"}, {"y"}).output("y");
    b.node("MatMul", {"c", "v"}, {"z"}).output("z");
    const auto network = cost_network(graph_of(b), machine("64x64-modes"), {});
    ASSERT_TRUE(network.ok());
    std::vector<const LayerReport*> products;
    for (const LayerReport& l : network->report.layers)
      if (l.fate == Fate::gemm) products.push_back(&l);
    ASSERT_EQ(products.size(), 2u);
    if (half < 256) {
      EXPECT_EQ(products[0]->types, "int8 x int8");  // 256 of 320
      EXPECT_NE(products[0]->types_note.find("activations are int8, as 80 %"), std::string::npos);
      EXPECT_EQ(products[1]->types_note, "");
    } else {
      EXPECT_EQ(products[1]->types, "bfloat16 x int8");  // 1024 of 1280
      EXPECT_NE(products[1]->types_note.find("W8A8: activations are bfloat16, as 80 %"),
                std::string::npos)
          << products[1]->types_note;
      EXPECT_EQ(products[0]->types_note, "");
    }
  }
}

// ---- costs --------------------------------------------------------------------------------------

/// A machine whose own types are those of a mode, and its own energy of a MAC.
hw::HwConfig plain(const hw::HwConfig& modes, int mode) { return hw::machine_of_mode(modes, mode); }

void expect_same(const Costs& a, const Costs& b, const std::string& what) {
  EXPECT_EQ(a.cycles, b.cycles) << what;
  EXPECT_EQ(a.stalls, b.stalls) << what;
  EXPECT_EQ(a.dram_read, b.dram_read) << what;
  EXPECT_EQ(a.dram_write, b.dram_write) << what;
  EXPECT_EQ(a.buffer_read, b.buffer_read) << what;
  EXPECT_EQ(a.compute_bound, b.compute_bound) << what;
  EXPECT_EQ(a.traffic_bound, b.traffic_bound) << what;
  EXPECT_DOUBLE_EQ(a.energy.total_pj(), b.energy.total_pj()) << what;
}

/// A network all of whose products ask for one mode costs what it does on a machine that has no
/// other types: the plain machine of those is the oracle.
TEST(ProductModes, CostWhatTheyDoOnAMachineOfTheirOwn) {
  const hw::HwConfig modes = machine("64x64-modes");
  const auto network = [](const Stored& a, const Stored& w) {
    ModelBuilder b(21);
    add_activations(b, {48, 256}, a, "a");
    const DType real = a.quantised ? kFloat : a.type;
    add_weights(b, {256, 512}, w, real, "w");
    add_weights(b, {512, 192}, w, real, "v");
    b.node("MatMul", {"a", "w"}, {"h"}).node("Relu", {"h"}, {"r"});
    b.node("Softmax", {"r"}, {"p"});
    b.node("MatMul", {"p", "v"}, {"y"}).output("y");
    return graph_of(b);
  };
  for (size_t i = 0; i < modes.types.modes.size(); ++i) {
    const hw::TypeMode& m = modes.types.modes[i];
    // What the model computes between its products says nothing, but for 16 bits.
    const bool float8 = m.activation == kFp8;
    if (float8) continue;
    const Stored w{m.weight, m.weight != kBrain};
    const Stored a = is_float(m.activation) ? Stored{m.activation} : Stored{};
    const auto on_modes = cost_network(network(a, w), modes, {});
    const auto alone = cost_network(network(a, w), plain(modes, static_cast<int>(i)), {});
    ASSERT_TRUE(on_modes.ok() && alone.ok());
    EXPECT_TRUE(std::ranges::all_of(on_modes->report.layers, [&](const LayerReport& l) {
      return l.fate != Fate::gemm || (l.types == to_string(m) && l.types_note.empty());
    })) << to_string(m);
    // Rows are of products alone: what isn't one sees the machine as it is.
    if (m.rate == 1 || on_modes->report.totals.cycles == alone->report.totals.cycles)
      expect_same(on_modes->report.totals, alone->report.totals, to_string(m));
    else
      ADD_FAILURE() << to_string(m) << ": " << on_modes->report.totals.cycles << " cycles, alone "
                    << alone->report.totals.cycles;
  }
}

/// The default machine's costs don't depend on modes that nothing asks for.
TEST(ProductModes, ThatNothingAsksForCostNothing) {
  const hw::HwConfig modes = machine("64x64-modes");
  hw::HwConfig none = modes;
  none.types.modes.clear();
  const auto graph = load_graph(kSource + "/models/resnet18_op13.onnx", {});
  ASSERT_TRUE(graph.ok());
  const auto a = cost_network(*graph, modes, {}), b = cost_network(*graph, none, {});
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->report.layers.size(), b->report.layers.size());
  for (size_t i = 0; i < a->report.layers.size(); ++i)
    expect_same(a->report.layers[i].costs, b->report.layers[i].costs, a->report.layers[i].name);
}

/// Weights that stay take ceil(K / (rate x rows)) x ceil(N / columns) passes of M cycles each: with
/// M of at least as many rows, weights go in meanwhile.
TEST(ProductModes, ARateOfTwoHalvesThePasses) {
  constexpr int64_t kM = 1024, kK = 1024, kN = 256;
  const Graph graph = product(kM, kK, kN, {}, {kInt4, true});
  MapOptions options;
  options.dataflows = {hw::Dataflow::weight_stationary};
  for (const int64_t rate : {1, 2}) {
    hw::HwConfig hw = machine("64x64-modes");
    hw.types.modes[0].rate = static_cast<double>(rate);
    hw.types.modes[0].group = 0;
    const LayerReport l = only_product(graph, hw, options);
    EXPECT_EQ(l.types, "int8 x int4");
    const int64_t passes = ceil_div(kK, rate * hw.array.rows) * ceil_div(kN, hw.array.cols);
    EXPECT_EQ(l.costs.compute_cycles, passes * kM) << rate;
    EXPECT_EQ(l.costs.compute_bound, kM * kK * kN / (rate * 64 * 64)) << rate;
    EXPECT_DOUBLE_EQ(l.costs.energy.mac, 0.3 * static_cast<double>(kM * kK * kN)) << rate;
  }
}

/// What comes from DRAM: activations once, weights in the bytes of the type that is stored, and of
/// each output channel bias, scale and the scales of its groups. It all fits, so that the mapping
/// of the least traffic moves nothing twice.
TEST(ProductModes, WeightsHaveTheBytesOfTheStoredType) {
  constexpr int64_t kM = 64, kK = 512, kN = 64;
  struct Case {
    Stored a, w;
    int64_t a_bytes, weight_bits, parameters;  ///< bytes an output channel
  };
  const int64_t scales = (kK / 128 - 1) * hw::PostCommand::kGroupBytes;
  for (const auto& [a, w, a_bytes, weight_bits, parameters] :
       {Case{{}, {kInt8, true}, 1, 8, 12}, Case{{}, {kInt4, true}, 1, 4, 12 + scales},
        Case{{kBrain}, {kBrain}, 2, 16, 0}, Case{{kBrain}, {kInt8, true}, 2, 8, 8},
        Case{{kBrain}, {kInt4, true}, 2, 4, 8 + scales},
        Case{{kFp8, true}, {kFp8, true}, 1, 8, 0}}) {
    MapOptions options;
    options.objective = Objective::traffic;
    const LayerReport l = only_product(product(kM, kK, kN, a, w), machine("64x64-modes"), options);
    EXPECT_EQ(l.costs.dram_read, kM * kK * a_bytes + kK * kN * weight_bits / 8 + kN * parameters)
        << l.types;
  }
}

/// Commands of the modes that the core has are what RTL can run; the others' cycles are timed only.
TEST(ProductModes, OfOtherTypesOrRatesAreOnlyTimed) {
  hw::HwConfig hw = machine("64x64-modes");
  const auto why = [&](const Stored& a, const Stored& w) {
    const auto network = cost_network(product(8, 256, 64, a, w), hw, {});
    for (const auto& layer : network->mappings)
      for (const auto& m : layer)
        if (m->source_as<GemmSource>()) return std::string(m->unverifiable);
    return std::string("no product");
  };
  EXPECT_EQ(why({kInt8, true}, {kInt8, true}), "");
  EXPECT_EQ(why({kInt8, true}, {kInt4, true}), "");
  EXPECT_EQ(why({kBrain}, {kInt4, true}), "other types than the core's");
  hw.types.modes[0].rate = 2;
  EXPECT_EQ(why({kInt8, true}, {kInt4, true}), "rates of a mode other than 1");
  const LayerReport l = only_product(product(8, 256, 64, {kBrain}, {kBrain}), hw);
  EXPECT_EQ(l.costs.verifiable_cycles, 0);
  EXPECT_FALSE(l.unverifiable.empty());
}

/// A sweep's totals are the report's, whichever modes the products take.
TEST(ProductModes, CostInAWorkloadWhatTheReportSays) {
  for (const Stored& a : {Stored{}, Stored{kBrain}})
    for (const Stored& w : {Stored{kInt4, true}, Stored{kInt8, true}})
      for (const double rate : {1.0, 2.0}) {
        hw::HwConfig hw = machine("64x64-modes");
        for (hw::TypeMode& m : hw.types.modes)
          if (m.weight == kInt4) m.rate = rate;
        const Graph graph = product(40, 700, 300, a, w);
        Workload workload = Workload::prepare(graph).value();
        const auto totals = workload.cost(hw, {});
        const auto report = cost_network(graph, hw, {});
        ASSERT_TRUE(totals.ok() && report.ok());
        const Costs& c = report->report.totals;
        EXPECT_EQ(totals->cycles, c.cycles);
        EXPECT_EQ(totals->dram_read_bytes, c.dram_read);
        EXPECT_NEAR(totals->energy_pj, c.energy.total_pj(), 1e-9 * c.energy.total_pj());
      }
}

/// Sums that stay can't have another rate: such a product takes another dataflow.
TEST(ProductModes, OfAnotherRateAreNotOutputStationary) {
  hw::HwConfig hw = machine("64x64-modes");
  hw.array.dataflows.push_back(hw::Dataflow::output_stationary);
  hw.types.modes[0].rate = 2;
  MapOptions options;
  options.dataflows = {hw::Dataflow::output_stationary};
  const LayerReport narrow = only_product(product(64, 256, 64, {}, {kInt4, true}), hw, options);
  EXPECT_FALSE(narrow.mapping.starts_with("os ")) << narrow.mapping;
  const LayerReport own = only_product(product(64, 256, 64, {}, {}), hw, options);
  EXPECT_TRUE(own.mapping.starts_with("os ")) << own.mapping;
}

}  // namespace
}  // namespace accsim::sim
