#pragma once
#include <string>

namespace accsim::sim {

/// JSON Schema (draft 7) of the output of `to_json(const Report&)`. Every key is required, and no
/// other key is allowed. Descriptions and units are from the field list (fields.h). A number that a
/// row may lack may also be "null". Ends in a line feed.
std::string report_schema();

}  // namespace accsim::sim
