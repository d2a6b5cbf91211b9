#pragma once
#include <chrono>
#include <string>

namespace accsim::sim {

/// What --verbose says, on stderr as it happens: files read, time by step, and the sum at the end.
/// Silent when it isn't on.
class Journal {
 public:
  explicit Journal(bool on) : on_(on) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// A file that is about to be read, with its size.
  void note_read(const std::string& what, const std::string& path) const;
  /// Ends a step: the time since the last one ended, or since the beginning.
  void note_step(const std::string& what);
  void note_text(const std::string& text) const;

 private:
  using Clock = std::chrono::steady_clock;

  const bool on_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace accsim::sim
