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

  /// Calls `use` with the path of an ONNX file: `model`, or where that ends in .pt or .pth, what
  /// python/accsim/_export.py writes of it for the examples' shapes, in a temporary folder that is
  /// gone when this returns (in_torch_folder()). Errors: those of `use`, about `model`; usage for
  /// examples that are no shape, are missing, or belong to a model of another kind; io with what to
  /// install where there is no Python or no torch.
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
