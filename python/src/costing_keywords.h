#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "sim/cost/costing_options.h"

namespace accsim::python {

/// The options that a call's keywords ask for; None stands for the default. TypeError for keywords
/// that aren't options of that use (sim::OptionUse), with the nearest one; what is wrong with
/// values is raised.
sim::CostingOptions costing_options(const nanobind::dict& keywords, uint32_t use);

/// The keywords of a use as a signature has them: "bind: dict[str, int] | None = None, ...".
std::string keyword_signature(uint32_t use);

}  // namespace accsim::python
