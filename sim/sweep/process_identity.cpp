#include "sim/sweep/process_identity.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace accsim::sim {
namespace {

/// Start time of a process in clock ticks since boot; empty when there is none.
std::string start_time(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string line;
  line.reserve(4096);  // getline() takes having no memory for the end of the file
  if (!std::getline(in, line)) return {};
  // Field 22; the name in field 2 stands in parentheses and may hold spaces.
  size_t at = line.rfind(')');
  if (at == std::string::npos || at + 2 >= line.size() || line[at + 2] == 'Z')
    return {};  // a zombie
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

std::string host_name() {
  utsname name{};
  return uname(&name) == 0 ? name.nodename : "unknown";
}

}  // namespace

std::string process_owner() {
  const std::string pid = std::to_string(getpid());
  return fmt::format("{} {} {}", host_name(), pid, start_time(pid));
}

bool owner_is_dead(const std::string& owner) {
  const size_t first = owner.find(' ');
  const size_t second = owner.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return true;
  if (owner.substr(0, first) != host_name()) return true;
  return start_time(owner.substr(first + 1, second - first - 1)) != owner.substr(second + 1);
}

}  // namespace accsim::sim
