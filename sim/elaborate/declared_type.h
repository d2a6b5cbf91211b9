#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// What a model declares of a tensor, symbols bound. Only asked where no rule computes it.
struct DeclaredType {
  DType dtype = DType::undefined;
  std::optional<Dims> dims;  ///< nullopt: none declared, or with a dim that isn't bound
};

/// The declaration of one value, with `bindings` from symbol to size.
DeclaredType declared_type(const ValueDef& value, const std::map<std::string, int64_t>& bindings);
/// What the value_infos and outputs of `graph` declare of a tensor between them, outputs first.
DeclaredType find_declared(const GraphDef& graph, std::string_view name,
                           const std::map<std::string, int64_t>& bindings);

}  // namespace accsim::sim
