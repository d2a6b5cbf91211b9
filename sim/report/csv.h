#pragma once
#include <string>

#include "sim/report/fields.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// The layers as CSV: a header row with the keys of the field list, then one row per graph node.
/// For a report that is rolled up, rows are groups: name, number of layers, and the fields that
/// layers and totals share. Quoted as RFC 4180 says; rows end in a bare line feed. Shapes are
/// "1x3x224x224", and spaces separate several. A field without a value is empty.
std::string to_csv(const Report& report);

/// Appends one field, quoted where it must be.
void append_csv_cell(const FieldValue& value, std::string& out);

}  // namespace accsim::sim
