#include "sim/app/interrupt.h"

#include <csignal>

namespace accsim::sim {
namespace {

std::atomic<bool> stop_requested{false};  // a signal handler has no other way to say anything

}  // namespace

InterruptGuard::InterruptGuard() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int received) {
      stop_requested = true;
      std::signal(received, SIG_DFL);
    });
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

const std::atomic<bool>& InterruptGuard::requested() { return stop_requested; }

}  // namespace accsim::sim
