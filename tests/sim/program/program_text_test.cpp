#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "hw/config/load.h"
#include "hw/program/read_program.h"
#include "sim/program/network_program.h"
#include "tests/support/same_programs.h"
#include "tests/support/source.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;
using hw::HwConfig;
using hw::Program;

std::vector<fs::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(kSource) / folder))
    if (entry.path().extension() == extension && entry.path().parent_path().stem() != "sweeps")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}
std::string file_name(const testing::TestParamInfo<fs::path>& file) {
  std::string out = file.param.stem().string();
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(c) == 0; }, '_');
  return out;
}

Graph load(const fs::path& model) {
  ElaborateOptions options;
  options.bindings.emplace(kAllOthers, 1);
  auto graph = load_graph(model.string(), options);
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  return std::move(*graph);
}

/// Is a program its text?
void expect_read_back(const Program& p) {
  const std::string text = program_text(p);
  const auto read = hw::parse_programs(text, "p");
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  ASSERT_EQ(read->size(), 1U);
  ASSERT_TRUE(test::same(read->front(), p)) << text;
}

bool is_all_comments(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') return false;
  return true;
}

/// As on a machine whose units do every layer.
void expect_no_programs(const CostedNetwork& network) {
  for (const auto& layer : network.mappings)
    for (const auto& mapping : layer) EXPECT_FALSE(mapping->has_program());
}

/// What `accsim --dump-program '*'` prints is read back as programs of the same cycles and counts.
void expect_dump_read_back(const Graph& graph, const CostedNetwork& network, const HwConfig& hw) {
  const auto text = dump_programs(graph, network, "*");
  ASSERT_TRUE(text.ok());
  if (is_all_comments(*text)) return expect_no_programs(network);
  const auto read = hw::parse_programs(*text, "dump");
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  auto next = read->begin();
  for (const auto& layer : network.mappings) {
    for (const auto& mapping : layer) {
      if (!mapping->has_program()) continue;
      ASSERT_NE(next, read->end());
      const Status good = verify(*next, hw);
      ASSERT_TRUE(good.ok()) << next->name << ": " << good.errors().front().text();
      EXPECT_TRUE(test::equal(hw::simulate(*next, hw), mapping->timing)) << next->name;
      EXPECT_EQ(hw::count_program(*next, hw), mapping->counts) << next->name;
      ++next;
    }
  }
  EXPECT_EQ(next, read->end());
}

void expect_network_read_back(const fs::path& model, const HwConfig& hw) {
  const Graph graph = load(model);
  const auto network = cost_network(graph, hw, {});
  ASSERT_TRUE(network.ok()) << network.errors().front().text();
  const Graph& costed = network->in_blocks ? *network->in_blocks : graph;
  expect_read_back(network_program(costed, *network).program);
  for (const auto& layer : network->mappings)
    for (const auto& mapping : layer)
      if (mapping->has_program()) expect_read_back(mapping->program);
  expect_dump_read_back(graph, *network, hw);
}

class EveryNetwork : public testing::TestWithParam<fs::path> {};
TEST_P(EveryNetwork, IsReadBackFromItsPrograms) {
  const auto hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  ASSERT_TRUE(hw.ok());
  expect_network_read_back(GetParam(), *hw);
}
INSTANTIATE_TEST_SUITE_P(Models, EveryNetwork, testing::ValuesIn(files_in("models", ".onnx")),
                         file_name);

class EveryMachine : public testing::TestWithParam<fs::path> {};
TEST_P(EveryMachine, HasProgramsThatAreReadBack) {
  const auto hw = hw::load_hw(GetParam().string());
  ASSERT_TRUE(hw.ok());
  expect_network_read_back(kSource + "/models/resnet18_op13.onnx", *hw);
}
INSTANTIATE_TEST_SUITE_P(Machines, EveryMachine, testing::ValuesIn(files_in("configs", ".yaml")),
                         file_name);

}  // namespace
}  // namespace accsim::sim
