#pragma once
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

/// What `names` stand for in `scope`, where the body of `call` has been expanded: tensors,
/// sequences, kNoTensor for an empty optional. Errc::invalid when one of them stands for nothing.
Result<TensorIds> find_outputs(const NodeCall& call, const std::vector<std::string>& names,
                               const Scope& scope);

/// Makes `ids` the outputs of `call`, in its scope and under its outputs' names. Those that nodes
/// from `first_node` on have made are renamed; a value that comes from before, or is given twice,
/// keeps its name, and the output is an Identity of it. Sequences and empty optionals go on as they
/// are. Errc::invalid when the call names more outputs.
Status bind_outputs(const NodeCall& call, const TensorIds& ids, NodeId first_node,
                    GraphBuilder& builder);

}  // namespace accsim::sim
