#include "sim/cost/network_edp.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "hw/energy/energy.h"
#include "sim/cost/cost.h"
#include "sim/cost/requests.h"
#include "sim/cost/workload.h"
#include "sim/lower/lower.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// What a network's ops cost, each alone.
struct AloneCosts {
  std::vector<double> picojoules, cycles;
  double all_picojoules = 0, all_cycles = 0;

  double product() const { return all_picojoules * all_cycles; }
};

AloneCosts alone(const Graph& graph, const hw::HwConfig& hw, Objective objective) {
  const auto network =
      cost_network(graph, hw, {.objective = objective, .slack = 0, .programs = false});
  AloneCosts out;
  for (const auto& layer : network->mappings)
    for (const auto& m : layer) {
      out.picojoules.push_back(total_energy(energy(m->counts, m->timing.total, hw)).value());
      out.cycles.push_back(static_cast<double>(m->timing.total.count()));
      out.all_picojoules += out.picojoules.back();
      out.all_cycles += out.cycles.back();
    }
  return out;
}

/// The network's ops, with what they are asked of.
struct AskedOps {
  Lowered lowered;
  std::vector<std::vector<OpRequest>> work;
  std::vector<NetworkOp> ops;

  AskedOps(const Graph& graph, const hw::HwConfig& hw) : lowered(*lower_in_memory(graph)) {
    const Residency residency = plan_residency(graph, lowered, hw);
    for (const Layer& layer : lowered.layers)
      work.push_back(layer_requests(graph, layer, residency, hw));
    for (size_t i = 0; i < work.size(); ++i)
      for (const OpRequest& r : work[i]) ops.push_back({&r, &lowered.layers[i].name});
  }
};

double price_of(const Graph& graph, const hw::HwConfig& hw) {
  const AskedOps asked(graph, hw);
  return network_mapper(asked.ops, hw, {.objective = Objective::edp})->options().cycle_price;
}

/// What the sums come to where each op's own product is least.
double product_op_by_op(const Graph& graph, const hw::HwConfig& hw) {
  const AskedOps asked(graph, hw);
  Mapper mapper(hw, {.objective = Objective::edp, .programs = false});
  double picojoules = 0, cycles = 0;
  for (const NetworkOp& op : asked.ops) {
    const auto m = *mapper.map(*op.request, *op.layer);
    picojoules += total_energy(energy(m->counts, m->timing.total, hw)).value();
    cycles += static_cast<double>(m->timing.total.count());
  }
  return picojoules * cycles;
}

class NetworkEdp : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  const Graph graph_ = *load_graph(kSource + "/models/" + GetParam().first + ".onnx", {});
  const hw::HwConfig hw_ = *hw::load_hw(kSource + "/configs/" + GetParam().second + ".yaml");
};

/// No op has a mapping that would be worth more at the price that a cycle has: neither that of the
/// fewest cycles nor that of the least energy. The price is what the sums make it, and the product
/// is less than with either, and than with the least product of each op.
TEST_P(NetworkEdp, IsOfTheSums) {
  const AloneCosts edp = alone(graph_, hw_, Objective::edp);
  const double price = price_of(graph_, hw_);
  EXPECT_NEAR(price, edp.all_picojoules / edp.all_cycles, price / 20);
  for (const Objective objective : {Objective::cycles, Objective::energy}) {
    const AloneCosts other = alone(graph_, hw_, objective);
    ASSERT_EQ(edp.cycles.size(), other.cycles.size());
    for (size_t i = 0; i < edp.cycles.size(); ++i)
      EXPECT_LE(edp.picojoules[i] + price * edp.cycles[i],
                (other.picojoules[i] + price * other.cycles[i]) * (1 + 1e-9))
          << i << " " << name(objective);
    EXPECT_LT(edp.product(), other.product()) << name(objective);
  }
  EXPECT_LE(edp.product(), product_op_by_op(graph_, hw_));
}

TEST_P(NetworkEdp, IsTheSameInAWorkload) {
  const MapOptions options{.objective = Objective::edp, .programs = false};
  const Costs costs = cost_network(graph_, hw_, options)->report.totals;
  const WorkloadTotals totals = Workload::prepare(graph_)->cost(hw_, options).value();
  EXPECT_EQ(totals.cycles, costs.cycles);
  EXPECT_EQ(totals.dram_read_bytes, costs.dram_read);
  EXPECT_NEAR(totals.energy_pj, costs.energy.total_pj(), 1e-9 * costs.energy.total_pj());
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkEdp,
                         testing::Values(std::pair("squeezenet1_1_op13", "16x16"),
                                         std::pair("resnet18_op13", "64x64-starved")));

}  // namespace
}  // namespace accsim::sim
