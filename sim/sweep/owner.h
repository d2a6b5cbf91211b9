#pragma once
#include <string>

namespace accsim {

/// This process among all there ever were: host, process id and start time.
std::string process_owner();

/// True when the owner is a process of this host that has ended. Those of other hosts count as
/// alive.
bool owner_is_dead(const std::string& owner);

}  // namespace accsim
