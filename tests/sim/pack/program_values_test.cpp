#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hw/golden/golden.h"
#include "hw/golden/scatter_loads.h"
#include "sim/map/gemm_space.h"
#include "sim/pack/operand_layout.h"
#include "sim/work/random_gemm.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

const std::vector<hw::Dataflow> kAllDataflows = {hw::Dataflow::weight_stationary,
                                                 hw::Dataflow::input_stationary,
                                                 hw::Dataflow::output_stationary};

size_t at(int64_t i) { return static_cast<size_t>(i); }

GemmOperands random_operands(const GemmProblem& p, std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  GemmOperands o;
  for (int64_t i = logical_a(p.op); i > 0; --i) o.a.push_back(static_cast<int8_t>(pick(-128, 127)));
  for (int64_t i = logical_weights(p.op); i > 0; --i)
    o.weights.push_back(static_cast<int8_t>(p.b_bits == 4 ? pick(-8, 7) : pick(-128, 127)));
  const bool scaled = p.scales() > 1;  // multipliers of 16 bits
  const int64_t one = scaled ? 1 << 15 : 1 << 20, shift = scaled ? 22 : 27;
  for (int64_t i = p.pixel_outputs(); i > 0; --i)
    o.channels.push_back(
        {static_cast<int32_t>(pick(-30000, 30000) / (p.b_bits == 4 ? 16 : 1)),
         static_cast<int32_t>(pick(-1, 3) < 0 ? -pick(1, one) : pick(one / 2, one)),
         static_cast<int32_t>(pick(shift, shift + 4) - (p.b_bits == 4 ? 4 : 0))});
  for (int64_t i = (p.scales() - 1) * p.op.outputs; i > 0; --i)
    o.scales.push_back(static_cast<int16_t>(pick(-32768, 32767)));
  for (int64_t i = p.residual ? p.op.batch * p.op.m() * p.op.outputs : 0; i > 0; --i)
    o.residual.push_back(static_cast<int8_t>(pick(-128, 127)));
  for (int v = 0; p.table && v < 256; ++v) o.table.push_back(static_cast<int8_t>(pick(-128, 127)));
  return o;
}

/// The definition: every output is a sum over channels and kernel taps.
class Reference {
 public:
  Reference(const GemmProblem& p, const GemmOperands& o) : p_(p), op_(p.op), o_(o) {}

  std::vector<int8_t> run() const {
    std::vector<int8_t> out(at(op_.batch * op_.m() * op_.outputs));
    for (int64_t b = 0; b < op_.batch; ++b)
      for (int64_t m = 0; m < op_.m(); ++m)
        for (int64_t n = 0; n < op_.outputs; ++n) {
          const int64_t place = op_.grouped ? (m * op_.batch + b) * op_.outputs + n
                                            : (b * op_.m() + m) * op_.outputs + n;
          const int64_t y = scale(scaled(b, m, n), op_.grouped ? b * op_.outputs + n : n);
          out[at(place)] = static_cast<int8_t>(p_.residual ? add(y, o_.residual[at(place)]) : y);
        }
    return out;
  }

 private:
  /// With its bias, times the multiplier; what other groups of channels have, times theirs.
  int64_t scaled(int64_t b, int64_t m, int64_t n) const {
    const GemmOperands::Channel& c = o_.channels[at(op_.grouped ? b * op_.outputs + n : n)];
    if (p_.scale_group == 0) return (sum(b, m, n, 0, op_.channels) + c.bias) * c.multiplier;
    int64_t total = c.bias * int64_t{c.multiplier};
    for (int64_t g = 0; g * p_.scale_group < op_.channels; ++g) {
      const int64_t first = g * p_.scale_group;
      total += sum(b, m, n, first, std::min(first + p_.scale_group, op_.channels)) *
               (g == 0 ? c.multiplier : int64_t{o_.scales[at((g - 1) * op_.outputs + n)]});
    }
    return total;
  }

  /// Over the channels [first, end).
  int64_t sum(int64_t b, int64_t m, int64_t n, int64_t first, int64_t end) const {
    const int64_t image = m / (op_.out[0] * op_.out[1] * op_.out[2]);
    const int64_t oz = m / (op_.out[1] * op_.out[2]) % op_.out[0];
    const int64_t oy = m / op_.out[2] % op_.out[1], ox = m % op_.out[2];
    int64_t total = 0, row = op_.b_shared ? 0 : b * op_.k();
    for (int64_t kz = 0; kz < op_.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < op_.kernel[1]; ++ky)
        for (int64_t kx = 0; kx < op_.kernel[2]; ++kx)
          for (int64_t c = 0; c < op_.channels; ++c, ++row) {
            if (c < first || c >= end) continue;
            total += input(b, image, oz * op_.stride[0] + kz * op_.dilation[0] - op_.pad[0],
                           oy * op_.stride[1] + ky * op_.dilation[1] - op_.pad[1],
                           ox * op_.stride[2] + kx * op_.dilation[2] - op_.pad[2], c) *
                     int64_t{o_.weights[at(row * op_.outputs + n)]};
          }
    return total;
  }

