#include "sim/elaborate/function_table.h"

namespace accsim::sim {

FunctionTable::FunctionTable(const std::vector<FunctionDef>& functions) {
  for (const FunctionDef& function : functions)
    functions_.emplace(Key{function.domain, function.name, function.overload}, &function);
}

const FunctionDef* FunctionTable::find(const NodeDef& node) const {
  const auto found = functions_.find(Key{node.domain, node.op_type, node.overload});
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace accsim::sim
