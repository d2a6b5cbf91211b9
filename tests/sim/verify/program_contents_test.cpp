#include "hw/random/program_contents.h"

#include <gtest/gtest.h>

#include <set>

#include "hw/config/load.h"
#include "hw/program/core_runs.h"
#include "hw/program/read_program.h"
#include "sim/cost/cost.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

/// The programs that --dump-program prints of a network.
std::vector<Program> programs_of(const std::string& model, const HwConfig& hw) {
  sim::ElaborateOptions options;
  options.bindings.emplace(sim::kAllOthers, 1);
  const auto graph = sim::load_graph(kSource + "/models/" + model, options);
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto network = sim::cost_network(*graph, hw, {});
  EXPECT_TRUE(network.ok()) << network.errors().front().text();
  return *parse_programs(*sim::dump_programs(*graph, *network, "*"), model);
}

/// How many different bytes a program stores: one that computes nothing stores zeros.
size_t different_bytes(const Program& p, const MemoryImage& before, const MemoryImage& after) {
  std::set<uint8_t> out;
  for (size_t i = 0; i < p.tensors.size(); ++i)
    if (before[i] != after[i]) out.insert(after[i].begin(), after[i].end());
  return out.size();
}

/// Products, softmax, norms, gathers: golden refuses parameters that can't be such.
TEST(RandomContents, AreSuchThatGoldenRunsEveryProgramOfATransformer) {
  const auto hw = load_hw(kSource + "/configs/64x64.yaml");
  ASSERT_TRUE(hw.ok());
  std::mt19937 random(5);
  int64_t ran = 0, varied = 0;
  for (const Program& p : programs_of("llama_tiny2_prefill64_op17.onnx", *hw)) {
    if (core_lacks(p)) continue;
    const auto image = random_contents(p, random);
    ASSERT_TRUE(image.ok()) << image.errors().front().text();
    MemoryImage after = *image;
    const Status good = run_golden(p, *hw, after);
    ASSERT_TRUE(good.ok()) << p.name << ": " << good.errors().front().text();
    ++ran;
    varied += different_bytes(p, *image, after) > 8 ? 1 : 0;
  }
  EXPECT_GT(ran, 20);
  EXPECT_GT(varied, ran * 3 / 4);
}

TEST(RandomContents, RefuseTensorsBeyondMemory) {
  Program p;
  p.tensors.push_back({"large", MemoryId::dram, kMostDrawnBytes + 1});
  std::mt19937 random(1);
  const auto image = random_contents(p, random);
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.errors().front().code, Errc::capacity);
  p.tensors.front().bytes = 100;
  EXPECT_TRUE(random_contents(p, random, 100).ok());
  EXPECT_FALSE(random_contents(p, random, 99).ok());  // what is left for several programs
}

}  // namespace
}  // namespace accsim::hw
