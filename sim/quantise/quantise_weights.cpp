#include "sim/quantise/quantise_weights.h"

#include <algorithm>
#include <cmath>

namespace accsim::sim {
namespace {

constexpr int kMost8 = 127, kMost4 = 7;  ///< of weights of 8 and of 4 bits
constexpr double kMostBias = 1 << 30;    ///< half of its 32 bits: room for the sum
constexpr double kMostFirst = 1 << 30;   ///< of a channel's multiplier
constexpr double kMostGroup = 32767;     ///< of a group's
constexpr int kMostShift = 62;

/// factor as multiplier / 2^shift, the multiplier of 24 bits.
GemmOperands::Channel channel_requantisation(double factor, double bias) {
  GemmOperands::Channel c;
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [0.5, 1)
  c.shift = std::clamp(24 - exponent, 0, kMostShift);
  c.multiplier = static_cast<int32_t>(
      std::min(std::nearbyint(std::ldexp(fraction, exponent + c.shift)), 2147483647.0));
  c.bias = static_cast<int32_t>(std::clamp(std::nearbyint(bias), -kMostBias, kMostBias));
  return c;
}

/// The smallest step that all of some weights are whole multiples of, `most` or fewer: so integers
/// that a file stores with their scale lose nothing, nor do weights of few values, and biases,
/// which count in such steps, are as exact as they can be. Where there is none, the largest weight
/// has `most` steps.
class CommonStep {
 public:
  CommonStep(double largest, int most) : largest_(largest), most_(most) {}
  void add_weight(double weight) {
    if (largest_ == 0) return;
    const double part = weight / largest_;
    int codes = codes_;
    while (codes < most_ && !is_whole(part * codes)) codes += codes_;
    codes_ = std::min(codes, most_);
  }
  double step_size() const {
    const int multiples = most_ / codes_;
    return largest_ / (codes_ * multiples);
  }

 private:
  /// But for the rounding of float32, in which the weights and their folding are.
  static bool is_whole(double v) { return std::abs(v - std::nearbyint(v)) < 1e-4; }

