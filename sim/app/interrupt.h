#pragma once
#include <atomic>

namespace accsim::sim {

/// While it lives, the first Ctrl-C only sets the flag, and the second one ends the process at
/// once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static const std::atomic<bool>& requested();
};

}  // namespace accsim::sim
