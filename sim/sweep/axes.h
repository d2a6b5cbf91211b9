#pragma once
#include <vector>

#include "sim/sweep/spec.h"
#include "sim/sweep/spec_values.h"

namespace accsim::sim {

/// The axes of the spec's section `bind`, in its order: whole numbers from 0.
std::vector<Axis> read_bind_axes(const hw::YamlEntry& section, SpecErrors& errors);

/// The axes of the spec's section `axes`, in its order, each with its steps. Names that are taken,
/// fields of two axes and values out of range are reported; what is given then is of no use.
std::vector<Axis> read_axes(const hw::YamlEntry& section, const hw::HwConfig& base,
                            SpecErrors& errors);

}  // namespace accsim::sim
