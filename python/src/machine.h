#pragma once
#include <nanobind/nanobind.h>

#include "hw/config/hw_config.h"

namespace accsim::python {

/// The machine that an argument means: a Machine, a shipped or known machine's name, a path or
/// a dict.
hw::HwConfig machine_of(nanobind::handle given);

/// Adds Machine and MachineSection to the module.
void add_machine(nanobind::module_& module);

}  // namespace accsim::python
