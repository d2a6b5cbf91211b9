#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/work/random_gemm.h"
#include "tests/sim/pack/product_values.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

const std::vector<hw::Dataflow> kAllDataflows = {hw::Dataflow::weight_stationary,
                                                 hw::Dataflow::input_stationary,
                                                 hw::Dataflow::output_stationary};

using product_values::expect_right;
using product_values::random_operands;
using product_values::random_problem;
using product_values::Reference;

/// Share of the outputs that the clip didn't touch: clipped ones hide errors.
double unclipped(const std::vector<int8_t>& out) {
  const auto clipped =
      std::count_if(out.begin(), out.end(), [](int8_t v) { return v == -128 || v == 127; });
  return 1.0 - static_cast<double>(clipped) / static_cast<double>(out.size());
}

/// Programs run, by dataflow.
std::array<int, hw::kDataflows> run_random(uint32_t seed, int rounds, bool im2col,
                                           bool narrow = false) {
  std::mt19937 random(seed);
  std::array<int, hw::kDataflows> ran{};
  double free_share = 0;
  int problems = 0, scaled = 0;
  for (int round = 0; round < rounds; ++round) {
    hw::HwConfig hw = test::random_machine(random);
    hw.shared.kib = 16 * 1024;  // for whatever operands are put there, and their twins
    if (narrow) {
      hw.types.weight = DType::int4;
      hw.types.weight_group = random() % 3 == 0 ? 0 : 1 + random() % 20;
    }
    const GemmOp op = random_gemm(random);
    if (op.macs() > 3'000'000 || (im2col && op.a_transposed)) continue;
    const GemmProblem p = random_problem(op, hw, random);
    if (narrow && !p.b_encoding.is_packed()) continue;
    scaled += p.scale_count() > 1;
    const GemmOperands operands = random_operands(p, random);
    const std::vector<int8_t> expected = Reference(p, operands).run();
    free_share += unclipped(expected);
    ++problems;
    MappingPin pin;
    pin.im2col = im2col;
    for (const hw::Dataflow d : kAllDataflows) {
      const auto all = tiling_candidates(p, hw, {.dataflows = {d}}, pin);
      const size_t step = 1 + all.size() / 3;
      for (size_t i = random() % step; i < all.size(); i += step) {
        expect_right(p, hw, all[i].tiling, operands, expected,
                     random() % 3 == 0 ? &random : nullptr);
        if (testing::Test::HasFatalFailure()) return ran;
        ++ran[static_cast<size_t>(d)];
      }
    }
  }
  EXPECT_GT(free_share, 0.5 * problems);
  EXPECT_TRUE(!narrow || 3 * scaled > problems) << scaled << " of " << problems;
  return ran;
}

TEST(ProgramValues, DoNativeProgramsComputeTheConvolution) {
  for (const int programs : run_random(11, 250, false)) EXPECT_GT(programs, 200);
}

TEST(ProgramValues, DoIm2colProgramsComputeTheConvolution) {
  for (const int programs : run_random(12, 120, true)) EXPECT_GT(programs, 70);
}

TEST(ProgramValues, DoProgramsOfNarrowWeightsComputeTheConvolution) {
  for (const int programs : run_random(13, 300, false, true)) EXPECT_GT(programs, 100);
  for (const int programs : run_random(14, 150, true, true)) EXPECT_GT(programs, 40);
}

/// Applies `bend` to the first command of a kind; false when there is none.
template <class C, class Bend>
bool bend_first(std::vector<hw::Item>& body, Bend bend) {
  for (hw::Item& item : body) {
    if (auto* loop = std::get_if<hw::Loop>(&item.node)) {
      if (bend_first<C>(loop->body, bend)) return true;
    } else if (auto* command = std::get_if<hw::Command>(&item.node)) {
      if (!std::holds_alternative<C>(*command)) continue;
      bend(std::get<C>(*command));
      return true;
    }
  }
  return false;
}

