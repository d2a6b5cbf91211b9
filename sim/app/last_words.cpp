#include "sim/app/last_words.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "sim/app/cli.h"

namespace accsim::sim {
namespace {

/// Only what a signal handler may do.
[[noreturn]] void say_and_exit(const char* text, int code) {
  (void)!::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(code);
}

void on_bus_error(int, siginfo_t*, void*) {
  say_and_exit(
      "accsim: error: a file that is being read was cut short, or can't be read any more; run the "
      "command again when its files stay as they are\n",
      kExitBadInput);
}

[[noreturn]] void say_bug() {
  say_and_exit(
      "accsim: internal error: this is a bug in accsim; please report it with the command line, "
      "what accsim --version says and, if you may, the files\n",
      kExitBug);
}
void on_bug(int, siginfo_t*, void*) { say_bug(); }

/// Addresses that the first thread's stack may grow into: from where it was on, half of its limit.
/// What is further down may be a recursion without end.
struct StackRange {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
};
StackRange growing;

StackRange stack_range(std::uintptr_t here) {
  constexpr rlim_t kMost = rlim_t{1} << 30;  // where there is no limit
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  const rlim_t bytes = std::min(limit.rlim_cur, kMost) / 2;
  return {here - std::min<std::uintptr_t>(bytes, here), here};
}

/// A stack that isn't allowed to grow within its limit lacks memory.
void on_bad_address(int, siginfo_t* fault, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(fault->si_addr);
  if (address >= growing.first && address < growing.last) say_and_exit(kNoMemory, kExitResources);
  say_bug();
}

[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    say_and_exit(kNoMemory, kExitResources);
  } catch (const std::system_error&) {
    say_and_exit(
        "accsim: error: the system lacks a resource; use smaller inputs or fewer threads\n",
        kExitResources);
  } catch (...) {
    say_bug();
  }
  say_bug();
}

void handle_signal(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void leave_last_words() {
  static std::array<char, 65536> stack;  // for the handlers: the usual one may be what overflowed
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  handle_signal(SIGBUS, on_bus_error);
  growing = stack_range(reinterpret_cast<std::uintptr_t>(&alternative));
  handle_signal(SIGSEGV, on_bad_address);
  for (const int signal : {SIGABRT, SIGFPE, SIGILL}) handle_signal(signal, on_bug);
  std::set_terminate(on_terminate);
}

}  // namespace accsim::sim
