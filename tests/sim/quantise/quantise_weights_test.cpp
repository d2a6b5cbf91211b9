#include "sim/quantise/quantise_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "hw/golden/golden.h"
#include "sim/map/product/heuristic_tiling.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

constexpr int64_t kRows = 6, kGroup = 16, kOutputs = 5;

size_t at(int64_t i) { return static_cast<size_t>(i); }

hw::HwConfig narrow_machine(int64_t group) {
  hw::HwConfig hw = test::small_machine();
  hw.types.weight = DType::int4;
  hw.types.weight_group = group;
  return hw;
}

/// A product with constant weights whose groups have the given scales, and what it gives in real
/// numbers.
struct Layer {
  GemmProblem problem;
  std::vector<int8_t> a;
  RealWeights real;
  LayerScales scales;
  std::vector<double> groups;  ///< the scale of each group's weights

  /// The result in output steps.
  double exact(int64_t m, int64_t n) const {
    double sum = real.bias[at(n)];
    for (int64_t k = 0; k < problem.op.channels; ++k)
      sum += scales.a * a[at(m * problem.op.channels + k)] * real.w[at(k * kOutputs + n)];
    return sum / scales.out;
  }
  /// Output steps of a product of one weight's and one activation's step.
  double factor(size_t g) const { return scales.a * groups[g] / scales.out; }
  double activations(int64_t m, size_t g) const {
    double sum = 0;
    for (int64_t k = static_cast<int64_t>(g) * kGroup; k < static_cast<int64_t>(g + 1) * kGroup;
         ++k)
      sum += std::abs(static_cast<double>(a[at(m * problem.op.channels + k)]));
    return sum;
  }
};

enum class Weights { whole, any };

/// Weights are whole multiples of their group's scale, or anything up to 7 of them; each channel of
/// a group has one of 7. The output's scale is that of the largest result.
Layer make_layer(const std::vector<double>& groups, Weights kind, std::mt19937& random,
                 double bias = 1) {
  Layer l;
  const int64_t channels = std::ssize(groups) * kGroup;
  l.problem = make_problem(test::product(kRows, channels, kOutputs), narrow_machine(kGroup));
  l.problem.b.constant = l.problem.has_parameters = true;
  choose_weights(l.problem, narrow_machine(kGroup));
  l.groups = groups;
  l.scales.a = 0.037;
  for (int64_t i = 0; i < kRows * channels; ++i)
    l.a.push_back(static_cast<int8_t>(static_cast<int>(random() % 255) - 127));
  std::uniform_real_distribution<double> real(-7, 7);
  for (int64_t k = 0; k < channels; ++k)
    for (int64_t n = 0; n < kOutputs; ++n) {
      const double v = k % kGroup == n          ? 7
                       : kind == Weights::whole ? static_cast<int>(random() % 15) - 7
                                                : real(random);
      l.real.w.push_back(v * groups[at(k / kGroup)]);
    }
  l.real.bias.assign(kOutputs, 0.0);
  double largest = 0;
  const auto see = [&](double most) {
    for (int64_t m = 0; m < kRows; ++m)
      for (int64_t n = 0; n < kOutputs; ++n) largest = std::max(largest, std::abs(l.exact(m, n)));
    return largest > 0 ? largest / most : 1;
  };
  const double step = see(60);
  for (int64_t n = 0; n < kOutputs; ++n)
    l.real.bias[at(n)] = bias * step * (static_cast<double>(random() % 12001) / 100 - 60);
  l.scales.out = see(120);
  return l;
}

/// What the machine gives, in output steps.
std::vector<int8_t> run(const Layer& l, int64_t group) {
  const hw::HwConfig hw = narrow_machine(group);
  GemmOperands operands;
  operands.a = l.a;
  quantise_narrow(l.real, l.problem, l.scales, operands);
  const auto tiling = heuristic_tiling(l.problem, hw, hw::Dataflow::weight_stationary);
  EXPECT_TRUE(tiling);
  const hw::Program program = emit(l.problem, hw, *tiling);
  hw::MemoryImage image = pack_operands(l.problem, hw, *tiling, operands);
  EXPECT_TRUE(hw::run_golden(program, hw, image));
  return unpack_output(image);
}

/// The largest of |result - exact| / bound(m) over all results.
template <class Bound>
double worst(const Layer& l, Bound bound) {
  const std::vector<int8_t> got = run(l, l.problem.scale_group);
  double most = 0;
  for (int64_t m = 0; m < kRows; ++m)
    for (int64_t n = 0; n < kOutputs; ++n)
      most = std::max(most, std::abs(got[at(m * kOutputs + n)] - l.exact(m, n)) / bound(m, n));
  return most;
}

/// The unit that multipliers are whole numbers of, in output steps: as fine as 15 bits for the
/// largest of the groups behind the first one and 30 for the first let it be (a power of two, hence
/// twice that).
double unit(const Layer& l, double bias) {
  double others = 0;
  for (size_t g = 1; g < l.groups.size(); ++g) others = std::max(others, l.factor(g));
  return 2 * std::max({others / 32767, l.factor(0) / (1 << 30), bias / std::ldexp(1, 60),
                       std::ldexp(1, -62)});
}

