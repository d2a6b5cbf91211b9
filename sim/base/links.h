#pragma once
#include <string>

namespace accsim::sim {

/// Where a chain of symbolic links ends, whether there is a file yet or not; "" when it has no end,
/// the path itself when a link can't be read. Links in the folders before it stay as they are.
std::string resolve_links(const std::string& path);

}  // namespace accsim::sim
