#pragma once
#include <string>

#include "sim/elaborate/elaborate.h"
#include "sim/onnx/annotate.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What all keys of notes begin with.
inline constexpr const char* kNotePrefix = "accsim.cost.";

/// What annotating a model starts from.
struct AnnotateRequest {
  std::string model;  ///< file
  ElaborateOptions elaborate;
  std::string output;   ///< where the result will lie; "-": who knows where
  std::string command;  ///< that made the report, for people
};

/// The model with what each node costs in its metadata: fields of the report (sim/report/fields.h)
/// under "accsim.cost." and their key. Nodes that call functions or have bodies carry the sum of
/// all that runs in these. The model itself carries totals, machine and command. Notes of an
/// earlier run are replaced. `report` must be of this model with these options.
/// Errors: the file changed since; weights in files beside it that wouldn't be beside `output`.
Result<PatchedFile> annotate_with_report(const AnnotateRequest& request, const Report& report);

}  // namespace accsim::sim
