#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// LSTM, GRU and RNN as their steps, one behind the other: a product of all inputs, and for each
/// step a product of the state and its gates. Only forms that runtimes have in common: default
/// activations, no peepholes, no lengths of sequences. Longer ones than kMostSteps stay whole, as
/// their nodes would be too many.
void plan_recurrent_steps(NodeRewrites& rewrites);

/// Of all directions of a layer.
inline constexpr int64_t kMostSteps = 256;

}  // namespace accsim::sim
