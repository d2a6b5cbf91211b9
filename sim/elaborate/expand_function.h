#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

class Expander;

/// The nodes of a model's function, in place of a call of it, their names behind "<call>/".
/// Errc::invalid when the function calls itself or takes fewer inputs, Errc::capacity when calls
/// are too deep. Errors name the node.
Status expand_function(const NodeCall& call, const FunctionDef& function, Expander& expander);

}  // namespace accsim::sim
