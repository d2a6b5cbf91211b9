#pragma once
#include <string>
#include <string_view>

#include "sim/elaborate/elaborate.h"
#include "sim/graph/graph.h"

namespace accsim::sim {

/// A model from its bytes, called `name` in messages. They lie for a moment in a file of a new
/// folder that only this user can read, and nothing else lies there, so external data that the
/// model names isn't found. Errors: as load_graph()'s; io where no folder can be made.
Result<Graph> graph_of_bytes(std::string_view bytes, const std::string& name,
                             const ElaborateOptions& options);

/// Errors about a temporary file as errors about `name`, of which it was made.
Errors called(Errors errors, const std::string& file, const std::string& name);

/// load_graph() of a temporary file: messages and the graph say `name` where that file's path would
/// stand.
Result<Graph> load_graph_as(const std::string& name, const std::string& file,
                            const ElaborateOptions& options);

/// What to call an upload, from a percent-encoded header: the last part of a path, printable, at
/// most 80 characters; "upload.onnx" when nothing is left.
std::string upload_name(std::string_view encoded);

}  // namespace accsim::sim
