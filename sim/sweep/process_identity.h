#pragma once
#include <string>

namespace accsim::sim {

/// This process among all there ever were: host, process id and start time.
std::string process_owner();

/// True when the owner is no running process of this host. One of another host is none: a store in
/// WAL mode is open on one machine at a time, so that what is claimed there was left behind.
bool owner_is_dead(const std::string& owner);

}  // namespace accsim::sim
