#pragma once
#include <string>

#include "hw/timing/timing.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::test {

/// What comparing the two ways of timing on random programs and machines has found.
struct TimingComparison {
  int64_t compared = 0, different = 0;
  int64_t commands = 0;          ///< that the programs execute
  int64_t skipped_commands = 0;  ///< of them, skipped ahead by periodic timing
  std::string first_difference;  ///< the program
};

inline bool equal(const hw::Timing& a, const hw::Timing& b) {
  for (const hw::Queue q : hw::Queue::all())
    if (a.queues[q].busy != b.queues[q].busy || a.queues[q].waits != b.queues[q].waits ||
        a.queues[q].free_at != b.queues[q].free_at)
      return false;
  return a.total == b.total;
}

/// Times random programs both ways: `count` of those that the verifier accepts.
inline TimingComparison compare_timings(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  TimingComparison out;
  while (out.compared < count) {
    hw::HwConfig hw = random_machine(random);
    draw_channels(hw, random);
    const hw::Program p = random_program(random);
    if (!verify(p, hw).ok()) continue;
    int64_t stepped = 0, seen = 0;
    const hw::Timing step =
        hw::simulate(p, hw, hw::TimingMode::step, [&](const hw::CommandTime&) { ++stepped; });
    const hw::Timing fast =
        hw::simulate(p, hw, hw::TimingMode::periodic, [&](const hw::CommandTime&) { ++seen; });
    ++out.compared;
    out.commands += stepped;
    out.skipped_commands += stepped - seen;
    if (equal(step, fast)) continue;
    if (++out.different == 1) out.first_difference = program_text(p);
  }
  return out;
}

}  // namespace accsim::test
