#pragma once
#include <string>

#include "sim/sweep/spec.h"

namespace accsim::sim {

/// Of all that a sweep's results depend on: machine, axes, constraints, the networks' shapes,
/// weights, objectives, strategy and effort. Not of names of files, the layout of the YAML or
/// weights' values.
std::string spec_hash(const SweepSpec& spec);

}  // namespace accsim::sim
