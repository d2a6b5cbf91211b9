#include "sim/app/last_words.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "sim/app/cli.h"

namespace accsim::sim {
namespace {

/// Only what a signal handler may do.
[[noreturn]] void say(const char* text, int code) {
  (void)!::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(code);
}

void on_bus_error(int) {
  say("accsim: error: a file that is being read was cut short, or can't be read any more; run the "
      "command again when its files stay as they are\n",
      kExitBadInput);
}

[[noreturn]] void say_bug() {
  say("accsim: internal error: this is a bug in accsim; please report it with the command line, "
      "what accsim --version says and, if you may, the files\n",
      kExitBug);
}
void on_bug(int) { say_bug(); }

[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    say(kNoMemory, kExitResources);
  } catch (const std::system_error&) {
    say("accsim: error: the system lacks a resource; use smaller inputs or fewer threads\n",
        kExitResources);
  } catch (...) {
    say_bug();
  }
  say_bug();
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void leave_last_words() {
  static std::array<char, 65536> stack;  // for the handlers: the usual one may be what overflowed
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  handle(SIGBUS, on_bus_error);
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL}) handle(signal, on_bug);
  std::set_terminate(on_terminate);
}

}  // namespace accsim::sim
