#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace accsim::sim {

/// Ends a query (SQLITE_INTERRUPT) that takes more steps of SQLite's machine than its files'
/// bytes can account for. Our queries go through rows once: on rows as small as a table of ours
/// can have they take about one step per byte. A file that was made to keep its reader busy has
/// pages that lead to one another, or SQL of its own.
class StepLimit {
 public:
  static constexpr int64_t kSteps = 2'000'000;  ///< that any query may take
  static constexpr int64_t kStepsPerByte = 16;  ///< of the files, and what SQLite keeps beside them

  /// Watches a connection for as long as both are there.
  StepLimit(sqlite3* connection, const std::string& path);
  ~StepLimit() = default;
  StepLimit(const StepLimit&) = delete;
  StepLimit& operator=(const StepLimit&) = delete;

  /// A file that the connection reads, too.
  void add_file(const std::string& path);
  /// The steps that the query which runs now has taken, and those of another that goes on.
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  bool is_passed();
  int64_t steps_ = 0;
  int64_t most_ = kSteps;  ///< by the sizes of the files when they were last asked for
  std::vector<std::string> files_;
};

}  // namespace accsim::sim
