#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

class Expander;

// Operators of optionals, each as a ControlFlowRule. An optional is known by what is in it. Its
// name stands for that tensor or sequence, or for kNoTensor when it is empty: no graph has any of
// these operators.

/// Empty without an input; Errc::invalid when the attribute `type` is missing, too.
Status make_optional(const NodeCall& call, Expander& expander);
/// Errc::invalid when it is empty.
Status optional_element(const NodeCall& call, Expander& expander);
/// A boolean constant: false of an empty optional, or without an input.
Status optional_has_element(const NodeCall& call, Expander& expander);

}  // namespace accsim::sim