  double largest_;  ///< of the magnitudes
  int most_;
  int codes_ = 1;  ///< the largest, in the coarsest step of the weights so far
};

/// A scale for weights that are all 0: what is left is the bias, and a step of the bias is one of
/// the weights'. With 24 bits it is as exact as its multiplier.
double scale_of_bias(double bias, double a) {
  return bias == 0 ? 1 : std::ldexp(std::abs(bias) / a, -24);
}

/// The largest shift, at most kMostShift, with factor x 2^shift rounded up at most `most`; factor
/// >= 0.
int shift_within(double factor, double most) {
  if (!(factor > 0)) return kMostShift;
  const int shift = std::ilogb(most) - std::ilogb(factor);
  if (shift > kMostShift) return kMostShift;
  return std::ceil(std::ldexp(factor, shift)) <= most ? shift : shift - 1;
}

/// What an output channel's groups are multiplied by, and its bias. An integer weight of group g
/// gives m[g] / 2^shift output steps for each of the activation's. Multipliers are rounded up, to
/// whole 2^-shift, and weights are quantised in the steps that come of that, not in those that were
/// wanted: so a multiplier's rounding isn't an error of its own, and weights are off by half a step
/// as those of any other scale. That step is at most 2^-shift more than the wanted one: 2^-14 of
/// the largest of the groups g >= 1, whose multiplier of 16 bits is 2^14 at least.
struct GroupScales {
  std::vector<double> m;  ///< by group
  int shift = 0;
  int32_t bias = 0;
};

/// `factors`: wanted output steps of a weight's step, 0 where all weights of a group are 0; `bias`:
/// in output steps.
GroupScales group_scales(const std::vector<double>& factors, double bias) {
  GroupScales s;
  const double others = *std::max_element(factors.begin() + 1, factors.end());
  s.shift = std::min(shift_within(factors[0], kMostFirst), shift_within(others, kMostGroup));
  s.shift = std::min(s.shift, shift_within(std::abs(bias) / kMostBias, kMostFirst));
  s.shift = std::max(s.shift, 0);
  const auto steps = [&](double factor) { return std::ceil(std::ldexp(factor, s.shift)); };
  for (const double f : factors) s.m.push_back(std::min(steps(f), kMostGroup));
  // The first group's step is the bias' too: not so small that 31 bits of it aren't enough.
  s.m[0] =
      std::clamp(std::max(steps(factors[0]), steps(std::abs(bias) / kMostBias)), 1.0, kMostFirst);
  s.bias = static_cast<int32_t>(
      std::clamp(std::nearbyint(std::ldexp(bias, s.shift) / s.m[0]), -kMostBias, kMostBias));
  return s;
}

/// Visits the weights of an output channel: place, and group of `group` channels.
template <class Visit>
void each_weight(const RealWeights& r, const GemmOp& op, int64_t n, int64_t group, Visit visit) {
  for (auto i = static_cast<size_t>(n); i < r.w.size(); i += static_cast<size_t>(op.outputs))
    visit(i, static_cast<size_t>(static_cast<int64_t>(i) / op.outputs % op.channels / group));
}

}  // namespace

int8_t quantised_code(double v, double scale, double most) {
  const double code = std::nearbyint(v / scale);
  return std::isnan(code) ? int8_t{0} : static_cast<int8_t>(std::clamp(code, -most, most));
}

void quantise_weights(const RealWeights& r, const GemmOp& op, const LayerScales& scales,
                      GemmOperands& to) {
  to.weights.resize(r.w.size());
  const int64_t each = op.k() * op.outputs;
  for (size_t c = 0; c < r.bias.size(); ++c) {
    const auto channel = static_cast<int64_t>(c);
    const int64_t first = op.grouped ? channel / op.outputs * each : 0;
    const int64_t end = op.grouped ? first + each : static_cast<int64_t>(r.w.size());
    const auto each_of_channel = [&](auto visit) {
      for (int64_t i = first + channel % op.outputs; i < end; i += op.outputs)
        visit(static_cast<size_t>(i));
    };
    double scale = scales.b;
    if (!(scale > 0)) {
      double largest = 0;
      each_of_channel([&](size_t i) { largest = std::max(largest, std::abs(r.w[i])); });
      CommonStep common(largest, kMost8);
      each_of_channel([&](size_t i) { common.add_weight(r.w[i]); });
      scale = common.step_size();
    }
    if (scale == 0) scale = scale_of_bias(r.bias[c], scales.a);
    each_of_channel([&](size_t i) { to.weights[i] = quantised_code(r.w[i], scale, kMost8); });
    scale *= r.factor;
    to.channels.push_back(
        channel_requantisation(scales.a * scale / scales.out, r.bias[c] / (scales.a * scale)));
  }
}

void quantise_narrow(const RealWeights& r, const GemmProblem& p, const LayerScales& scales,
                     GemmOperands& to) {
  const GemmOp& op = p.op;
  const int64_t group = p.scale_group > 0 ? p.scale_group : op.channels;
  to.weights.assign(r.w.size(), 0);
  to.scales.assign(static_cast<size_t>((p.scale_count() - 1) * op.outputs), 0);
  for (int64_t n = 0; n < op.outputs; ++n) {
    const double bias = r.bias[static_cast<size_t>(n)];
    std::vector<double> scale(static_cast<size_t>(p.scale_count()), 0.0);
    each_weight(r, op, n, group,
                [&](size_t i, size_t g) { scale[g] = std::max(scale[g], std::abs(r.w[i])); });
    std::vector<CommonStep> common;
    for (const double largest : scale) common.emplace_back(largest, kMost4);
    each_weight(r, op, n, group, [&](size_t i, size_t g) { common[g].add_weight(r.w[i]); });
    for (size_t g = 0; g < scale.size(); ++g) scale[g] = common[g].step_size();
    if (p.scale_count() == 1) {
      if (scale[0] == 0) scale[0] = scale_of_bias(bias, scales.a);
      to.channels.push_back(
          channel_requantisation(scales.a * scale[0] / scales.out, bias / (scales.a * scale[0])));
    } else {
      for (double& s : scale) s *= scales.a / scales.out;
      const GroupScales found = group_scales(scale, bias / scales.out);
      for (size_t g = 0; g < scale.size(); ++g) {
        if (g > 0)
          to.scales[(g - 1) * static_cast<size_t>(op.outputs) + static_cast<size_t>(n)] =
              static_cast<int16_t>(found.m[g]);
        scale[g] = std::ldexp(found.m[g], -found.shift) * scales.out / scales.a;
      }
      to.channels.push_back({found.bias, static_cast<int32_t>(found.m[0]), found.shift});
    }
    each_weight(r, op, n, group, [&](size_t i, size_t g) {
      if (r.w[i] != 0) to.weights[i] = quantised_code(r.w[i], scale[g], kMost4);
    });
  }
}

hw::Residual residual_factor(double factor) {
  constexpr int kBits = 15, kMostShift = 31;
  hw::Residual r;
  int exponent = 0;
  std::frexp(factor, &exponent);  // factor < 2^exponent
  r.shift = std::clamp(kBits - exponent, 0, kMostShift);
  r.multiplier = static_cast<int32_t>(
      std::min(std::nearbyint(std::ldexp(factor, r.shift)), double{INT16_MAX}));
  return r;
}

}  // namespace accsim::sim
