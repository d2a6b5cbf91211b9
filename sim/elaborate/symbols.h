#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The graph inputs that a run is given.
using InputDefs = std::vector<const ValueDef*>;

/// An axis of one of them.
struct SizePlace {
  size_t input, axis;
};

/// A size of inputs that isn't a number, and all the axes that have it, in the inputs' order.
struct NamedSize {
  std::string name;
  std::vector<SizePlace> places;
};

/// The sizes of the inputs that aren't numbers, in the order in which they first come. Axes that
/// the file gives one name are one size. An axis without a name is a size of its own,
/// "<input>_dim<axis>"; "?", "*", "None" and "-1" are no names.
std::vector<NamedSize> named_sizes(const InputDefs& inputs);
/// The name that the size of an axis without a number has among them.
std::string size_name(const ValueDef& input, size_t axis);

/// The shape that the options give an input, or the sequence that it is a tensor of; nullptr: none.
const Dims* given_shape(const ValueDef& input, const ElaborateOptions& options);

/// The shapes of the graph inputs with every symbol replaced by a number.
struct BoundInputs {
  std::vector<Dims> dims;  ///< one per input; none while sizes are open
  std::map<std::string, int64_t> bindings;
  std::vector<std::string> defaulted;  ///< batches, which are 1 for want of a binding
  std::vector<std::string> open;       ///< nobody gave them; names in the inputs' order
};

/// Binds the sizes of `inputs`: from options.bindings, else from a shape given in
/// options.input_shapes, else as the sum, product... of other sizes that their name spells
/// ("past_length + 1"), else by the binding of kAllOthers. What is left is open, but for batches: a
/// size is one, and is 1, where it is the first axis of several, in all inputs of the most axes
/// that have it. Errors have no `where`: Errc::usage for options that don't go with the model,
/// Errc::invalid for an input without a shape.
Result<BoundInputs> bind_symbols(const InputDefs& inputs, const ElaborateOptions& options);

}  // namespace accsim::sim
