#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>

namespace accsim::hw {

/// Of all threads and processes that take the lock of one name, one has it at a time. It ends with
/// its owner, however that ends. Its file goes with it; what a killed owner leaves blocks nobody.
class BuildLock {
 public:
  /// Waits while another has the lock; `waits` is told all the while. Nothing once `stop` is set
  /// (nullptr: never). Where files can't be locked or made, the lock is had without any.
  static std::optional<BuildLock> take(const std::filesystem::path& file,
                                       const std::atomic<bool>* stop,
                                       const std::function<void()>& waits);
  /// Removes the file of a lock that nobody has.
  static void remove_abandoned(const std::filesystem::path& file);

  BuildLock(BuildLock&& other) noexcept;
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;
  BuildLock& operator=(BuildLock&&) = delete;
  ~BuildLock();

 private:
  BuildLock(std::filesystem::path file, int descriptor);

  std::filesystem::path file_;
  int descriptor_;  ///< -1: there is no file
};

}  // namespace accsim::hw
