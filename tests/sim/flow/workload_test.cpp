#include "sim/flow/workload.h"

#include <gtest/gtest.h>

#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "sim/flow/cost.h"

namespace accsim::sim {
namespace {

const std::string kSource = ACCSIM_SOURCE_DIR;

/// Distinct ops times how often they occur, without programs, is what the whole report adds up.
TEST(Workload, CostsWhatTheReportSays) {
  for (const char* model : {"resnet18_op13", "mobilenet_v2_op13", "bert_base_op17"}) {
    const Result<Graph> graph = load_graph(kSource + "/models/" + model + ".onnx", {});
    ASSERT_TRUE(graph.ok());
    Workload workload = *Workload::prepare(*graph);
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
        EXPECT_NEAR(totals->energy_pj, c.energy.total(), 1e-9 * c.energy.total());
      }
  }
}

/// Whatever single number of a machine changes: a workload that remembers gives what a fresh one
/// does.
TEST(Workload, RemembersOnlyWhatStaysTheSame) {
  const Result<Graph> graph = load_graph(kSource + "/models/mobilenet_v2_op13.onnx", {});
  Workload remembering = *Workload::prepare(*graph);
  for (const char* machine : {"16x16", "64x64-ddr4"})
    for (const Objective objective : {Objective::cycles, Objective::energy}) {
      const hw::HwConfig base = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
      MapOptions options;
      options.objective = objective;
      options.effort = MapEffort::rule;
      ASSERT_TRUE(remembering.cost(base, options).ok());
      const int64_t before = remembering.remembered();
      int changed = 0;
      for (const hw::Field& field : hw::fields()) {
        hw::HwConfig hw = base;
        if (const auto* whole = std::get_if<hw::Member<int64_t>>(&field.target))
          whole->of(hw) = whole->of(hw) % 2 == 0 ? whole->of(hw) * 2 : whole->of(hw) + 1;
        else if (const auto* number = std::get_if<hw::Member<double>>(&field.target))
          number->of(hw) *= 1.25;
        else if (const auto* rate = std::get_if<hw::Member<hw::ByteRate>>(&field.target))
          rate->of(hw).milli *= 2;
        else
          continue;
        if (hw.dram_model == hw::DramModel::banked) hw.dram = hw.banked.peak(hw.clock_mhz);
        const auto fresh = Workload::prepare(*graph)->cost(hw, options);
        const auto ours = remembering.cost(hw, options);
        ASSERT_EQ(fresh.ok(), ours.ok()) << field.path;
        if (fresh) {
          EXPECT_EQ(*fresh, *ours) << field.path << " on " << machine;
        }
        ++changed;
      }
      EXPECT_GT(changed, 40);
      EXPECT_GT(remembering.remembered(), before + 5 * changed) << "something must be remembered";
    }
}

TEST(Workload, NamesTheLayersThatDoNotFit) {
  Workload workload = *Workload::prepare(*load_graph(kSource + "/models/resnet18_op13.onnx", {}));
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
