#pragma once
#include <string>

namespace accsim::sim {

/// JSON Schema (draft 7) of what `to_json(const Report&)` writes: every key is required and no
/// other is allowed, with its description and unit from the field list (fields.h); numbers that a
/// row may lack are "null" too. Ends in a line feed.
std::string report_schema();

}  // namespace accsim::sim
