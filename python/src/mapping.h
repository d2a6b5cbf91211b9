#pragma once
#include <nanobind/nanobind.h>

#include "sim/elaborate/elaborate.h"
#include "sim/map/mapper.h"

namespace accsim::python {

/// The options of the main job.
struct CostOptions {
  sim::ElaborateOptions elaborate;
  sim::MapOptions map;
};

/// Takes the options out of a call's keywords: bind, input_shapes, assume, branch,
/// allow_unsupported, dataflow, mapping, objective, effort. TypeError for others.
CostOptions cost_options(const nanobind::kwargs& keywords);

}  // namespace accsim::python
