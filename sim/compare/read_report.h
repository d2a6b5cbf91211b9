#pragma once
#include <string>
#include <string_view>

#include "sim/base/result.h"
#include "sim/compare/run_side.h"

namespace accsim::sim {

/// A report's file as `accsim --json` writes it (accsim.report/1), as a side of a comparison.
/// Reports that don't split a layer's busy cycles by unit (written before vector_cycles and
/// move_cycles were) are split by the layer's fate.
/// Errors, with file and key: io; parse (no JSON, with line and column); invalid (another schema, a
/// key that is missing or isn't of its type, a layer whose parts aren't its cycles).
Result<RunSide> read_report(const std::string& path);

/// The same of text that was read; `file` is for messages.
Result<RunSide> parse_report(std::string_view text, const std::string& file);

}  // namespace accsim::sim
