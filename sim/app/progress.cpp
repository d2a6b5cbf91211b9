#include "sim/app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/output.h"
#include "sim/report/format.h"

namespace accsim::sim {

Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) != 0),
      next_(start_ + std::chrono::milliseconds(terminal_ ? 1'000 : 30'000)) {}

Progress::~Progress() {
  if (terminal_ && printed_) print_status("\r\033[K");
}

void Progress::operator()(int64_t done, int64_t of, const std::string& more) {
  if (!is_due()) return;
  constexpr size_t kWidth = 20;
  const double part = of > 0 ? static_cast<double>(done) / static_cast<double>(of) : 0;
  print_line(fmt::format("[{:<{}}] ", format_bar(part, kWidth, false), kWidth),
             fmt::format("{} of {} {}", format_count(done), format_count(of), more));
}

void Progress::operator()(const std::string& text) {
  if (is_due()) print_line("", text);
}

bool Progress::is_due() {
  const auto now = Clock::now();
  if (now < next_) return false;
  next_ = now + std::chrono::milliseconds(terminal_ ? 100 : 30'000);
  return true;
}

void Progress::print_line(const std::string& bar, const std::string& text) {
  if (!terminal_) {
    print_err(fmt::format("accsim: {}\n", text));
    return;
  }
  print_status(fmt::format("\r\033[K{}{}", bar, text));
  std::fflush(stderr);
  printed_ = true;
}

double Progress::elapsed_seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

}  // namespace accsim::sim
