// Who builds a Verilated core, who waits for it, and what is in the way. Verilator is a script that
// writes empty sources, and the core's RTL a file of C++: a build takes a tenth of a second.
#include "hw/cosim/core_build.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "hw/cosim/build_lock.h"
#include "hw/cosim/verilated_core.h"
#include "tests/support/machines.h"
#include "tests/support/rtl_variants.h"
#include "tests/support/temp_path.h"

namespace {
std::atomic<bool> no_locks{false};
}  // namespace

/// The system's, unless a test has a file system without locks.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (!no_locks) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
  errno = ENOLCK;
  return -1;
}

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;
using Kind = BuildStep::Kind;

/// Notes that it runs, fails once when it is told to, and waits for the file `go`.
constexpr const char* kFakeVerilator = R"(#!/bin/sh
case $1 in
  --version) echo fake 1; exit ;;
  --getenv) echo '{0}/root'; exit ;;
esac
echo run >> '{0}/runs'
while [ ! -e '{0}/go' ]; do sleep 0.02; done
if [ -e '{0}/fail' ]; then rm '{0}/fail'; echo 'no such module'; exit 1; fi
while [ "$1" != --Mdir ]; do shift; done
mkdir -p "$2" && touch "$2/Vaccsim_core.cpp" "$2/Vaccsim_core__Slow.cpp"
)";

constexpr const char* kFakeModel = R"(#include <cstring>

#include "hw/cosim/rtl_abi.h"
#pragma GCC visibility push(default)
extern "C" {
uint32_t accsim_rtl_abi() { return accsim::hw::rtl::kAbi; }
void accsim_rtl_begin_thread() {}
void* accsim_rtl_create(const char*, bool) { return nullptr; }
void accsim_rtl_cycle(void*, accsim::hw::rtl::Cycle*) {}
void accsim_rtl_destroy(void*) {}
void accsim_rtl_signals(const char*, void*, void (*)(void*, const char*)) {}
}
)";

