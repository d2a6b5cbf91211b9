#include "sim/map/gather/gather_problem.h"

#include <gtest/gtest.h>

#include <random>

#include "hw/golden/golden.h"
#include "hw/timing/timing.h"
#include "sim/map/cost_evaluator.h"
#include "tests/support/index.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

using test::as_index;

GatherProblem problem(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  GatherProblem p;
  const int64_t lists = pick(1, 3);
  p.rows = {pick(1, 3) * lists, pick(1, 40), pick(1, 90), pick(1, 50), lists};
  p.data = {"data"};
  p.indices = {"indices"};
  p.out = {"out"};
  p.element_bytes = pick(1, 2);
  p.index_bytes = pick(0, 1) == 0 ? 4 : 8;
  return p;
}

/// Data and lists: most indices are rows, some lie beyond.
hw::MemoryImage image(const GatherProblem& p, const hw::Program& program, std::mt19937& random) {
  hw::MemoryImage out;
  for (const hw::ProgramTensor& t : program.tensors)
    for (uint8_t& b : out.emplace_back(as_index(t.bytes))) b = static_cast<uint8_t>(random());
  for (int64_t i = 0; i < p.rows.lists * p.rows.count; ++i) {
    const auto index = static_cast<uint32_t>(
        random() % 8 == 0 ? random() : random() % static_cast<uint64_t>(p.rows.rows));
    for (size_t b = 0; b < 4; ++b)
      out[1][as_index(i * p.index_bytes) + b] = static_cast<uint8_t>(index >> (8 * b));
  }
  return out;
}

/// Element by element, what the definition says.
std::vector<uint8_t> picked(const GatherProblem& p, const hw::MemoryImage& image) {
  const auto& [groups, rows, row, count, lists] = p.rows;
  std::vector<uint8_t> out(as_index(groups * count * row * p.element_bytes));
  for (size_t at = 0; at < out.size(); ++at) {
    const auto byte = static_cast<int64_t>(at);
    const int64_t in_row = byte % (row * p.element_bytes), item = byte / (row * p.element_bytes);
    uint64_t index = 0;
    for (size_t b = 4; b-- > 0;)
      index = index * 256 +
              image[1][as_index((item / count % lists * count + item % count) * p.index_bytes) + b];
    const auto from = std::min<int64_t>(static_cast<int64_t>(index), rows - 1);
    out[at] = image[0][as_index((item / count * rows + from) * row * p.element_bytes + in_row)];
  }
  return out;
}

TEST(Gather, GivesTheProgramTheRowsThatTheIndicesName) {
  std::mt19937 random(7);
  int compared = 0, cut = 0;
  for (int round = 0; round < 300; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    const GatherProblem p = problem(random);
    const auto fitting = tilings(p, hw);
    if (fitting.empty()) continue;
    const GatherTile t = fitting[random() % fitting.size()].second;
    ASSERT_TRUE(fits(p, hw, t));
    const hw::Program program = emit(p, hw, t);
    const Status good = verify(program, hw);
    ASSERT_TRUE(good.ok()) << good.errors().front().text() << program_text(program);
    hw::MemoryImage memory = image(p, program, random);
    const std::vector<uint8_t> wanted = picked(p, memory);
    ASSERT_TRUE(hw::run_golden(program, hw, memory).ok()) << program_text(program);
    ASSERT_EQ(memory[2], wanted) << program_text(program);
    const Cost cost = CostEvaluator(hw).cost(p, t);
    EXPECT_TRUE(test::equal(cost.timing, hw::simulate(program, hw, hw::TimingMode::step)));
    EXPECT_EQ(cost.counts, count_program(program, hw));
    ++compared;
    cut += program.loops > 1;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(cut, 50);
}

TEST(Gather, TakesWhatFits) {
  hw::HwConfig hw = test::small_machine();  // parameters: a slot of 1 KiB; output: one of 2 KiB
  GatherProblem p;
  p.rows = {1, 100, 3000, 300};
  EXPECT_TRUE(fits(p, hw, {256, 1, 2048}));
  EXPECT_FALSE(fits(p, hw, {257, 1, 2048})) << "an index has 4 bytes";
  EXPECT_FALSE(fits(p, hw, {256, 2, 1025}));
  const auto tile = rule_tiling(p, hw);
  ASSERT_TRUE(tile.has_value());
  EXPECT_TRUE(fits(p, hw, *tile));
  EXPECT_LT(tile->bytes, 3000) << "a row is larger than a slot";
  p.index_bytes = 2;
  EXPECT_FALSE(rule_tiling(p, hw).has_value());
}

}  // namespace
}  // namespace accsim::sim
