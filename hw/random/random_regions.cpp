#include "hw/random/random_regions.h"

#include <algorithm>

namespace accsim::hw {

std::vector<size_t> draw_hops(const std::vector<int64_t>& slots, int64_t parts,
                              std::mt19937& random) {
  std::vector<size_t> out;
  std::vector<int64_t> there(slots.size() + 2, 0);  // before the first ring, in each, behind all
  there.front() = parts;
  while (there.back() < parts) {
    std::vector<size_t> hops;
    for (size_t h = 0; h <= slots.size(); ++h)
      if (there[h] > 0 && (h == slots.size() || there[h + 1] < slots[h])) hops.push_back(h);
    const auto last = static_cast<int64_t>(hops.size()) - 1;
    const size_t hop =
        hops[static_cast<size_t>(std::uniform_int_distribution<int64_t>(0, last)(random))];
    --there[hop];
    ++there[hop + 1];
    out.push_back(hop);
  }
  return out;
}

void draw_walk(Walk& walk, int64_t bytes, Dice dice) {
  int64_t runs = dice.one_in(2) ? 1 : dice.pick(1, std::min<int64_t>(bytes, 6));
  while (bytes % runs != 0) --runs;
  walk.run = bytes / runs;
  if (runs > 1) walk.levels.push_back({runs, dice.one_in(4) ? 0 : walk.run + dice.pick(0, 9)});
}

int64_t fit_walk(Walk& walk, int64_t room, bool apart) {
  if (walk.levels.empty()) return walk.run;
  Walk::Level& level = walk.levels[0];
  if (apart) level.stride = std::max(level.stride, walk.run);
  if (level.count > 1) level.stride = std::min(level.stride, (room - walk.run) / (level.count - 1));
  return (level.count - 1) * level.stride + walk.run;
}

}  // namespace accsim::hw
