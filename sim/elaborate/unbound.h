#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"

namespace accsim::sim {

/// The errors of a model of which some symbols weren't bound and count as 1: those of shapes say
/// so, and which sizes would do, where some that are tried do. `fits` says whether the model
/// elaborates with other options.
Errors explain_unbound(Errors errors, const std::vector<std::string>& defaulted,
                       const ElaborateOptions& options,
                       const std::function<bool(const ElaborateOptions&)>& fits);

}  // namespace accsim::sim
