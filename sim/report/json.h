#pragma once
#include <string>
#include <string_view>

#include "sim/report/report.h"

namespace accsim::sim {

/// The section of a machine whose keys stand at the top of a report's `hw`.
inline constexpr std::string_view kLiftedSection = "array";

/// The report as JSON, schema "accsim.report/1":
///   schema, model, hw, totals, energy, layers, unsupported
/// and, where it is rolled up, grouped_by and groups, with the keys that layers and totals have.
/// `totals` and each of `layers` hold the keys of the field list (fields.h) in its order; counts
/// are integers, a field without a value is null. `hw` is the machine file's content, the keys of
/// kLiftedSection at its top. One layer a line; ends in a line feed. Bytes of names that are not
/// UTF-8 become U+FFFD. The same report gives the same bytes.
std::string to_json(const Report& report);

}  // namespace accsim::sim