/// The bias counts in steps of the first group, of 31 bits with its sign.
double first_step(const Layer& l, double bias) {
  return std::max(l.factor(0), bias / (1 << 30)) + unit(l, bias);
}

/// Whole multiples of scales of which none is less than 2^-10 of the largest are stored as they
/// are: a group's step is off by a unit at most. Rounding of the result and of the bias, and up to
/// 7 times that for each activation.
double whole_bound(const Layer& l, int64_t m, int64_t n) {
  const double bias = std::abs(l.real.bias[at(n)] / l.scales.out);
  double bound = 0.5 + first_step(l, bias) / 2 + 1e-9;
  for (size_t g = 0; g < l.groups.size(); ++g)
    if (l.groups[g] > 0)
      bound +=
          7 * l.activations(m, g) * (g == 0 ? first_step(l, bias) - l.factor(0) : unit(l, bias));
  return bound;
}

/// Of any weights half a step of their group for each activation.
double any_bound(const Layer& l, int64_t m, int64_t n) {
  const double bias = std::abs(l.real.bias[at(n)] / l.scales.out);
  double bound = 0.5 + first_step(l, bias) / 2 + 1e-9;
  for (size_t g = 0; g < l.groups.size(); ++g)
    if (l.groups[g] > 0)
      bound +=
          l.activations(m, g) * (g == 0 ? first_step(l, bias) : l.factor(g) + unit(l, bias)) / 2;
  return bound;
}

TEST(QuantiseNarrow, AreGroupsOfAllRatiosWithinTheBoundOfTheirSteps) {
  std::mt19937 random(1);
  for (int bits = 0; bits <= 10; ++bits)
    for (const bool first_is_small : {false, true}) {
      const double ratio = std::ldexp(1, bits);
      std::vector<double> groups = {0.02 / ratio, 0.02 * 0.7, 0.02, 0.02 / std::sqrt(ratio)};
      if (!first_is_small) std::swap(groups[0], groups[2]);
      const Layer l = make_layer(groups, Weights::whole, random);
      EXPECT_LE(worst(l, [&](int64_t m, int64_t n) { return whole_bound(l, m, n); }), 1)
          << bits << " bits, first is small: " << first_is_small;
      // The bound is one worth having: of results up to 120 no more than this.
      EXPECT_LT(whole_bound(l, 0, 0), 0.8) << bits;
      const Layer any = make_layer(groups, Weights::any, random);
      EXPECT_LE(worst(any, [&](int64_t m, int64_t n) { return any_bound(any, m, n); }), 1) << bits;
    }
}

TEST(QuantiseNarrow, DoGroupsOfZerosNotCount) {
  std::mt19937 random(2);
  constexpr double kSmall = 1.0 / 1024;
  for (const std::vector<double>& groups : {std::vector<double>{0, kSmall, kSmall / 3},
                                            {kSmall, 0, kSmall / 5},
                                            {kSmall, kSmall * 0.8, 0},
                                            {0, 0, kSmall},
                                            {0, kSmall, 0},
                                            {kSmall, 0, 0}}) {
    const Layer l = make_layer(groups, Weights::whole, random);
    EXPECT_LE(worst(l, [&](int64_t m, int64_t n) { return whole_bound(l, m, n); }), 1);
    EXPECT_LT(whole_bound(l, 0, 0), 0.8);
    GemmOperands o;
    quantise_narrow(l.real, l.problem, l.scales, o);
    for (size_t g = 1; g < groups.size(); ++g)
      for (int64_t n = 0; n < kOutputs; ++n)
        EXPECT_EQ(o.scales[(g - 1) * kOutputs + at(n)] == 0, groups[g] == 0);
  }
}

TEST(QuantiseNarrow, IsAChannelOfZerosItsBias) {
  std::mt19937 random(3);
  for (const std::vector<double>& groups : {std::vector<double>{0, 0, 0}, {0}}) {
    Layer l = make_layer(groups, Weights::whole, random);
    l.scales.out = 1;
    l.real.bias = {60.25, -0.75, 0, 1e-6, -119.5 - 1e-5};
    const auto results = run(l, l.problem.scale_group);
    EXPECT_EQ(std::vector<int8_t>(results.begin(), results.begin() + kOutputs),
              (std::vector<int8_t>{60, -1, 0, 0, -120}));
  }
}

