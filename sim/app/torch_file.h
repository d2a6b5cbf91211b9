#pragma once
#include <functional>
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

  /// Calls `use` with the path of an ONNX file. That is `model`, or for a .pt or .pth the file that
  /// python/accsim/_export.py writes for the examples' shapes. Its temporary folder is gone when
  /// this returns (in_torch_folder()). Errors: errors of `use`, about `model`; usage for examples
  /// that are no shape, are missing or belong to another kind of model; io, with what to install,
  /// if there is no Python or no torch.
  Status with_onnx(const std::string& model,
                   const std::function<Status(const std::string& onnx)>& use) const;

  /// load_graph() of `model`, or of what with_onnx() makes of it.
  Result<Graph> load_exported(const std::string& model, const ElaborateOptions& options) const;

 private:
  Status check_examples(const std::string& model, bool torch) const;

  std::vector<std::string> examples_;
  std::string python_;  ///< "": python3
};

}  // namespace accsim::sim
