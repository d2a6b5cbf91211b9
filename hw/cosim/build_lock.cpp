#include "hw/cosim/build_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

/// What became of one attempt: the lock is had, another has it, or there are no locks here.
enum class Attempt : uint8_t { got, busy, impossible };

/// Whether the name still stands for the open file: an owner before may have removed it.
bool is_at(int descriptor, const fs::path& file) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

/// One attempt, with the open file when the lock is had. `flags`: of open(), more than O_RDWR,
/// which locks over NFS ask for.
std::pair<Attempt, int> attempt_lock(const fs::path& file, int flags) {
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | flags, 0666);
    if (descriptor < 0) return {Attempt::impossible, -1};
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      ::close(descriptor);
      if (why == EINTR) continue;
      return {why == EWOULDBLOCK ? Attempt::busy : Attempt::impossible, -1};
    }
    if (is_at(descriptor, file)) return {Attempt::got, descriptor};
    ::close(descriptor);
  }
}

}  // namespace

std::optional<BuildLock> BuildLock::take(const fs::path& file, const std::atomic<bool>* stop,
                                         const std::function<void()>& waits) {
  while (true) {
    const auto [how, descriptor] = attempt_lock(file, O_CREAT);
    if (how != Attempt::busy) return BuildLock(file, descriptor);
    if (stop != nullptr && *stop) return std::nullopt;
    if (waits) waits();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void BuildLock::remove_abandoned(const fs::path& file) {
  if (const auto [how, descriptor] = attempt_lock(file, 0); how == Attempt::got)
    BuildLock(file, descriptor);  // removes it as it goes
}

BuildLock::BuildLock(fs::path file, int descriptor)
    : file_(std::move(file)), descriptor_(descriptor) {}

BuildLock::BuildLock(BuildLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

BuildLock::~BuildLock() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());  // before the lock ends: behind that it may be another's
  ::close(descriptor_);
}

}  // namespace accsim::hw
