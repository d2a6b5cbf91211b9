#pragma once
#include "sim/base/result.h"

namespace accsim::sim {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;     ///< the question was answered, and the answer is "no"
inline constexpr int kExitBadInput = 2;   ///< usage, files, models and machines that can't be used
inline constexpr int kExitResources = 3;  ///< this system lacks memory, threads, room or tools

/// The command line: parses, runs one command, prints. Returns the process's exit code.
int run_cli(int argc, char** argv);

/// Adds a result's errors, if it has any, so that all can be reported at once.
template <class T>
void collect_errors(const Result<T>& result, Errors& errors) {
  if (!result) errors.insert(errors.end(), result.errors().begin(), result.errors().end());
}

/// Prints errors to stderr, one a line, and returns kExitBadInput.
int report_errors(const Errors& errors);

}  // namespace accsim::sim