TEST(ProgramValues, DoesTheComparisonSeeAWrongProgram) {
  const hw::HwConfig hw = test::small_machine(5, 3);
  std::mt19937 random(9);
  GemmProblem p = random_problem(
      test::convolution({.channels = 7, .size = 8, .outputs = 7, .kernel = 3, .pad = 1}), hw,
      random);
  p.epilogue.relu = false;
  p.residual.reset();
  p.epilogue.residual.reset();
  const GemmOperands operands = random_operands(p, random);
  const std::vector<int8_t> expected = Reference(p, operands).run();
  EXPECT_GT(unclipped(expected), 0.5);
  const Tiling t{.lines = 4, .pixels = 8, .outputs = 7, .channels = 5};
  const auto run = [&](auto bend) {
    hw::Program program = emit(p, hw, t);
    bend(program.body);
    hw::MemoryImage image = pack_operands(p, hw, t, operands);
    EXPECT_TRUE(hw::run_golden(program, hw, image).ok());
    return unpack_output(image);
  };
  EXPECT_EQ(run([](auto&) {}), expected);
  const auto gemm = [&](auto bend) {
    return run([&](auto& body) { EXPECT_TRUE(bend_first<hw::GemmCommand>(body, bend)); });
  };
  EXPECT_NE(gemm([](hw::GemmCommand& c) { c.first_of.clear(); }), expected);
  EXPECT_NE(gemm([](hw::GemmCommand& c) { c.accumulate = true; }), expected);
  EXPECT_NE(gemm([](hw::GemmCommand& c) { c.window.origin[2] += hw::Affine(1); }), expected);
  EXPECT_NE(gemm([](hw::GemmCommand& c) {
              c.window.count[2] -= 1;  // rows of the right number, of shorter lines
              c.window.count[1] += 1;
            }),
            expected);
  EXPECT_NE(gemm([](hw::GemmCommand& c) { c.window.pad_value += 1; }), expected);
  EXPECT_NE(gemm([](hw::GemmCommand& c) { c.window.line_step += 1; }), expected);
  EXPECT_NE(gemm([](hw::GemmCommand& c) { c.weights.offset += hw::Affine(1); }), expected);
  EXPECT_NE(run([](auto& body) {
              EXPECT_TRUE(
                  bend_first<hw::PostCommand>(body, [](hw::PostCommand& c) { ++c.epilogue.zero; }));
            }),
            expected);
}

