#include "sim/report/report.h"

#include <gtest/gtest.h>

#include "fake_report.h"
#include "sim/report/fields.h"

namespace accsim::sim {
namespace {

TEST(Report, AreTotalsTheSumOfLayersForEveryCount) {
  const Report report = fake_report(7);
  for (const ReportField& field : report_fields()) {
    if (field.scope != FieldScope::both) continue;
    const FieldValue total = field.get(totals_row(report));
    if (!std::holds_alternative<int64_t>(total)) continue;  // ratios don't add
    int64_t sum = 0;
    for (const LayerReport& layer : report.layers)
      sum += std::get<int64_t>(field.get(layer_row(report, layer)));
    EXPECT_EQ(std::get<int64_t>(total), sum) << field.key;
  }
  double energy = 0;
  for (const LayerReport& layer : report.layers) energy += layer.costs.energy.total_pj();
  EXPECT_NEAR(report.totals.energy.total_pj(), energy, 1e-6 * energy);
}

TEST(Report, DoesEveryEnergyComponentAdd) {
  EnergyReport sum{1, 2, 4, 8, 16, 32};
  sum += {100, 200, 400, 800, 1600, 3200};
  EXPECT_EQ(sum.mac, 101);
  EXPECT_EQ(sum.vector, 202);
  EXPECT_EQ(sum.sram, 404);
  EXPECT_EQ(sum.shared, 808);
  EXPECT_EQ(sum.dram, 1616);
  EXPECT_EQ(sum.leakage, 3232);
  EXPECT_EQ(sum.total_pj(), 63 * 101);
}

TEST(Report, IsUtilizationMacsOverWhatTheArrayCouldDo) {
  Report report;
  report.hw.array.rows = 8;
  report.hw.array.cols = 4;
  Costs costs;
  costs.cycles = 100;
  costs.macs = 800;
  EXPECT_DOUBLE_EQ(report.utilization(costs), 800.0 / (100 * 8 * 4));
  EXPECT_EQ(report.utilization(Costs{}), 0);
}

/// 200 of 1000 MACs on lanes: the array has done 800 of 100 x 8 x 4, and at 2 MACs an element it
/// could have done twice as many.
TEST(Report, HasUtilizationNoPartOfTheLanes) {
  Report report;
  report.hw.array.rows = 8;
  report.hw.array.cols = 4;
  Costs costs;
  costs.cycles = 100;
  costs.macs = 1000;
  costs.lane_macs = 200;
  EXPECT_DOUBLE_EQ(report.utilization(costs), 800.0 / (100 * 8 * 4));
  report.hw.types.modes = {{DType::int8, DType::int4, 2, 1, 0}};
  costs.vector_bound = 5;
  costs.compute_bound = 5 + 800 / (2 * 8 * 4 * 1) + 1;  // 13 cycles hold them
  EXPECT_DOUBLE_EQ(report.peak_macs_per_cycle(costs), 800.0 / 13);
  EXPECT_DOUBLE_EQ(report.utilization(costs), 13.0 / 100);
  costs.lane_macs = costs.macs;
  EXPECT_EQ(report.utilization(costs), 0);
}

TEST(Report, HasEveryBoundAName) {
  EXPECT_EQ(name(Bound::none), "none");
  EXPECT_EQ(name(Bound::compute), "compute");
  EXPECT_EQ(name(Bound::weight_load), "weight load");
  EXPECT_EQ(name(Bound::dram), "dram");
  EXPECT_EQ(name(Bound::sram), "sram");
  EXPECT_EQ(name(Bound::latency), "latency");
}

}  // namespace
}  // namespace accsim::sim
