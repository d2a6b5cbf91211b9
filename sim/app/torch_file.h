#pragma once
#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/elaborate/elaborate.h"
#include "sim/graph/graph.h"

namespace accsim::sim {

/// TorchScript files where a command takes a model: Python, with torch, exports them to ONNX.
class TorchFile {
 public:
  /// --example and --python.
  void add_to(Command& command);

  /// load_graph() of `model`, which may end in .pt or .pth: then python/accsim/_export.py writes it
  /// for the examples' shapes into a temporary folder, which is gone when this returns; Ctrl-C
  /// meanwhile removes it and ends the process. Python is started by its arguments, no shell reads
  /// them. Errors: as load_graph()'s; usage for examples that are no shape, are missing, or belong
  /// to a model of another kind; io with what to install where there is no Python or no torch.
  Result<Graph> load(const std::string& model, const ElaborateOptions& options) const;

 private:
  Status check(const std::string& model, bool torch) const;
  Status export_to(const std::string& folder, const std::string& model) const;

  std::vector<std::string> examples_;
  std::string python_;  ///< "": python3
};

}  // namespace accsim::sim
