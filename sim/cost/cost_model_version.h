#pragma once

namespace accsim::sim {

/// Raised by whoever changes what a network costs on a machine: stores of sweeps remember it, and
/// one of another version isn't gone on with. tests/sim/cost/cost_fingerprints.txt holds the costs
/// of this version; a test fails when they are others and this is the same.
inline constexpr int kCostModelVersion = 21;

}  // namespace accsim::sim
