#pragma once
// In front of every file of a mutated tree (cpp_run.py, -include). All mutants are in one build;
// the variable ACCSIM_MUTANT says which one is on.
#include <cstdlib>

namespace accsim_mutant {

inline constexpr int kMost = 4096;
inline const int active =
    std::getenv("ACCSIM_MUTANT") != nullptr ? std::atoi(std::getenv("ACCSIM_MUTANT")) : -1;
inline unsigned char reached[kMost];

/// Is mutant `id` on? Notes that its place was reached.
inline bool on(int id) {
  reached[id] = 1;
  return id == active;
}

}  // namespace accsim_mutant
