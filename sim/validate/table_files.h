#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/validate/table_section.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// The points of all sections, from the section's own tables or, where it is given, from `other`
/// in place of them. Sections that ask `other` for columns it lacks, in `where` or `join`, are
/// left out, unless all do. `read` takes the tables that were read. Errors too: a section whose
/// `where` takes no row of its tables; of `other`, where no section takes any.
std::vector<ValidationPoint> points_of_tables(const std::vector<TableSection>& sections,
                                              const std::optional<std::string>& other,
                                              const ValidationPoint& common,
                                              std::vector<std::string>& read, SpecErrors& errors);

}  // namespace accsim::sim
