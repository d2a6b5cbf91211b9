#include "hw/cosim/tool_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Waits until something is so; false after ten seconds without.
bool comes(const std::function<bool()>& so) {
  for (int i = 0; i < 1000; ++i) {
    if (so()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

/// A shell command that has two more processes at work and writes all their numbers.
std::string busy(const fs::path& pids) {
  return fmt::format("cd / && (sleep 100 & echo $! >> '{0}'; sleep 100 & echo $! >> '{0}'; wait)",
                     pids.string());
}

std::vector<pid_t> pids_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istream_iterator<pid_t>(in), {}};
}

/// Not there, or only for its parent to ask about.
bool has_ended(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string stat(std::istreambuf_iterator<char>(in), {});
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

bool have_ended(const std::vector<pid_t>& pids) {
  return std::all_of(pids.begin(), pids.end(), has_ended);
}

TEST(ToolProcess, HowACommandEnded) {
  const test::TempFolder folder;
  const fs::path log = folder.path("log");
  EXPECT_EQ(run_tool("echo out; echo err >&2", log, nullptr), ToolEnd::good);
  EXPECT_EQ(read(log), "out\nerr\n");
  EXPECT_EQ(run_tool("echo no; exit 3", log, nullptr), ToolEnd::failed);
  EXPECT_EQ(read(log), "no\n");
  EXPECT_EQ(run_tool("kill -KILL $$", log, nullptr), ToolEnd::failed);
  EXPECT_EQ(run_tool("no-such-tool-of-that-name", log, nullptr), ToolEnd::failed);
  EXPECT_EQ(run_tool("true", folder.path("no/such/folder/log"), nullptr), ToolEnd::failed);
}

TEST(ToolProcess, DoesStoppingEndAllThatTheCommandStarted) {
  const test::TempFolder folder;
  const fs::path pids = folder.path("pids");
  std::atomic<bool> stop{false};
  ToolEnd end = ToolEnd::good;
  std::thread tool([&] { end = run_tool(busy(pids), folder.path("log"), &stop); });
  const bool began = comes([&] { return pids_of(pids).size() == 2; });
  stop = true;
  tool.join();
  ASSERT_TRUE(began);
  EXPECT_EQ(end, ToolEnd::stopped);
  EXPECT_TRUE(comes([&] { return have_ended(pids_of(pids)); }));
}

TEST(ToolProcess, DoesAllEndWithAProcessThatIsKilled) {
  const test::TempFolder folder;
  const fs::path pids = folder.path("pids"), log = folder.path("log");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run_tool(busy(pids), log, nullptr);
    ::_exit(0);
  }
  const bool began = comes([&] { return pids_of(pids).size() == 2; });
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(began);
  EXPECT_TRUE(comes([&] { return have_ended(pids_of(pids)); }));
}

TEST(ToolProcess, WhoseMarkIsOfTheDead) {
  const std::string own = process_mark();
  EXPECT_FALSE(is_of_the_dead(own));
  const std::string host = own.substr(own.find('@'));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(is_of_the_dead(std::to_string(child) + host));
  EXPECT_FALSE(is_of_the_dead(std::to_string(child) + host + "x")) << "another host's";
  for (const char* other : {"", "1234", "@", "so", "0@", "-1@", "12a@"})
    EXPECT_FALSE(is_of_the_dead(other + (std::string(other).ends_with('@') ? host.substr(1) : "")))
        << other;
}

}  // namespace
}  // namespace accsim::hw
