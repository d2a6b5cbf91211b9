#pragma once

namespace accsim::sim {

/// Raise it when a change alters what a network costs on a machine. Stores of sweeps remember it,
/// and a store of another version isn't continued. tests/sim/cost/cost_fingerprints.txt holds the
/// costs of this version. A test fails when they differ and the version doesn't.
inline constexpr int kCostModelVersion = 24;

}  // namespace accsim::sim
