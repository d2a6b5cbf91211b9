// Random programs on random machines, with the cycle in which each command's result is visible, as
// JSON, one a line: for a simulator that shares no code with this one (timing_oracle_test.py).
//   build/tests/print_timings [COUNT] [SEED] [MOST COMMANDS]
#include <cstdlib>
#include <random>

#include "tests/support/machines.h"
#include "tests/support/program_json.h"
#include "tests/support/programs.h"

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return argc > i ? std::strtoll(argv[i], nullptr, 10) : otherwise;
  };
  const int64_t count = argument(1, 1000), most = argument(3, 2000);
  std::mt19937 random(static_cast<unsigned>(argument(2, 1)));
  for (int64_t i = 0; i < count;) {
    accsim::hw::HwConfig hw = accsim::test::random_machine(random);
    accsim::test::draw_channels(hw, random);
    const accsim::hw::Program p = accsim::test::random_program(random, hw.vector.mac_lanes > 0);
    if (!accsim::hw::verify(p, hw).ok()) continue;
    const auto line = accsim::test::timed_json(p, hw, most);
    if (!line) continue;
    fmt::print("{}\n", line->dump());
    ++i;
  }
}
