#include "sim/cost/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hw/area/area.h"
#include "hw/config/derive.h"
#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// Distinct ops times how often they occur, without programs, is what the whole report adds up.
TEST(Workload, CostsWhatTheReportSays) {
  for (const char* model : {"resnet18_op13", "mobilenet_v2_op13", "bert_base_op17"}) {
    const Result<Graph> graph = load_graph(kSource + "/models/" + model + ".onnx", {});
    ASSERT_TRUE(graph.ok());
    Workload workload = Workload::prepare(*graph).value();
    for (const char* machine : {"64x64", "16x16", "64x64-starved"})
      for (const MapEffort effort : {MapEffort::search, MapEffort::rule}) {
        const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
        MapOptions options;
        options.effort = effort;
        const auto totals = workload.cost(hw, options);
        const auto report = cost_network(*graph, hw, options);
        ASSERT_TRUE(totals.ok() && report.ok());
        const Costs& c = report->report.totals;
        EXPECT_EQ(totals->cycles, c.cycles) << model << " on " << machine;
        EXPECT_EQ(totals->macs, c.macs);
        EXPECT_EQ(totals->dram_read_bytes, c.dram_read);
        EXPECT_EQ(totals->dram_write_bytes, c.dram_write);
        EXPECT_EQ(totals->shared_bytes, c.shared_read + c.shared_write);
        EXPECT_EQ(totals->shared_peak_bytes, report->report.shared_peak_bytes);
        EXPECT_EQ(report->report.area_mm2, area_mm2(hw));
        EXPECT_NEAR(totals->energy_pj, c.energy.total_pj(), 1e-9 * c.energy.total_pj());
      }
  }
}

/// A larger shared buffer has room for the first convolution's result, but not for all that lies
/// there while the second one and its pooling take turns: the network isn't slower for it.
/// They are mapped once, and each waits for what its own operand is made by.
TEST(Workload, EqualMovesHaveOperandsOfTheirOwn) {
  test::ModelBuilder b(17);
  b.input("x", {64, 64}).input("given", {64, 64});
  std::vector<std::string> parts{"given"};
  for (int i = 0; i < 4; ++i) {
    const std::string w = "w" + std::to_string(i), p = "p" + std::to_string(i);
    b.weight(w, {64, 64}).node("MatMul", {"x", w}, {p});
    parts.insert(parts.end(), {p, p});  // the second time it is copied
  }
  b.node("Concat", parts, {"all"}, {{"axis", "", int64_t{0}}});
  b.node("Concat", {"given", "given"}, {"twice"}, {{"axis", "", int64_t{0}}});
  b.output("all").output("twice");
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  Workload workload = Workload::prepare(*graph).value();
  for (const char* machine : {"64x64", "16x16", "64x64-starved"}) {
    const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
    const auto totals = workload.cost(hw, {});
    const auto report = cost_network(*graph, hw, {});
    ASSERT_TRUE(totals.ok() && report.ok());
    EXPECT_EQ(totals->cycles, report->report.totals.cycles) << machine;
  }
}

TEST(Workload, PutsTensorsOutOfTheWayOfRunsInLines) {
  const Result<Graph> graph = load_graph(kSource + "/models/vgg16_op13.onnx", {});
  ASSERT_TRUE(graph.ok());
  Workload workload = Workload::prepare(*graph).value();
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64-hbm.yaml");
  int64_t before = std::numeric_limits<int64_t>::max();
  for (const int64_t kib : {2048, 3308}) {
    hw.shared.kib = kib;
    const auto report = cost_network(*graph, hw, {.slack = 0});
    const auto totals = workload.cost(hw, {.slack = 0});
    ASSERT_TRUE(report.ok() && totals.ok());
    EXPECT_LE(totals->cycles, before) << kib << " KiB";
    EXPECT_EQ(totals->cycles, report->report.totals.cycles) << kib << " KiB";
    EXPECT_EQ(totals->dram_read_bytes, report->report.totals.dram_read) << kib << " KiB";
    before = totals->cycles;
  }
}

