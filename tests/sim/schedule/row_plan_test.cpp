#include "sim/schedule/row_plan.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "tests/support/attention_model.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// A shared memory that holds only the finest pieces of rows doesn't keep a run from larger ones,
/// which go through DRAM as they do without such a memory.
TEST(RowPlan, IsNoWorseForALittleSharedMemory) {
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64-hbm.yaml");
  const ModelDef model = test::grouped_attention({1, 1, 512, 512, 64}, false).model();
  const Graph graph = *elaborate(model, {});
  MapOptions options;
  options.slack = 0;
  hw.shared.kib = 0;
  const int64_t without = cost_network(graph, hw, options)->report.totals.cycles;
  for (const int64_t kib : {1, 2, 4, 8, 16}) {
    hw.shared.kib = kib;
    const int64_t with = cost_network(graph, hw, options)->report.totals.cycles;
    EXPECT_LE(static_cast<double>(with), 1.005 * static_cast<double>(without)) << kib << " KiB";
  }
}

}  // namespace
}  // namespace accsim::sim
