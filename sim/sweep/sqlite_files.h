#pragma once
#include <string>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// The files that SQLite makes and deletes beside a database: of the file that the path leads to.
std::vector<std::string> files_beside(const std::string& path);

/// Errc::io when the database isn't there yet, or is empty, and one of those files is there: SQLite
/// would delete it. SQLite's own are let be: another process may be making the database, or was
/// killed, and without their database they say nothing.
Status check_files_beside(const std::string& path);

}  // namespace accsim::sim
