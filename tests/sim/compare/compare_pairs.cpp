// Random pairs of machines on five networks, by hand: compare_pairs [PAIRS] [SEED] [search|rule].
#include <cstdlib>

#include "tests/sim/compare/random_pairs.h"
#include "tests/support/source.h"

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 200;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  const bool rule = argc > 3 && std::string(argv[3]) == "rule";
  const auto counts = accsim::test::compare_random_pairs(
      pairs, seed, rule ? accsim::sim::MapEffort::rule : accsim::sim::MapEffort::search,
      accsim::kSource);
  fmt::print("{} pairs of machines: {} comparisons of {} layers, {} refused by a machine; {}\n",
             pairs, counts.comparisons, counts.layers, counts.refused,
             counts.wrong.empty() ? "every sum is exact" : "WRONG: " + counts.wrong);
  return counts.wrong.empty() ? 0 : 1;
}
