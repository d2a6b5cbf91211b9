#pragma once

namespace accsim::sim {

inline constexpr int kExitBug = 70;  ///< the program contradicts itself

inline constexpr const char* kNoMemory =
    "accsim: error: not enough memory; use smaller inputs or fewer threads\n";

/// From now on the process doesn't end without a word, by a signal or an exception that nobody
/// takes: it says whether memory was lacking, a file that is mapped was cut short, or that this is
/// a bug, and exits with the code of that.
void leave_last_words();

}  // namespace accsim::sim