/// Threads that map ahead find what one finds, and count what it counts.
TEST(Workload, AreMappingsOfSeveralThreadsThoseOfOne) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64.yaml");
  for (const char* model : {"resnet18_op13", "googlenet_op17", "llama_tiny2_prefill64_op17"}) {
    const Result<Graph> graph = load_graph(kSource + "/models/" + model + ".onnx", {});
    ASSERT_TRUE(graph.ok());
    for (const Objective objective : {Objective::cycles, Objective::edp}) {
      MapOptions options;
      options.objective = objective;
      const auto one = cost_network(*graph, hw, options);
      options.threads = 3;
      const auto several = cost_network(*graph, hw, options);
      ASSERT_TRUE(one.ok() && several.ok());
      const Report &a = one->report, &b = several->report;
      EXPECT_EQ(a.totals.cycles, b.totals.cycles) << model;
      EXPECT_EQ(a.evaluated, b.evaluated) << model;
      EXPECT_EQ(a.candidates, b.candidates) << model;
      EXPECT_EQ(a.distinct_ops, b.distinct_ops) << model;
      ASSERT_EQ(a.layers.size(), b.layers.size());
      for (size_t i = 0; i < a.layers.size(); ++i)
        EXPECT_EQ(a.layers[i].mapping, b.layers[i].mapping) << a.layers[i].name;
    }
  }
}

