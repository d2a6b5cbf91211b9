#include "hw/cosim/tool_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "sim/base/parse_number.h"

namespace accsim::hw {
namespace {

/// A shell that passes SIGTERM on to all that it has started.
std::string guarded_script(const std::string& command) {
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

/// Starts a tool; 0 when there can't be another process.
pid_t start_tool(const ToolCommand& tool) {
  const std::string script = guarded_script(tool.command), file = tool.log.string();
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return 0;
  if (child == 0) become_tool(script.c_str(), file.c_str(), parent);
  ::setpgid(child, child);  // whoever of the two comes first
  return child;
}

/// Whether a tool has ended well; nothing while it runs.
std::optional<bool> end_of(pid_t child) {
  int status = 0;
  const pid_t ended = ::waitpid(child, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct Child {
  pid_t pid;
  size_t which;
};

/// Tools that run; none of them longer than this.
struct Running {
  std::vector<Child> tools;

  void terminate_all() const {
    for (const Child& tool : tools) ::kill(-tool.pid, SIGTERM);
  }
  ~Running() {
    terminate_all();
    for (const Child& tool : tools) ::waitpid(tool.pid, nullptr, 0);
  }
};

std::string host_name() {
  utsname name{};
  return ::uname(&name) == 0 ? name.nodename : "unknown";
}

}  // namespace

ToolEnd run_tool(const std::string& command, const std::filesystem::path& log,
                 const std::atomic<bool>* stop) {
  return run_tools({{command, log}}, 1, stop, nullptr).end;
}

ToolsEnd run_tools(const std::vector<ToolCommand>& commands, size_t most,
                   const std::atomic<bool>* stop, const std::function<void(size_t)>& watch) {
  ToolsEnd out;
  Running running;
  running.tools.reserve(std::min(most, commands.size()));
  size_t next = 0, good = 0;
  const auto end_with = [&](ToolEnd how, size_t which) {
    if (out.end != ToolEnd::good) return;
    out = {how, which};
    running.terminate_all();
  };
  while (true) {
    while (out.end == ToolEnd::good && next < commands.size() && running.tools.size() < most) {
      if (const pid_t pid = start_tool(commands[next]); pid > 0)
        running.tools.push_back({pid, next++});
      else
        end_with(ToolEnd::failed, next);
    }
    std::optional<size_t> failed;
    std::erase_if(running.tools, [&](const Child& child) {
      const std::optional<bool> ended = end_of(child.pid);
      if (ended == false) failed = child.which;
      good += ended == true;
      return ended.has_value();
    });
    if (failed) end_with(ToolEnd::failed, *failed);
    if (running.tools.empty() && (out.end != ToolEnd::good || next == commands.size())) return out;
    if (stop != nullptr && *stop) end_with(ToolEnd::stopped, 0);
    if (watch) watch(good);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string process_mark() { return fmt::format("{}@{}", ::getpid(), host_name()); }

bool is_of_the_dead(const std::string& mark) {
  const size_t at = mark.find('@');
  if (at == std::string::npos || mark.substr(at + 1) != host_name()) return false;
  const auto pid = parse_number<pid_t>(std::string_view(mark).substr(0, at));
  return pid && *pid >= 1 && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

}  // namespace accsim::hw