  /// Outside the input lies the zero point.
  int64_t input(int64_t b, int64_t image, int64_t z, int64_t y, int64_t x, int64_t c) const {
    if (z < 0 || y < 0 || x < 0 || z >= op_.in[0] || y >= op_.in[1] || x >= op_.in[2])
      return p_.a_zero;
    int64_t pixel = ((image * op_.in[0] + z) * op_.in[1] + y) * op_.in[2] + x;
    if (op_.grouped) return o_.a[at((pixel * op_.batch + b) * op_.channels + c)];
    if (!op_.a_shared) pixel += b * op_.images * op_.in[0] * op_.in[1] * op_.in[2];
    return o_.a[at(pixel * op_.channels + c)];
  }

  /// In integers: the quotient of the magnitudes, one more when the rest is half or more.
  static int64_t divided(int64_t value, int64_t divisor) {
    int64_t y = std::abs(value) / divisor;
    if (std::abs(value) % divisor * 2 >= divisor) ++y;
    return value < 0 ? -y : y;
  }

  /// Of 16 bits where something is added, unless it comes from the table.
  int64_t scale(int64_t product, int64_t channel) const {
    const GemmOperands::Channel& c = o_.channels[at(channel)];
    int64_t y = divided(product, int64_t{1} << c.shift) + p_.out_zero;
    if (p_.relu) y = std::max<int64_t>(y, p_.out_zero);
    const int64_t most = p_.residual && !p_.table ? INT16_MAX : INT8_MAX;
    y = std::clamp<int64_t>(y, -most - 1, most);
    return p_.table ? o_.table[at(y + 128)] : y;
  }

  int64_t add(int64_t y, int64_t r) const {
    const int64_t scaled = (r - p_.add.zero) * p_.add.multiplier;
    y += divided(scaled, int64_t{1} << p_.add.shift);
    return std::clamp<int64_t>(y, p_.clips_sum ? p_.out_zero : -128, 127);
  }

  const GemmProblem& p_;
  const GemmOp& op_;
  const GemmOperands& o_;
};

GemmProblem random_problem(const GemmOp& op, const hw::HwConfig& hw, std::mt19937& random) {
  GemmProblem p = make_problem(op, hw);
  p.a = {"a", hw::Memory::dram, false};
  p.b = {"b", hw::Memory::dram, random() % 3 != 0};
  p.parameters = {"p", hw::Memory::dram, true};
  p.out = {"y", hw::Memory::dram, false};
  p.has_parameters = true;
  choose_weights(p, hw);
  p.relu = random() % 4 == 0;
  p.a_zero = static_cast<int32_t>(random() % 256) - 128;
  p.out_zero = static_cast<int32_t>(random() % 256) - 128;
  if (random() % 3 == 0) {
    p.residual = {"r", hw::Memory::dram, false};
    p.add.zero = static_cast<int32_t>(random() % 256) - 128;
    p.add.multiplier = static_cast<int32_t>(random() % 60000) - 30000;
    p.add.shift = static_cast<int32_t>(13 + random() % 5);
    p.clips_sum = random() % 4 == 0;
  }
  p.table = random() % 3 == 0;
  return p;
}

/// Runs the program of a tiling, with `scatter` one whose loads come from both memories, and
/// compares the output with the definition.
void expect_right(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                  const GemmOperands& operands, const std::vector<int8_t>& expected,
                  std::mt19937* scatter = nullptr) {
  hw::Program program = emit(p, hw, t);
  hw::MemoryImage image = pack(p, hw, t, operands);
  if (scatter) scatter_loads(program, image, *scatter);
  const Status good = verify(program, hw);
  ASSERT_TRUE(good.ok()) << good.errors().front().text() << "\n" << print(program);
  const Status ran = hw::run_golden(program, hw, image);
  ASSERT_TRUE(ran.ok()) << ran.errors().front().text() << "\n" << print(program);
  const std::vector<int8_t> got = unpack_output(image);
  ASSERT_EQ(got.size(), expected.size());
  const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
  ASSERT_TRUE(wrong.first == got.end())
      << fmt::format("{}: output {} is {}, not {}\n", to_string(t), wrong.first - got.begin(),
                     *wrong.first, *wrong.second)
      << print(program);
}

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
    if (narrow && p.b_bits != 4) continue;
    scaled += p.scales() > 1;
    const GemmOperands operands = random_operands(p, random);
    const std::vector<int8_t> expected = Reference(p, operands).run();
    free_share += unclipped(expected);
    ++problems;
    MappingPin pin;
    pin.im2col = im2col;
    for (const hw::Dataflow d : kAllDataflows) {
      const auto all = candidates(p, hw, {.dataflows = {d}}, pin);
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
  p.relu = false;
  p.residual.reset();
  const GemmOperands operands = random_operands(p, random);
  const std::vector<int8_t> expected = Reference(p, operands).run();
  EXPECT_GT(unclipped(expected), 0.5);
  const Tiling t{.lines = 4, .pixels = 8, .outputs = 7, .channels = 5};
  const auto run = [&](auto bend) {
    hw::Program program = emit(p, hw, t);
    bend(program.body);
    hw::MemoryImage image = pack(p, hw, t, operands);
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
  EXPECT_NE(
      run([](auto& body) {
        EXPECT_TRUE(bend_first<hw::PostCommand>(body, [](hw::PostCommand& c) { ++c.output_zero; }));
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
      const auto all = candidates(p, hw, {.dataflows = kAllDataflows}, pin);
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
    expect_right(p, hw, {.dataflow = d, .pixels = 6, .outputs = 4, .channels = 15}, operands,
                 Reference(p, operands).run());
}

}  // namespace
}  // namespace accsim::sim
