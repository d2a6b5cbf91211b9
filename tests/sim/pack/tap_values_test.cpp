#include <gtest/gtest.h>

#include "hw/timing/timing.h"
#include "sim/map/cost_evaluator.h"
#include "sim/map/product/tap_problem.h"
#include "tests/sim/pack/product_values.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

using product_values::expect_right;
using product_values::random_operands;
using product_values::random_problem;
using product_values::Reference;

/// A depthwise convolution, of lines that differ from pixels in every way.
GemmOp random_depthwise(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  GemmOp op;
  op.grouped = true;
  op.batch = pick(2, 40);
  op.images = pick(1, 2);
  for (size_t d = 1; d < 3; ++d) {
    op.kernel[d] = pick(1, 5);
    op.stride[d] = pick(1, 3);
    op.dilation[d] = pick(1, 2);
    const int64_t reach = (op.kernel[d] - 1) * op.dilation[d] + 1;
    op.in[d] = reach + pick(0, 12);
    op.pad[d] = pick(0, reach - 1);
    op.out[d] = (op.in[d] + 2 * op.pad[d] - reach) / op.stride[d] + 1;
  }
  return op;
}

GemmProblem problem_of(const GemmOp& op, const hw::HwConfig& hw, std::mt19937& random) {
  GemmProblem p = random_problem(op, hw, random);
  p.b.constant = true;
  p.residual.reset();
  p.epilogue.residual.reset();
  choose_weights(p, hw);
  return p;
}

hw::HwConfig random_machine(std::mt19937& random) {
  hw::HwConfig hw = test::random_machine(random);
  hw.vector.mac_lanes = std::uniform_int_distribution<int64_t>(1, 40)(random);
  return hw;
}

TEST(TapValues, DoProgramsOnTheLanesComputeTheConvolution) {
  std::mt19937 random(21);
  int programs = 0, repeated = 0;
  for (int round = 0; round < 150; ++round) {
    const hw::HwConfig hw = random_machine(random);
    const GemmProblem p = problem_of(random_depthwise(random), hw, random);
    const GemmOperands operands = random_operands(p, random);
    const std::vector<int8_t> expected = Reference(p, operands).run();
    const auto all = tap_tilings(p, hw);
    const size_t step = 1 + all.size() / 3;
    for (size_t i = random() % step; i < all.size(); i += step, ++programs) {
      const TapTiling& t = all[i].second;
      expect_right(p, hw, t, operands, expected);
      if (HasFatalFailure()) return;
      repeated += t.repeats > 1;
    }
  }
  EXPECT_GT(programs, 200);
  EXPECT_GT(repeated, 20);
}

TEST(TapValues, DoBiasesWrapAsTheArraysDo) {
  std::mt19937 random(22);
  const hw::HwConfig hw = random_machine(random);
  GemmProblem p =
      problem_of(test::convolution(
                     {.channels = 3, .size = 5, .outputs = 3, .kernel = 3, .pad = 1, .groups = 3}),
                 hw, random);
  p.epilogue.table = p.epilogue.relu = false;
  p.a_zero = -128;
  GemmOperands operands = random_operands(p, random);
  operands.weights.assign(operands.weights.size(), 127);
  for (GemmOperands::Channel& c : operands.channels) c = {INT32_MIN + 5, 1, 0};
  // What the array makes of it: its sums wrap at 32 bits, too.
  const Tiling on_array{.groups = 1};
  hw::MemoryImage array = pack_operands(p, hw, on_array, operands);
  ASSERT_TRUE(run_golden(emit(p, hw, on_array), hw, array).ok());
  const auto all = tap_tilings(p, hw);
  ASSERT_FALSE(all.empty());
  expect_right(p, hw, all.front().second, operands, unpack_output(array));
}

TEST(TapTilings, HaveNoBoundAboveTheCyclesAndNoMacMissing) {
  std::mt19937 random(23);
  int64_t tilings = 0;
  for (int round = 0; round < 60; ++round) {
    hw::HwConfig hw = random_machine(random);
    test::draw_channels(hw, random);
    const GemmProblem p = problem_of(random_depthwise(random), hw, random);
    CostEvaluator evaluator(hw);
    const auto all = tap_tilings(p, hw);
    const size_t step = 1 + all.size() / 8;
    for (size_t i = random() % step; i < all.size(); i += step, ++tilings) {
      const auto& [bound, t] = all[i];
      const Cost cost = evaluator.cost(p, t);
      ASSERT_LE(bound, cost.timing.total.count()) << to_string(p, t);
      const hw::Program program = emit(p, hw, t);
      ASSERT_EQ(cost.timing.total, simulate(program, hw).total) << to_string(p, t);
      ASSERT_EQ(cost.counts, count_program(program, hw)) << to_string(p, t);
      ASSERT_EQ(cost.counts.lane_macs, Macs(p.op.macs()));
    }
  }
  EXPECT_GT(tilings, 300);
}

TEST(TapTilings, AreOfNothingElseThanDepthwiseConvolutions) {
  std::mt19937 random(24);
  hw::HwConfig hw = random_machine(random);
  const test::SquareConv depthwise{
      .channels = 4, .size = 6, .outputs = 4, .kernel = 3, .pad = 1, .groups = 4};
  const GemmProblem good = problem_of(test::convolution(depthwise), hw, random);
  EXPECT_TRUE(weighs_taps(good, hw));
  test::SquareConv two = depthwise;
  two.outputs = 8;
  EXPECT_FALSE(weighs_taps(problem_of(test::convolution(two), hw, random), hw));
  two.groups = 2, two.outputs = 2;
  EXPECT_FALSE(weighs_taps(problem_of(test::convolution(two), hw, random), hw));
  GemmProblem computed = good;
  computed.b.constant = false;
  EXPECT_FALSE(weighs_taps(computed, hw));
  GemmProblem adds = good;
  adds.residual = {"r", hw::MemoryId::dram, false};
  EXPECT_FALSE(weighs_taps(adds, hw));
  GemmProblem deep = good;
  deep.op.kernel[0] = deep.z.kernel = 2;
  EXPECT_FALSE(weighs_taps(deep, hw));
  // All of a border's taps lie in the padding.
  test::SquareConv padded = depthwise;
  padded.pad = 3;
  EXPECT_FALSE(weighs_taps(problem_of(test::convolution(padded), hw, random), hw));
  hw.vector.mac_lanes = 0;
  EXPECT_FALSE(weighs_taps(good, hw));
  EXPECT_TRUE(tap_tilings(good, hw).empty());
}

}  // namespace
}  // namespace accsim::sim
