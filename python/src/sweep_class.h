#pragma once
#include <nanobind/nanobind.h>

namespace accsim::python {

/// Adds Store and _sweep() to the module.
void add_sweep(nanobind::module_& module);

}  // namespace accsim::python
