#include "sim/program/random_operands.h"

#include <algorithm>

namespace accsim::sim {
namespace {

/// Mostly a scale that spreads the sums over the int8 range. Now and then one of two's powers, so
/// that sums lie half-way between two outputs; a bias at the ends of its range, so that sums wrap;
/// anything that a descriptor can say.
GemmOperands::Channel random_channel(int shift, std::mt19937& random) {
  constexpr uint32_t kLeast = 1U << 23;
  const uint32_t kind = random() % 16;
  if (kind == 0)
    return {static_cast<int32_t>(random()), static_cast<int32_t>(random()),
            static_cast<int32_t>(random() % 63)};
  auto bias = static_cast<int32_t>(random() % 20001) - 10000;
  if (kind == 1) bias = bias < 0 ? INT32_MIN - bias : INT32_MAX - bias;
  const uint32_t more = kind < 5 ? 0 : random() % kLeast;
  return {bias, static_cast<int32_t>(kLeast + more), shift};
}

}  // namespace

GemmOperands random_operands(const GemmProblem& p, const std::vector<int8_t>& weights,
                             std::mt19937& random) {
  const GemmOp& op = p.op;
  GemmOperands o;
  const auto fill = [&](std::vector<int8_t>& to, int64_t size) {
    to.resize(static_cast<size_t>(size));
    for (int8_t& v : to) v = static_cast<int8_t>(random());
  };
  fill(o.a, logical_a(op));
  o.weights = weights;
  if (static_cast<int64_t>(o.weights.size()) != logical_weights(op))
    fill(o.weights, logical_weights(op));
  const bool narrow = p.b_encoding.is_packed(), grouped = p.scale_count() > 1;
  if (narrow)
    for (int8_t& w : o.weights) w = static_cast<int8_t>(w >> 4);
  // Sums of k products of uniform int8 have a deviation of about 74 * 74 * sqrt(k); of weights of 4
  // bits a sixteenth of that. Multipliers of groups have 16 bits, the first one's then as well.
  int shift = narrow ? 26 : 30;
  for (int64_t k = op.k(); k > 0; k /= 4) ++shift;
  for (int64_t n = 0; n < p.pixel_outputs(); ++n) {
    if (n > 0 && p.same_parameters) {
      o.channels.push_back(o.channels.front());
      continue;
    }
    o.channels.push_back(random_channel(shift, random));
    if (!grouped) continue;
    GemmOperands::Channel& channel = o.channels.back();
    channel.multiplier >>= 9;
    channel.shift = std::max(0, channel.shift - 9);
  }
  for (int64_t i = (p.scale_count() - 1) * op.outputs; i > 0; --i)
    o.scales.push_back(static_cast<int16_t>(random()));
  if (p.residual) fill(o.residual, op.batch * op.m() * op.outputs);
  if (p.epilogue.table) fill(o.table, hw::SetTableCommand::kBytes);
  return o;
}

}  // namespace accsim::sim