/// All words of an enumeration.
template <class Enum>
std::vector<Enum> words_of(size_t count) {
  std::vector<Enum> all;
  for (size_t i = 0; i < count; ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

/// Machines that differ from one in one field of the table: numbers another, words and types every
/// other, dataflows each alone and all the other way round. A field of a new type doesn't compile.
std::vector<hw::HwConfig> changed(const hw::HwConfig& base, const hw::Field& field) {
  using hw::ArrayForm, hw::DramMap, hw::DramModel, hw::DramPreset, hw::Member, hw::VectorForm;
  std::vector<hw::HwConfig> out;
  const auto with = [&]<class T>(const Member<T>& m, T value) {
    hw::HwConfig hw = base;
    m.of(hw) = std::move(value);
    derive(hw);  // as load_hw() does
    out.push_back(std::move(hw));
  };
  const auto words = [&](const auto& m, const auto& all) {
    for (const auto value : all)
      if (value != m.in(base)) with(m, value);
  };
  std::visit(
      hw::FieldCases{
          [&](const Member<int64_t>& m) {
            const int64_t v = m.in(base);
            with(m, v % 2 == 0 ? v * 2 : v + 1);
          },
          [&](const Member<double>& m) { with(m, m.in(base)*1.25); },
          [&](const Member<hw::DerivableNumber>& m) {
            with(m, hw::DerivableNumber(m.in(base).value * 1.25));
          },
          [&](const Member<hw::Technology>& m) {
            words(m, words_of<hw::Technology>(hw::kTechnologies));
          },
          [&](const Member<hw::DramKind>& m) { words(m, words_of<hw::DramKind>(hw::kDramKinds)); },
          [&](const Member<hw::ByteRate>& m) { with(m, hw::ByteRate{m.in(base).milli * 2}); },
          [&](const Member<std::string>& m) { with(m, std::string("another")); },
          [&](const Member<DType>& m) {
            for (const std::string& choice : field.choices)
              for (const DType type : {DType::int8, DType::int16, DType::int32, DType::float16,
                                       DType::bfloat16, DType::float32})
                if (name(type) == choice && type != m.in(base)) with(m, type);
          },
          [&](const Member<std::vector<hw::Dataflow>>& m) {
            std::vector<hw::Dataflow> all;
            for (size_t i = 0; i < hw::kDataflows; ++i) {
              all.insert(all.begin(), static_cast<hw::Dataflow>(i));
              with(m, std::vector{static_cast<hw::Dataflow>(i)});
            }
            with(m, all);
          },
          [&](const Member<std::vector<hw::TypeMode>>& m) {
            with(m, std::vector{hw::TypeMode{DType::int16, DType::int16, 0.25, 1, 0}});
          },
          [&]<hw::EngineEntry T>(const Member<std::vector<T>>& m) { with(m, std::vector<T>(3)); },
          [&](const Member<VectorForm>& m) { words(m, words_of<VectorForm>(hw::kVectorForms)); },
          [&](const Member<ArrayForm>& m) { words(m, words_of<ArrayForm>(hw::kArrayForms)); },
          [&](const Member<DramModel>& m) { words(m, words_of<DramModel>(hw::kDramModels)); },
          [&](const Member<hw::RunWeights>& m) { with(m, hw::RunWeights::kept); },
          [&](const Member<hw::DramBus>& m) { with(m, hw::DramBus::shared); },
          [&](const Member<DramPreset>& m) { words(m, words_of<DramPreset>(hw::kDramPresets)); },
          [&](const Member<DramMap>& m) { words(m, words_of<DramMap>(hw::kDramMaps)); },
      },
      field.target);
  return out;
}

/// Whatever single field of a machine changes: a workload that remembers gives what a fresh one
/// does.
TEST(Workload, RemembersOnlyWhatStaysTheSame) {
  const Result<Graph> graph = load_graph(kSource + "/models/mobilenet_v2_op13.onnx", {});
  Workload remembering = Workload::prepare(*graph).value();
  std::set<std::string> felt;  // fields that changed a cost
  for (const char* machine : {"16x16", "64x64-ddr4", "known/nvdla-nv-small"})
    for (const Objective objective : {Objective::cycles, Objective::energy}) {
      const hw::HwConfig base = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
      MapOptions options;
      options.objective = objective;
      options.effort = MapEffort::rule;
      const WorkloadTotals before = *remembering.cost(base, options);
      const int64_t remembered = remembering.remembered();
      int machines = 0;
      for (const hw::Field& field : hw::fields()) {
        const auto others = changed(base, field);
        ASSERT_FALSE(others.empty()) << field.path;
        for (const hw::HwConfig& hw : others) {
          const auto fresh = Workload::prepare(*graph)->cost(hw, options);
          const auto ours = remembering.cost(hw, options);
          ASSERT_EQ(fresh.ok(), ours.ok()) << field.path;
          if (fresh) {
            EXPECT_EQ(*fresh, *ours) << field.path << " on " << machine;
            if (*fresh != before) felt.insert(field.path);
          }
          ++machines;
        }
      }
      EXPECT_GT(remembering.remembered(), remembered + 5 * machines) << "something is remembered";
    }
  // The comparison would have seen most fields forgotten: of the others the table is looked at in
  // tests/hw/config/config_key_test.cpp.
  const auto of_programs = [](const hw::Field& f) { return f.decides == hw::kDecidesPrograms; };
  EXPECT_GT(2 * felt.size(),
            hw::fields().size() - std::ranges::count_if(hw::fields(), of_programs));
}

/// Networks with a memory in common: each costs what it costs by itself, and ops that they have in
/// common are mapped once.
TEST(Workload, SharesWhatItKnowsWithOtherNetworks) {
  const auto decoder = [](int64_t past) {
    return *load_graph(kSource + "/models/llama_tiny2_decode_dyn_op17.onnx",
                       {.bindings = {{"past", past}}});
  };
  const auto memory = std::make_shared<WorkloadMemory>();
  std::vector<Graph> graphs;
  for (const int64_t past : {63, 64, 1000}) graphs.push_back(decoder(past));
  graphs.push_back(*load_graph(kSource + "/models/squeezenet1_1_op13.onnx", {}));
  graphs.push_back(decoder(64));
  for (size_t i = 0; i < graphs.size(); ++i) {
    Workload sharing = Workload::prepare(graphs[i], memory).value();
    Workload alone = Workload::prepare(graphs[i]).value();
    for (const char* machine : {"64x64", "16x16", "64x64-hbm"})
      for (const MapEffort effort : {MapEffort::search, MapEffort::rule}) {
        const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
        MapOptions options;
        options.effort = effort;
        EXPECT_EQ(*sharing.cost(hw, options), *alone.cost(hw, options)) << machine << " " << i;
      }
    const bool is_again = i == 4, is_other = i == 0 || i == 3;
    EXPECT_EQ(sharing.mapped() + sharing.remembered(), alone.mapped() + alone.remembered());
    // Projections and feed-forward don't depend on the length of the context.
    if (is_again) {
      EXPECT_EQ(sharing.mapped(), 0);
    } else if (!is_other) {
      EXPECT_LT(sharing.mapped(), alone.mapped()) << i;
    }
  }
}

TEST(Workload, NamesTheLayersThatDoNotFit) {
  Workload workload =
      Workload::prepare(*load_graph(kSource + "/models/resnet18_op13.onnx", {})).value();
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  hw.buffers[static_cast<size_t>(hw::Buffer::accumulator)].kib = 1;
  hw.buffers[static_cast<size_t>(hw::Buffer::accumulator)].slots = 1;
  hw.array.cols = 1024;
  const auto totals = workload.cost(hw, {});
  ASSERT_FALSE(totals.ok());
  EXPECT_NE(totals.errors().front().text().find("conv1"), std::string::npos);
}

}  // namespace
}  // namespace accsim::sim
