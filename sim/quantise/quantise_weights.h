#pragma once
#include <vector>

#include "sim/pack/operand_layout.h"

namespace accsim::sim {

/// Scales of one layer: an integer times its scale is the real number.
struct LayerScales {
  double a = 1, out = 1, residual = 1;
  double argument = 1;  ///< of the product's own results, where a function follows
  double b = 0;  ///< of a B that is computed at run time; constant weights have one a channel
};

/// Real weights as [group or batch][tap][channel][output], with what BatchNorm, alpha and beta make
/// of them, and the bias of every output channel.
struct RealWeights {
  std::vector<double> w;
  std::vector<double> bias;
  double factor = 1;  ///< of every sum, beside the weights; not 0
};

/// v in steps of `scale`, the nearest of -most .. most; 0 of NaN.
int8_t quantised_code(double v, double scale, double most);

/// Sets weights and channels of the operands: weights of 8 bits, one scale an output channel (one
/// for all when B comes at run time).
void quantise_weights(const RealWeights& r, const GemmOp& op, const LayerScales& scales,
                      GemmOperands& to);

/// Sets weights, channels and scales of the operands: weights of 4 bits, within -7 .. 7, a scale
/// for each of the problem's groups of channels of an output channel. Precondition: one batch of
/// weights.
void quantise_narrow(const RealWeights& r, const GemmProblem& p, const LayerScales& scales,
                     GemmOperands& to);

/// What is added to results, times a factor: multiplier / 2^shift, the multiplier of 16 bits with
/// its sign.
hw::Residual residual_factor(double factor);

}  // namespace accsim::sim
