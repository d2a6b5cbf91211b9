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
/// allow_unsupported, key_blocks, max_nodes, max_graph_mib, max_rank, max_programs, dataflow,
/// mapping, objective, slack, effort. TypeError for others.
CostOptions cost_options(const nanobind::kwargs& keywords);

}  // namespace accsim::python
