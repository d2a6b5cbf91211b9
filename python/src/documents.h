#pragma once
#include <nanobind/nanobind.h>

namespace accsim::python {

/// Adds _inspect, _compare, _advise and _diff to the module: each gives its JSON and its text.
void add_documents(nanobind::module_& module);

}  // namespace accsim::python
