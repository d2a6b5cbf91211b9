#pragma once
#include <nanobind/nanobind.h>

namespace accsim::python {

/// Adds LatencyModel and Latency to the module.
void add_latency_model(nanobind::module_& module);

}  // namespace accsim::python
