#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/elaborate/symbols.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Elaborates a model with other options; what went wrong, or none.
using Attempted = std::function<Errors(const ElaborateOptions&)>;

/// The errors of a model with symbols that weren't bound and count as 1. Errors of shapes say so,
/// and name sizes that fit if some of those that are tried do.
Errors explain_unbound(Errors errors, const std::vector<std::string>& defaulted,
                       const ElaborateOptions& options, const Attempted& attempt);

/// The error of a model with sizes `open` of `inputs` (BoundInputs::open) that nobody gave. It
/// names them, with options that give sizes which fit. Behind it come errors that no size mends, of
/// operators without support.
Errors ask_for_sizes(const GraphDef& graph, const InputDefs& inputs,
                     const std::vector<std::string>& open, const ElaborateOptions& options,
                     const Attempted& attempt);

}  // namespace accsim::sim
