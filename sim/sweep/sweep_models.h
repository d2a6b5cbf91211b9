#pragma once
#include <span>
#include <string>
#include <vector>

#include "sim/sweep/spec.h"
#include "sim/sweep/spec_values.h"

namespace accsim::sim {

/// The networks of the section `models` of the file `spec`, each with its graph. `axes`: those that
/// bind sizes. More than `most_nodes` of all networks together, files that can't be read and axes
/// that no network asks for are reported; what is given then is of no use.
std::vector<SweepModel> read_sweep_models(const hw::YamlEntry& section, const std::string& spec,
                                          std::span<const Axis> axes, int64_t most_nodes,
                                          SpecErrors& errors);

}  // namespace accsim::sim
