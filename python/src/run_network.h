#pragma once
#include <nanobind/nanobind.h>

namespace accsim::python {

/// Adds _run() to the module.
void add_run(nanobind::module_& module);

}  // namespace accsim::python