class CoreBuild : public testing::Test {
 protected:
  void SetUp() override {
    const auto tools = test::rtl_options();
    if (!tools) GTEST_SKIP() << "verilator or a C++ compiler is missing";
    options_ = {.source_dir = folder_.path("tree"),
                .cache_dir = folder_.path("cache"),
                .verilator = folder_.path("verilator"),
                .compiler = tools->compiler};
    for (const char* place : {"tree/rtl", "tree/hw/cosim/model", "root/include"})
      fs::create_directories(folder_.path(place));
    for (const char* file : {"rtl/accsim_pkg.sv", "hw/cosim/rtl_abi.h"})
      fs::copy_file(fs::path(kSource) / file, options_.source_dir / file);
    write("tree/hw/cosim/model/rtl_model.cc", kFakeModel);
    for (const char* file : {"verilated.cpp", "verilated_threads.cpp"})
      write(std::string("root/include/") + file, "");
    write("verilator", fmt::format(fmt::runtime(kFakeVerilator), folder_.path()));
    fs::permissions(options_.verilator, fs::perms::owner_all);
  }
  void TearDown() override { no_locks = false; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name)) << text;
  }
  void go() const { write("go", ""); }

  Result<std::shared_ptr<const VerilatedCore>> load(const VerilatedCoreOptions& options) const {
    return VerilatedCore::load(test::small_machine(), Dataflow::weight_stationary, options);
  }
  static std::string text(const Result<std::shared_ptr<const VerilatedCore>>& core) {
    return core ? "" : core.errors()[0].text();
  }

  /// How often Verilator was run.
  size_t runs() const {
    std::ifstream in(folder_.path("runs"));
    return static_cast<size_t>(
        std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n'));
  }
  /// What lies in the cache, without what belongs there: "" when that is all.
  std::string left() const {
    std::string out;
    size_t cores = 0;
    for (const auto& entry : fs::directory_iterator(options_.cache_dir)) {
      const std::string name = entry.path().filename().string();
      if (fs::exists(entry.path() / kCoreLibrary))
        ++cores;
      else if (!name.starts_with("runtime-") || name.find('@') != std::string::npos)
        out += name + " ";
    }
    return cores <= 1 ? out : fmt::format("{} cores", cores);
  }
  /// The only core in the cache.
  fs::path core() const {
    for (const auto& entry : fs::directory_iterator(options_.cache_dir))
      if (fs::is_directory(entry.path())) return entry.path() / kCoreLibrary;
    return {};
  }

  /// Another process that builds the core; it has begun.
  pid_t builder() const {
    const size_t before = runs();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(load(options_).ok() ? 0 : 1);
    for (int i = 0; i < 1000 && runs() == before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GT(runs(), before) << "it hasn't begun in ten seconds";
    return child;
  }
  static int exit_code(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const test::TempFolder folder_;
  VerilatedCoreOptions options_;
};

TEST_F(CoreBuild, WhatItSaysOfItsSteps) {
  go();
  std::vector<BuildStep> steps;
  options_.building = [&](const BuildStep& step) { steps.push_back(step); };
  auto first = load(options_);
  ASSERT_TRUE(first.ok()) << text(first);
  std::vector<Kind> kinds;
  for (const BuildStep& step : steps)
    if (kinds.empty() || kinds.back() != step.kind) kinds.push_back(step.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::verilates, Kind::compiles, Kind::links, Kind::ended}));
  for (size_t i = 1; i < steps.size(); ++i)
    if (steps[i].kind == Kind::compiles && steps[i - 1].kind == Kind::compiles) {
      EXPECT_GE(steps[i].done, steps[i - 1].done);
      EXPECT_EQ(steps[i].of, 3u) << "a part, what runs once, and the model";
    }
  steps.clear();
  EXPECT_TRUE(load(options_).ok());
  EXPECT_TRUE(steps.empty()) << "it is there";
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CoreBuild, DoTwoThreadsBuildItOnce) {
  std::atomic<int> waiting{0}, good{0};
  const auto work = [&] {
    VerilatedCoreOptions own = options_;
    bool waited = false;
    own.building = [&](const BuildStep& step) {
      if (step.kind != Kind::waits || waited) return;
      waited = true;
      ++waiting;
      go();
    };
    good += load(own).ok();
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(good, 2);
  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(left(), "");
}

TEST_F(CoreBuild, DoTwoProcessesBuildItOnce) {
  const pid_t child = builder();
  options_.building = [&](const BuildStep& step) {
    if (step.kind == Kind::waits) go();
  };
  const auto mine = load(options_);
  EXPECT_TRUE(mine.ok()) << text(mine);
  EXPECT_EQ(exit_code(child), 0);
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(left(), "");
}

TEST_F(CoreBuild, DoesWhoWaitsBuildItWhenTheBuilderIsKilled) {
  const pid_t child = builder();
  std::set<Kind> seen;
  options_.building = [&](const BuildStep& step) {
    if (step.kind == Kind::waits && seen.empty()) ::kill(child, SIGKILL), exit_code(child), go();
    seen.insert(step.kind);
  };
  const auto mine = load(options_);
  EXPECT_TRUE(mine.ok()) << text(mine);
  EXPECT_TRUE(seen.contains(Kind::waits) && seen.contains(Kind::links));
  EXPECT_EQ(runs(), 2u);
  EXPECT_EQ(left(), "");
}

TEST_F(CoreBuild, DoesWhoWaitsBuildItWhenTheBuilderFails) {
  write("fail", "");
  const pid_t child = builder();
  options_.building = [&](const BuildStep& step) {
    if (step.kind == Kind::waits) go();
  };
  const auto mine = load(options_);
  EXPECT_TRUE(mine.ok()) << text(mine);
  EXPECT_EQ(exit_code(child), 1);
  EXPECT_EQ(runs(), 2u);
  EXPECT_EQ(left(), "");
}

TEST_F(CoreBuild, DoesAnInterruptionEndWaiting) {
  const pid_t child = builder();
  std::atomic<bool> stop{false};
  options_.stop = &stop;
  Kind last = Kind::links;
  options_.building = [&](const BuildStep& step) {
    last = step.kind;
    stop = true;
  };
  const auto mine = load(options_);
  ASSERT_FALSE(mine.ok());
  EXPECT_NE(text(mine).find("waiting for a core that is being built was interrupted"),
            std::string::npos)
      << text(mine);
  EXPECT_EQ(last, Kind::ended);
  EXPECT_EQ(runs(), 1u);
  go();
  EXPECT_EQ(exit_code(child), 0) << "the other's build goes on";
}

TEST_F(CoreBuild, IsTheLockOfADeadProcessNone) {
  go();
  fs::create_directories(options_.cache_dir);
  ASSERT_TRUE(load(options_).ok());
  const fs::path own = core().parent_path();
  fs::remove_all(own);
  std::ofstream(own.string() + ".lock") << "";
  write("cache/0123456789abcdef.lock", "");
  const auto mine = load(options_);
  EXPECT_TRUE(mine.ok()) << text(mine);
  EXPECT_EQ(left(), "") << "another core's stale lock goes, too";
}

TEST_F(CoreBuild, IsALockThatSomebodyHasLeftAlone) {
  go();
  fs::create_directories(options_.cache_dir);
  const auto held = BuildLock::take(options_.cache_dir / "another.lock", nullptr, nullptr);
  ASSERT_TRUE(held);
  EXPECT_TRUE(load(options_).ok());
  EXPECT_EQ(left(), "another.lock ");
}

TEST_F(CoreBuild, IsItBuiltWhereFilesCannotBeLocked) {
  no_locks = true;
  go();
  const auto mine = load(options_);
  EXPECT_TRUE(mine.ok()) << text(mine);
  EXPECT_EQ(runs(), 1u);
}

TEST_F(CoreBuild, IsWhatLiesInTheWayNamed) {
  go();
  ASSERT_TRUE(load(options_).ok());
  const fs::path file = core();
  const auto refused = [&](const fs::path& path, const std::string& why) {
    const auto mine = load(options_);
    ASSERT_FALSE(mine.ok());
    EXPECT_NE(text(mine).find(path.string() + why), std::string::npos) << text(mine);
    EXPECT_EQ(runs(), 1u);
  };
  fs::remove(file);
  fs::create_directory(file);
  refused(file, " isn't a file; remove it");
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  refused(file, " isn't a file; remove it");
  fs::remove_all(file.parent_path());
  std::ofstream(file.parent_path()) << "";
  refused(file.parent_path(), " isn't a folder; remove it");
}

TEST_F(CoreBuild, IsTheSealAPipeABuildMore) {
  go();
  ASSERT_TRUE(load(options_).ok());
  const std::string seal = core().string() + ".xxh3";
  fs::remove(seal);
  ASSERT_EQ(::mkfifo(seal.c_str(), 0600), 0);
  const auto mine = load(options_);
  EXPECT_TRUE(mine.ok()) << text(mine);
  EXPECT_EQ(runs(), 2u);
}

}  // namespace
}  // namespace accsim::hw
