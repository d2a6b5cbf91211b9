#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"

namespace accsim::sim {

/// A part of a model as a model of its own.
struct PartModel {
  std::string bytes;                        ///< the file
  std::vector<ValueDef> inputs, outputs;    ///< what it takes and gives in every run
  size_t nodes = 0, of_nodes = 0;           ///< of the main graph: left, and before
  std::vector<std::string> external;        ///< files of external data that it refers to
  std::map<std::string, int64_t> bindings;  ///< symbols that are fixed now
  std::vector<Assumption> assumed;          ///< what was taken for what only a run decides
};

/// What `options.cut` leaves of a model's main graph, with what computes constants for it. Nodes,
/// the initializers that they read, functions and opset imports are copied as they are. What it
/// reads of other nodes are inputs, by their names; its outputs are those of `until`, or else those
/// of the model that it has, or else what nobody reads. A body belongs to its node as a whole.
/// Integers that depend on shapes only, and on an input for these, are initializers. Shapes are
/// those of the options' bindings. Weights beside the model stay there, or are in the part
/// (`embed`). Errors: those of reading, elaborating and embed_weights(); no such node; a sequence
/// between the parts.
Result<PartModel> part_model(const std::string& path, const ElaborateOptions& options,
                             bool embed = false);

}  // namespace accsim::sim
