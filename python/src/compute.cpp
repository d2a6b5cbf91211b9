#include "python/src/compute.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace accsim::python {
namespace {

struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};

/// Never freed: a thread may outlive every static.
Running& running() {
  static Running& all = *new Running;
  return all;
}

}  // namespace

bool on_main_thread() { return syscall(SYS_gettid) == getpid(); }

void LeftBehind::add() {
  const std::scoped_lock lock(running().mutex);
  ++running().count;
}

void LeftBehind::remove() {
  const std::scoped_lock lock(running().mutex);
  --running().count;
  running().changed.notify_all();
}

void LeftBehind::wait_at_exit() {
  while (true) {
    {
      const nanobind::gil_scoped_release released;
      std::unique_lock lock(running().mutex);
      if (running().changed.wait_for(lock, std::chrono::milliseconds(20),
                                     [] { return running().count == 0; }))
        return;
    }
    if (PyErr_CheckSignals() != 0) std::_Exit(130);
  }
}

}  // namespace accsim::python
