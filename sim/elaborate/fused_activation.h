#pragma once
#include <string>

#include "sim/elaborate/spelling.h"

namespace accsim::sim {

/// x behind the function that the attributes `activation`, `activation_params`, `activation_alpha`
/// and `activation_beta` name, as FusedConv and FusedGemm have them; x itself without one. Refuses
/// a function that isn't known.
TensorId activate(Spelling& s, TensorId x);

/// Gelu of x, exact or by the approximation with tanh.
TensorId gelu(Spelling& s, const std::string& what, TensorId x, bool with_tanh);
/// x sigmoid(a x).
TensorId silu(Spelling& s, const std::string& what, TensorId x, double a = 1);
/// x to the last dim's rows, each divided by the root of its squares' mean, times a gain.
TensorId rms_norm(Spelling& s, const std::string& what, TensorId x, TensorId gain, double epsilon);

}  // namespace accsim::sim
