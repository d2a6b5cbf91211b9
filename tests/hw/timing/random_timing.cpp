// Times random programs step by step and with periodic loops skipped, and compares everything:
//   build/tests/random_timing [COUNT] [SEED]
#include <fmt/format.h>

#include <cstdlib>

#include "tests/support/timings.h"

int main(int argc, char** argv) {
  const int64_t count = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 100'000;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  const auto found = accsim::test::compare_timings(count, seed);
  fmt::print("{} programs, {} different; {} commands, {} of them skipped ahead\n", found.compared,
             found.different, found.commands, found.skipped_commands);
  if (found.different > 0) fmt::print("{}\n", found.first_difference);
  return found.different == 0 ? 0 : 1;
}
