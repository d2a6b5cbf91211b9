#include "sim/elaborate/declared_type.h"

#include <utility>

namespace accsim::sim {

DeclaredType declared_type(const ValueDef& value, const std::map<std::string, int64_t>& bindings) {
  DeclaredType type{value.dtype, std::nullopt};
  if (!value.dims || !value.is_tensor) return type;
  Dims dims;
  for (const DimDef& dim : *value.dims) {
    const auto bound = bindings.find(dim.symbol);
    if (dim.value < 0 && bound == bindings.end()) return type;
    dims.push_back(dim.value >= 0 ? dim.value : bound->second);
  }
  type.dims = std::move(dims);
  return type;
}

DeclaredType find_declared(const GraphDef& graph, std::string_view name,
                           const std::map<std::string, int64_t>& bindings) {
  DeclaredType found;
  for (const auto* values : {&graph.value_infos, &graph.outputs})
    for (const ValueDef& value : *values) {
      if (value.name != name) continue;
      DeclaredType type = declared_type(value, bindings);
      if (type.dtype != DType::undefined) found.dtype = type.dtype;
      if (type.dims) found.dims = std::move(type.dims);
    }
  return found;
}

}  // namespace accsim::sim
