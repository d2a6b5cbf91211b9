#include "sim/cost/left_out.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "hw/config/load.h"
#include "sim/verify/verify_network.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

const hw::HwConfig& machine(const std::string& name) {
  static std::map<std::string, hw::HwConfig> known;
  const auto [at, fresh] = known.try_emplace(name);
  if (fresh) at->second = *hw::load_hw(kSource + "/configs/" + name + ".yaml");
  return at->second;
}

/// Layers of a program, by their heads.
std::set<std::string> layers_of(const hw::Program& program) {
  std::set<std::string> out;
  for (const hw::Item& item : program.body)
    if (const auto* head = std::get_if<hw::LayerHead>(&item.node)) out.insert(head->name);
  return out;
}

/// What a report says of a network is what its program has.
void expect_equal(const Graph& given, const hw::HwConfig& hw) {
  const auto network = cost_network(given, hw, {});
  ASSERT_TRUE(network.ok()) << network.errors().front().text();
  const Graph& graph = network->in_blocks ? *network->in_blocks : given;
  const auto made = network_case(graph, *network, hw, 1);
  const std::set<std::string> ran =
      made ? layers_of(made->network.program) : std::set<std::string>();
  EXPECT_TRUE(made.ok() || made.errors().front().code == Errc::unsupported);
  const Report& report = network->report;
  std::set<std::string> told;
  for (const LayerReport& l : report.layers) {
    EXPECT_TRUE(l.costs.verifiable_cycles == 0 || l.costs.verifiable_cycles == l.costs.cycles)
        << l.name << " is verifiable in part";
    EXPECT_EQ(l.unverifiable.empty(), l.costs.verifiable_cycles == l.costs.cycles) << l.name;
    if (l.costs.alone_cycles > 0 && l.unverifiable.empty()) told.insert(l.name);
  }
  EXPECT_EQ(ran, told);
  const int64_t left = made ? made->report.left_cycles : report.totals.cycles;
  EXPECT_EQ(left, report.totals.cycles - report.totals.verifiable_cycles);
}

class Shipped : public testing::TestWithParam<const char*> {};

TEST_P(Shipped, ReportsCallVerifiableWhatAProgramHas) {
  const auto graph = load_graph(kSource + "/models/" + GetParam() + ".onnx", {});
  ASSERT_TRUE(graph.ok());
  for (const char* name : {"64x64", "8x8"}) expect_equal(*graph, machine(name));
}

INSTANTIATE_TEST_SUITE_P(Models, Shipped,
                         testing::Values("mobilenet_v2_op13", "squeezenet1_1_op13",
                                         "googlenet_op17", "llama_tiny2_prefill64_op17",
                                         "resnet18_op13", "bert_base_op17"));

/// An LSTM has products and gates: its commands are those of half of it.
TEST(LeftOut, ALayerIsInAProgramWholeOrNotAtAll) {
  test::ModelBuilder m(17);
  m.input("x", {4, 1, 8}).weight("w", {1, 32, 8}).weight("r", {1, 32, 8});
  m.node("LSTM", {"x", "w", "r"}, {"y"}, {{"hidden_size", "", int64_t{8}}});
  m.node("Relu", {"y"}, {"z"}).output("z");
  const auto graph = elaborate(m.model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  for (const char* name : {"64x64", "8x8"}) expect_equal(*graph, machine(name));
}

}  // namespace
}  // namespace accsim::sim
