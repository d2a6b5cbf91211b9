#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace accsim::hw {

/// How a tool ended.
enum class ToolEnd { good, failed, stopped };

/// Runs a shell command with its output in `log`, in a process group of its own. All of the group
/// ends as soon as `stop` is set (nullptr: never), or when this process ends, however it does.
ToolEnd run_tool(const std::string& command, const std::filesystem::path& log,
                 const std::atomic<bool>* stop);

/// A shell command and the file that has its output.
struct ToolCommand {
  std::string command;
  std::filesystem::path log;
};

/// How several tools ended: `which` is the place of the one that failed.
struct ToolsEnd {
  ToolEnd end = ToolEnd::good;
  size_t which = 0;
};

/// Runs commands side by side, `most` at a time, in their order, each as run_tool() does. When one
/// fails, the others end, too. `watch` (may be empty) is told all the while how many have ended
/// well.
ToolsEnd run_tools(const std::vector<ToolCommand>& commands, size_t most,
                   const std::atomic<bool>* stop, const std::function<void(size_t)>& watch);

/// "PID@HOST" of this process, for names of folders that are nobody's once it has ended.
std::string process_mark();
/// Whether a mark is of a process of this host that is there no more.
bool is_of_the_dead(const std::string& mark);

}  // namespace accsim::hw
