#pragma once

namespace accsim::sim {

inline constexpr int kExitBug = 70;  ///< the program contradicts itself

inline constexpr const char* kNoMemory =
    "accsim: error: not enough memory; use smaller inputs or fewer threads\n";

/// From now on the process says why it ends by a signal or by an exception that nobody takes:
/// memory was lacking, a mapped file was cut short, or this is a bug. It exits with the code for
/// that reason.
void leave_last_words();

}  // namespace accsim::sim
