#include "hw/cosim/tool_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <thread>

namespace accsim::hw {
namespace {

/// A shell that passes SIGTERM on to all that it has started.
std::string guarded(const std::string& command) {
  return "trap 'trap - TERM; kill -TERM 0' TERM\n(" + command + "\n) &\nwait $!\n";
}

/// What the child does, before anything else runs in it: only calls that a fork of a process with
/// threads may make.
[[noreturn]] void become_tool(const char* script, const char* log, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it has ended meanwhile
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (in < 0 || out < 0) ::_exit(1);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execl("/bin/sh", "sh", "-c", script, nullptr);
  ::_exit(127);
}

std::string host() {
  utsname name{};
  return ::uname(&name) == 0 ? name.nodename : "unknown";
}

}  // namespace

ToolEnd run_tool(const std::string& command, const std::filesystem::path& log,
                 const std::atomic<bool>* stop) {
  const std::string script = guarded(command), file = log.string();
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return ToolEnd::failed;
  if (child == 0) become_tool(script.c_str(), file.c_str(), parent);
  ::setpgid(child, child);  // whoever of the two comes first
  int status = 0;
  bool told = false;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return ToolEnd::failed;
    if (stop != nullptr && *stop && !told) told = ::kill(-child, SIGTERM) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (told) return ToolEnd::stopped;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ToolEnd::good : ToolEnd::failed;
}

std::string process_mark() { return fmt::format("{}@{}", ::getpid(), host()); }

bool is_of_the_dead(const std::string& mark) {
  const size_t at = mark.find('@');
  if (at == std::string::npos || mark.substr(at + 1) != host()) return false;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(mark.data(), mark.data() + at, pid);
  if (error != std::errc() || end != mark.data() + at || pid < 1) return false;
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace accsim::hw
