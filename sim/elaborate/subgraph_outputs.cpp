#include "sim/elaborate/subgraph_outputs.h"

#include <fmt/format.h>

#include <set>

#include "sim/operators/names.h"

namespace accsim::sim {

Result<TensorIds> find_outputs(const NodeCall& call, const std::vector<std::string>& names,
                               const Scope& scope) {
  TensorIds ids;
  for (const std::string& name : names) {
    const TensorId* id = scope.find(name);
    if (id == nullptr)
      return call.error_at_node(
          Errc::invalid,
          fmt::format("its body's output '{}' is given by no node of the body", name));
    ids.push_back(*id);
  }
  return ids;
}

Status bind_outputs(const NodeCall& call, const TensorIds& ids, NodeId first_node,
                    GraphBuilder& builder) {
  std::set<TensorId> renamed;
  for (size_t i = 0; i < call.def.outputs.size(); ++i) {
    const std::string& name = call.def.outputs[i];
    if (name.empty()) continue;
    if (i >= ids.size())
      return call.error_at_node(Errc::invalid, fmt::format("has no output {}, but names one", i));
    TensorId id = ids[i];
    if (id == kNoTensor || builder.find_sequence(id)) {
      call.scope.names[name] = id;
      continue;
    }
    if (builder.graph().tensor(id).producer < first_node || !renamed.insert(id).second) {
      const Result<TensorId> copy =
          builder.add_internal(op::kIdentity, fmt::format("{}/output_{}", call.name, i), {id}, {});
      if (!copy) return copy.errors();
      id = *copy;
    }
    if (const Status renamed_to = builder.rename_tensor(id, call.scope.prefix + name); !renamed_to)
      return renamed_to;
    call.scope.names[name] = id;
  }
  return ok();
}

}  // namespace accsim::sim
