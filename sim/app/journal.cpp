#include "sim/app/journal.h"

#include <fmt/format.h>

#include <filesystem>

#include "sim/app/output.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

std::string milliseconds_text(std::chrono::steady_clock::duration time) {
  return format_fixed(std::chrono::duration<double, std::milli>(time).count(), 1) + " ms";
}

}  // namespace

Journal::~Journal() {
  if (on_)
    print_err(fmt::format("accsim: {:>12}  in all\n", milliseconds_text(Clock::now() - start_)));
}

void Journal::note_read(const std::string& what, const std::string& path) const {
  if (!on_) return;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  print_err(fmt::format("accsim: {}: {}{}\n", what, path,
                        error ? "" : ", " + format_si(static_cast<double>(size), "B")));
}

void Journal::note_step(const std::string& what) {
  const auto now = Clock::now();
  if (on_) print_err(fmt::format("accsim: {:>12}  {}\n", milliseconds_text(now - last_), what));
  last_ = now;
}

void Journal::note_text(const std::string& text) const {
  if (on_) print_err(fmt::format("accsim: {:>12}  {}\n", "", text));
}

}  // namespace accsim::sim
