#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/run/run.h"

namespace accsim::sim {

/// What files give for a network's inputs.
struct GivenInputs {
  ref::Arrays arrays;
  /// Of files that have RunRequest::count inputs one behind the other: all of them.
  std::map<std::string, std::vector<ref::Array>> series;
};

/// An input that is given takes the place of the value that the file has for it.
void drop_defaults(const RunRequest& request, ModelDef& model);

/// Files for inputs that the model declares. Numbers of another width than the input's are
/// converted when they fit. `options` get the shapes of .npy files for inputs whose declared shape
/// leaves something open; raw files have the shapes that the options then give.
Result<GivenInputs> read_model_inputs(const ModelDef& model, const RunRequest& request,
                                      ElaborateOptions& options);

/// Files for the other inputs of a part of a network (ElaborateOptions::cut): what it reads of
/// nodes that it doesn't have. Errc::usage for those that are no inputs of the part, and weren't
/// `fixed`.
Status read_part_inputs(const Graph& graph, const RunRequest& request,
                        const std::map<std::string, StoredTensor>& fixed, ref::Arrays& arrays);

}  // namespace accsim::sim