/// Scales that 16 bits don't hold side by side: the small groups lose bits, nobody gains an error
/// of more than half of the steps that are left.
TEST(QuantiseNarrow, DoGroupsFarApartLoseNoMoreThanTheUnit) {
  std::mt19937 random(4);
  for (const int bits : {16, 20, 40, 80})
    for (const bool first_is_small : {false, true}) {
      std::vector<double> groups = {std::ldexp(0.02, -bits), 0.02, 0.01};
      if (!first_is_small) std::swap(groups[0], groups[1]);
      const Layer l = make_layer(groups, Weights::any, random);
      EXPECT_LE(worst(l, [&](int64_t m, int64_t n) { return any_bound(l, m, n); }), 1)
          << bits << " bits, first is small: " << first_is_small;
    }
}

/// A bias far larger than all sums: the first group's step is what 31 bits of it need.
TEST(QuantiseNarrow, DoesALargeBiasKeepItsBits) {
  std::mt19937 random(5);
  for (const double bias : {1e2, 1e6, 1e12}) {
    const Layer l = make_layer({1e-6, 0.02, 0.01}, Weights::any, random, bias);
    EXPECT_LE(worst(l, [&](int64_t m, int64_t n) { return any_bound(l, m, n); }), 1) << bias;
    EXPECT_LT(any_bound(l, 0, 0), 8) << bias;
  }
}

TEST(QuantiseWeights, IsAChannelOfZerosItsBias) {
  GemmOperands o;
  // An activation's step is 2.5 output steps: a bias in those would be off by up to 1.25.
  const LayerScales scales{.a = 0.05, .out = 0.02};
  quantise_weights({{0, 0, 0, 0}, {1.01, -0.7}}, test::product(1, 2, 2), scales, o);
  ASSERT_EQ(o.channels.size(), 2U);
  const auto result = [&](size_t n) {
    const auto& c = o.channels[n];
    return hw::requantise(0, {c.bias, c.multiplier, c.shift});
  };
  EXPECT_EQ(result(0), 51);  // 50.5, halves away from zero
  EXPECT_EQ(result(1), -35);
}

/// Weights of a channel that are integers times a scale, as files of quantised networks have them,
/// are stored without an error, whatever the largest of them is; so is a bias of such steps.
TEST(QuantiseWeights, AreIntegersTimesAScaleExact) {
  std::mt19937 random(6);
  constexpr int64_t kChannels = 40;
  for (int most = 1; most <= 127; ++most) {
    const double scale = std::ldexp(1 + 0.001 * most, -9);
    const LayerScales scales{.a = 0.011, .out = 0.5};
    RealWeights r{{}, {scales.a * scale * 12345}};
    for (int64_t k = 0; k < kChannels; ++k) {
      const int code =
          k == kChannels - 1 ? -most : static_cast<int>(random() % at(2 * most + 1)) - most;
      r.w.push_back(static_cast<float>(scale * code));  // as a DequantizeLinear gives them
    }
    GemmOperands o;
    quantise_weights(r, test::product(1, kChannels, 1), scales, o);
    const double factor = std::ldexp(o.channels[0].multiplier, -o.channels[0].shift);
    const double step = factor * scales.out / scales.a;
    for (int64_t k = 0; k < kChannels; ++k)
      EXPECT_NEAR(o.weights[at(k)] * step, r.w[at(k)], most * scale * 1e-6) << most << ", " << k;
    EXPECT_NEAR(o.channels[0].bias * step, scale * 12345, scale * 12345 * 1e-6) << most;
    EXPECT_GE(-o.weights.back(), 64) << most;  // so that a bias is as exact as it can be
  }
}

/// Others are off by half a 127th of the largest at most.
TEST(QuantiseWeights, AreOthersWithinHalfAStep) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> real(-1, 1);
  RealWeights r{{1}, {0}};
  for (int i = 1; i < 100; ++i) r.w.push_back(real(random));
  GemmOperands o;
  quantise_weights(r, test::product(1, 100, 1), {}, o);
  double worst = 0;
  for (size_t i = 0; i < r.w.size(); ++i)
    worst = std::max(worst, std::abs(o.weights[i] / 127.0 - r.w[i]));
  EXPECT_LE(worst, 0.5 / 127);
  EXPECT_EQ(o.weights[0], 127);
}

/// With 4 bits, too: groups whose largest is any of 1 .. 7 steps.
TEST(QuantiseNarrow, AreIntegersTimesAScaleExact) {
  std::mt19937 random(8);
  for (int most = 1; most <= 7; ++most) {
    Layer l = make_layer({0.02}, Weights::whole, random);
    for (size_t i = 0; i < l.real.w.size(); ++i) {
      const int code = i < kOutputs ? most : static_cast<int>(random() % at(2 * most + 1)) - most;
      l.real.w[i] = 0.02 * code;
    }
    GemmOperands o;
    quantise_narrow(l.real, l.problem, l.scales, o);
    for (size_t i = 0; i < l.real.w.size(); ++i) {
      const auto& c = o.channels[i % kOutputs];
      const double step = std::ldexp(c.multiplier, -c.shift) * l.scales.out / l.scales.a;
      EXPECT_NEAR(o.weights[i] * step, l.real.w[i], 1e-7) << most << ", " << i;
    }
  }
}

}  // namespace
}  // namespace accsim::sim
