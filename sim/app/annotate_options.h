#pragma once
#include <string>

#include "sim/app/options.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// `--annotate OUT.onnx`.
class AnnotateOptions {
 public:
  void add_to(Command& command);
  bool is_wanted() const { return !file_.empty(); }
  bool to_stdout() const { return file_ == "-"; }
  /// Writes the annotated model, if one is wanted. `command` is what made the report. Exit code.
  int write_annotated(const ModelOptions& model, const Report& report,
                      const std::string& command) const;

 private:
  std::string file_;
};

}  // namespace accsim::sim
