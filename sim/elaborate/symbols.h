#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The shapes of the graph inputs with every symbol replaced by a number.
struct BoundInputs {
  std::vector<Dims> dims;  ///< one per input
  std::map<std::string, int64_t> bindings;
  std::vector<std::string> defaulted;
};

/// Binds the symbols of `inputs`: from options.bindings, else from a shape given in
/// options.input_shapes, else as the sum, product... of other symbols that their name spells
/// ("past_length + 1"), else 1. Unknown unnamed dims are symbols "<input>_dim<i>". Errors have no
/// `where`: Errc::usage for options that don't go with the model, Errc::invalid for an input
/// without a shape.
Result<BoundInputs> bind_symbols(const std::vector<const ValueDef*>& inputs,
                                 const ElaborateOptions& options);

}  // namespace accsim::sim
