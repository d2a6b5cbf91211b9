#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// ConvTranspose of constant weights as convolutions. With a stride s along a dim, output s q + r
/// sums up inputs around q times each s-th element of the kernel. So each r, a phase, is a
/// convolution of its own, and what the phases give is interleaved. Nodes behind it that work on
/// channels work on each phase. Where all phases read the same element alone (kernel and stride
/// equal), they are one convolution of more channels.
/// It stays as it is where phases would multiply more than it does by count: inputs x kernel. That
/// is where the output isn't s times as long as the input.
void plan_transposed_convolutions(NodeRewrites& rewrites);

}  // namespace accsim::sim
