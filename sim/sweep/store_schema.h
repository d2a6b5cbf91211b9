#pragma once
#include <string>
#include <vector>

#include "sim/sweep/sqlite.h"

namespace accsim::sim {

/// `name` as an SQL identifier.
std::string quote_name(const std::string& name);

/// SQL that makes the tables of a store with these axes, where they aren't there yet.
std::string create_tables(const std::vector<std::string>& axes);

/// Errc::invalid unless meta and axes, which describe the store, are tables as accsim writes them.
/// The SQL of a view, a trigger or a computed column would run when they are read. `database` is
/// "main" or an attached one; `path` is its file.
Status check_first_tables(Database& db, const std::string& database, const std::string& path);

/// The same of all that the file has: exactly the tables of a store with these axes.
Status check_tables(Database& db, const std::string& database, const std::string& path,
                    const std::vector<std::string>& axes);

}  // namespace accsim::sim
