#pragma once
#include <map>
#include <string>

#include "sim/base/function_ref.h"
#include "sim/graph/graph.h"

namespace accsim::sim::rewrite {

/// Inputs, outputs and value_infos of a main graph that state another shape than the tensor has
/// which `tensor` gives for their names (nullptr: none), with that shape. Inputs and outputs may
/// have no symbols then, as bindings have fixed them; value_infos may.
std::map<std::string, ValueDef> restated_values(
    const GraphDef& graph, FunctionRef<const Tensor*(const std::string&)> tensor);

}  // namespace accsim::sim::rewrite
