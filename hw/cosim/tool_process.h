#pragma once
#include <atomic>
#include <filesystem>
#include <string>

namespace accsim::hw {

/// How a tool ended.
enum class ToolEnd { good, failed, stopped };

/// Runs a shell command with its output in `log`, in a process group of its own. All of the group
/// ends as soon as `stop` is set (nullptr: never), or when this process ends, however it does.
ToolEnd run_tool(const std::string& command, const std::filesystem::path& log,
                 const std::atomic<bool>* stop);

/// "PID@HOST" of this process, for names of folders that are nobody's once it has ended.
std::string process_mark();
/// Whether a mark is of a process of this host that is there no more.
bool is_of_the_dead(const std::string& mark);

}  // namespace accsim::hw
