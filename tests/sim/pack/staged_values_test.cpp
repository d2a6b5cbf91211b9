#include <gtest/gtest.h>

#include "hw/energy/energy.h"
#include "sim/map/cost_evaluator.h"
#include "sim/map/product/weight_panels.h"
#include "sim/work/random_gemm.h"
#include "tests/sim/pack/product_values.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

using product_values::expect_right;
using product_values::random_operands;
using product_values::random_problem;
using product_values::Reference;

const std::vector<hw::Dataflow> kEvery = {hw::Dataflow::weight_stationary,
                                          hw::Dataflow::input_stationary,
                                          hw::Dataflow::output_stationary};
constexpr auto kDram = hw::MemoryId::dram;
constexpr auto kShared = hw::MemoryId::shared;

int64_t drawn(std::mt19937& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// What it costs is what its program does, and no less than its bounds; every weight comes from
/// DRAM once, every activation once a panel, and the program's slots of regions have room.
void expect_costs(const GemmProblem& p, const hw::HwConfig& hw, const Candidate& c,
                  const ObjectiveFunction& objective) {
  const hw::Program program = emit(p, hw, c.tiling);
  CostEvaluator evaluator(hw);
  const Cost cost = evaluator.cost(p, c.tiling);
  const hw::Timing stepped = hw::simulate(program, hw, hw::TimingMode::step);
  ASSERT_EQ(cost.timing.total, stepped.total) << to_string(c.tiling) << "\n"
                                              << program_text(program);
  ASSERT_EQ(cost.counts, hw::count_program(program, hw));
  ASSERT_LE(std::max(c.bound, c.sharp), stepped.total.count()) << to_string(c.tiling) << "\n"
                                                               << program_text(program);
  ASSERT_LE(c.energy_traffic, mapping_score(objective, cost, hw).energy_traffic * (1 + 1e-9))
      << to_string(c.tiling);
  ASSERT_LE(c.score_bound, mapping_score(objective, cost, hw).primary * (1 + 1e-9))
      << to_string(c.tiling);
  const WeightPanels panels = weight_panels(p, hw, c.tiling);
  EXPECT_LE(panels.bytes(), p.room);
  EXPECT_EQ(panels.panels, ceil_div(p.op.outputs, c.tiling.staged));
  EXPECT_EQ(cost.counts.macs, Macs(p.op.macs()));
  if (!p.b_encoding.is_packed()) {
    EXPECT_EQ(cost.counts.written[kShared], Bytes(p.op.k() * p.op.outputs));
    EXPECT_EQ(cost.counts.staged, cost.counts.written[kShared]);
  }
  if (p.op.m() == p.op.in[2] && p.kernel_taps() == 1 && !p.has_parameters && !p.residual &&
      !p.b_encoding.is_packed()) {
    EXPECT_EQ(cost.counts.read[kDram],
              Bytes(p.op.k() * p.op.outputs + p.op.m() * p.op.channels * panels.panels))
        << to_string(c.tiling) << "\n"
        << program_text(program);
  }
}

struct Ran {
  std::array<int, 2> panels{};  ///< programs with panels of tiles of outputs, of chunks of channels
  int blocks = 0;               ///< of them, those that stage computed weights in columns' blocks
};

Ran run_staged(uint32_t seed, int rounds, bool narrow) {
  std::mt19937 random(seed);
  Ran ran;
  for (int round = 0; round < rounds; ++round) {
    hw::HwConfig hw = test::random_machine(random);
    hw.shared.kib = 16 * 1024;
    if (hw.shared.channel.read.milli == 0) hw.shared.channel = hw.dram;
    hw.energy = {.mac = 0.2,
                 .vector_op = 0.1,
                 .buffer_byte = {1, 1.5, 0.5, 2, 1},
                 .shared_byte = 4,
                 .dram_read_byte = 100,
                 .dram_write_byte = 120,
                 .static_per_cycle = 3};
    if (narrow) {
      hw.types.weight = DType::int4;
      hw.types.weight_group = drawn(random, 0, 2) == 0 ? 0 : drawn(random, 1, 20);
    }
    const bool plain = drawn(random, 0, 1) == 0;
    GemmOp op =
        plain ? test::product(drawn(random, 2, 60), drawn(random, 1, 60), drawn(random, 1, 60))
              : random_gemm(random);
    if (plain) op.b_transposed = drawn(random, 0, 2) == 0;
    if (plain && drawn(random, 0, 1) == 0)
      op.outputs = ceil_div(op.outputs, hw.array.cols) * hw.array.cols;
    if (op.macs() > 300'000) continue;
    GemmProblem p = random_problem(op, hw, random);
    p.room = drawn(random, 1, 16'000);
    if (narrow && !p.b_encoding.is_packed()) continue;
    const GemmOperands operands = random_operands(p, random);
    const std::vector<int8_t> expected = Reference(p, operands).run();
    const ObjectiveFunction objective{.quantity = drawn(random, 0, 1) == 0 ? Objective::traffic
                                                                           : Objective::energy};
    auto all = tiling_candidates(p, hw, {.dataflows = kEvery, .objective = objective}, {});
    std::erase_if(all, [](const Candidate& c) { return c.tiling.staged == 0; });
    const size_t step = 1 + all.size() / 6;
    for (size_t i = 0; i < all.size(); i += step) {
      expect_right(p, hw, all[i].tiling, operands, expected,
                   drawn(random, 0, 2) == 0 ? &random : nullptr);
      expect_costs(p, hw, all[i], objective);
      if (p.has_parameters && !p.epilogue.table) {
        GemmProblem bare = p;
        bare.has_parameters = false;
        Candidate same = all[i];
        same.bound = same.sharp = 0;
        same.score_bound = same.energy_traffic = 0;
        expect_costs(bare, hw, same, objective);
      }
      if (testing::Test::HasFatalFailure()) return ran;
      ++ran.panels[weight_panels(p, hw, all[i].tiling).by_channels];
      ran.blocks += staged_in_blocks(p, hw, all[i].tiling);
    }
  }
  return ran;
}

TEST(StagedValues, DoProgramsThatStageWeightsComputeTheConvolution) {
  const Ran ran = run_staged(31, 600, false);
  for (const int programs : ran.panels) EXPECT_GT(programs, 200);
  EXPECT_GT(ran.blocks, 50);
}

TEST(StagedValues, DoProgramsThatStageNarrowWeightsComputeTheConvolution) {
  for (const int programs : run_staged(32, 500, true).panels) EXPECT_GT(programs, 100);
}

/// Where nothing is gained nothing is staged: one tile of pixels, operands on chip, no room.
TEST(StagedValues, AreThereOnlyWhereTheyCanHelp) {
  const hw::HwConfig hw = test::small_machine(4, 4);
  GemmProblem p = make_problem(test::product(40, 40, 40), hw);
  p.room = 1 << 20;
  Tiling t{.pixels = 8, .outputs = 8, .channels = 16};
  EXPECT_EQ(staged_outputs(p, hw, t, 40), 8);  // chunks of channels: a tile of outputs
  t.channels = 40;
  EXPECT_EQ(staged_outputs(p, hw, t, 40), 40);  // all tiles
  EXPECT_EQ(staged_outputs(p, hw, t, 16), 16);
  EXPECT_EQ(staged_outputs(p, hw, t, 8), 0);  // such a tile stays in its slot
  // Five tiles of 320 bytes, each in a region; an eighth of the room is a region's.
  p.room = 8 * 319;
  EXPECT_EQ(staged_outputs(p, hw, t, 40), 0);
  p.room = 8 * 320;
  EXPECT_EQ(staged_outputs(p, hw, t, 40), 40);
  const auto never = [&](auto change) {
    GemmProblem other = p;
    Tiling tiling = t;
    change(other, tiling);
    return staged_outputs(other, hw, tiling, 40) == 0;
  };
  EXPECT_TRUE(never([](GemmProblem&, Tiling& to) { to.pixels = 40; }));
  EXPECT_TRUE(never([](GemmProblem& q, Tiling&) { q.residual = Place{}; }));
  EXPECT_FALSE(never([](GemmProblem& q, Tiling& to) {
    q.residual = Place{};
    to.channels = 16;
  }));
  EXPECT_TRUE(never([](GemmProblem&, Tiling& to) { to.outputs_outer = true; }));
  EXPECT_TRUE(never([](GemmProblem& q, Tiling&) { q.room = 0; }));
  EXPECT_TRUE(never([](GemmProblem& q, Tiling&) { q.a.memory = hw::MemoryId::shared; }));
  EXPECT_TRUE(never([](GemmProblem& q, Tiling&) { q.b.memory = hw::MemoryId::shared; }));
  EXPECT_TRUE(never([](GemmProblem& q, Tiling&) { q.op.batch = 2; }));
}

}  // namespace
}  // namespace accsim::sim
