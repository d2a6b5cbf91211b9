#pragma once
#include <chrono>
#include <string>

namespace accsim::sim {

/// How far a long job is, on stderr: on a terminal one line that is written over and goes away in
/// the end, else a line of its own every half a minute. Nothing in a job's first second.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `of` things are done; `more` follows the counts, e.g. "programs, 3 s left".
  void operator()(int64_t done, int64_t of, const std::string& more);
  /// What the job is at, where nothing is counted.
  void operator()(const std::string& text);
  /// Seconds since it was made.
  double elapsed_seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether it is time to say something again.
  bool is_due();
  /// `bar`: for a terminal only.
  void print_line(const std::string& bar, const std::string& text);

  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool printed_ = false;
};

}  // namespace accsim::sim