/// Every tiling of one op, on a machine with an awkward array.
void expect_all_right(const GemmOp& op, uint32_t seed) {
  std::mt19937 random(seed);
  hw::HwConfig hw = test::small_machine(5, 3);
  for (const bool constant : {true, false})
    for (const bool im2col : {false, true}) {
      GemmProblem p = random_problem(op, hw, random);
      p.b.constant = constant;
      const GemmOperands operands = random_operands(p, random);
      const std::vector<int8_t> expected = Reference(p, operands).run();
      MappingPin pin;
      pin.im2col = im2col;
      const auto all = tiling_candidates(p, hw, {.dataflows = kAllDataflows}, pin);
      ASSERT_FALSE(all.empty());
      const size_t step = 1 + all.size() / 300;
      for (size_t i = 0; i < all.size(); i += step) {
        expect_right(p, hw, all[i].tiling, operands, expected);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
}

TEST(ProgramValues, DoTilingsOfAProductComputeIt) {
  expect_all_right(test::product(13, 17, 11), 1);
}

TEST(ProgramValues, DoTilingsOfAPaddedStridedConvolutionComputeIt) {
  expect_all_right(test::convolution({.images = 3,
                                      .channels = 11,
                                      .size = 9,
                                      .outputs = 7,
                                      .kernel = 3,
                                      .stride = 2,
                                      .pad = 1}),
                   2);
}

TEST(ProgramValues, DoTilingsOfADilatedConvolutionComputeIt) {
  expect_all_right(
      test::convolution(
          {.channels = 7, .size = 9, .outputs = 7, .kernel = 3, .pad = 2, .dilation = 2}),
      3);
  expect_all_right(
      test::convolution(
          {.channels = 3, .size = 12, .outputs = 4, .kernel = 4, .pad = 3, .dilation = 3}),
      4);
}

TEST(ProgramValues, DoTilingsOfADepthwiseConvolutionComputeIt) {
  expect_all_right(test::convolution({.images = 2,
                                      .channels = 11,
                                      .size = 8,
                                      .outputs = 11,
                                      .kernel = 3,
                                      .pad = 1,
                                      .groups = 11}),
                   5);
}

TEST(ProgramValues, DoTilingsOfAGroupedConvolutionComputeIt) {
  expect_all_right(
      test::convolution(
          {.channels = 14, .size = 8, .outputs = 10, .kernel = 3, .pad = 1, .groups = 2}),
      6);
}

TEST(ProgramValues, DoTilingsOfAVolumeConvolutionComputeIt) {
  GemmOp op = test::convolution(
      {.images = 2, .channels = 6, .size = 6, .outputs = 5, .kernel = 3, .pad = 1});
  op.in[0] = 5;
  op.kernel[0] = 3;
  op.stride[0] = 2;
  op.pad[0] = 1;
  op.out[0] = 3;
  expect_all_right(op, 7);
}

/// Adds the first row of every gemm, all loops run through; `indices` by loop id.
void add_first_rows(const std::vector<hw::Item>& body, std::vector<int64_t>& indices,
                    std::set<int64_t>& to) {
  for (const hw::Item& item : body)
    if (const auto* loop = std::get_if<hw::Loop>(&item.node)) {
      for (int64_t& i = indices[static_cast<size_t>(loop->id)] = 0; i < loop->count; ++i)
        add_first_rows(loop->body, indices, to);
    } else if (const auto* command = std::get_if<hw::Command>(&item.node)) {
      const auto* gemm = std::get_if<hw::GemmCommand>(command);
      if (!gemm) continue;
      int64_t row = gemm->window.first.base;
      for (const hw::Affine::Term& term : gemm->window.first.terms)
        row += term.coeff * indices[static_cast<size_t>(term.loop)];
      to.insert(row);
    }
}

/// A tile of two images of 7 x 9 outputs is 126 rows. An array of 5 rows takes them by 5, one of 4
/// columns by 4, wherever a line or an image ends.
TEST(ProgramValues, DoPassesThatCutLinesComputeTheConvolution) {
  const hw::HwConfig hw = test::small_machine(5, 4);
  std::mt19937 random(10);
  GemmOp op = test::convolution(
      {.images = 2, .channels = 1, .size = 9, .outputs = 3, .kernel = 3, .pad = 1});
  op.in[1] = op.out[1] = 7;
  const GemmProblem p = random_problem(op, hw, random);
  const GemmOperands operands = random_operands(p, random);
  const std::vector<int8_t> expected = Reference(p, operands).run();
  for (const auto& [d, lanes] : {std::pair{hw::Dataflow::input_stationary, int64_t{4}},
                                 std::pair{hw::Dataflow::output_stationary, int64_t{5}}}) {
    const Tiling t{.dataflow = d, .images = 2, .lines = 7, .pixels = 9, .outputs = 3};
    expect_right(p, hw, t, operands, expected);
    const hw::Program program = emit(p, hw, t);
    std::vector<int64_t> indices(static_cast<size_t>(program.loops));
    std::set<int64_t> rows, every;
    add_first_rows(program.body, indices, rows);
    for (int64_t row = 0; row < 126; row += lanes) every.insert(row);
    EXPECT_EQ(rows, every);
  }
}

TEST(ProgramValues, DoSumsOfDifferentChannelTilesAddUpInTheAccumulator) {
  // 40 channels in tiles of 15: two full ones in a loop and a ragged one behind it.
  const hw::HwConfig hw = test::small_machine(5, 3);
  std::mt19937 random(8);
  const GemmProblem p = random_problem(test::product(6, 40, 4), hw, random);
  const GemmOperands operands = random_operands(p, random);
  for (const hw::Dataflow d : kAllDataflows)
    expect_right(p, hw, Tiling{.dataflow = d, .pixels = 6, .outputs = 4, .channels = 15}, operands,
                 Reference(p, operands).run());
}

}  // namespace
}  // namespace accsim::sim
