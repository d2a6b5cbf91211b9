#include "hw/random/random_gather.h"

#include <algorithm>

#include "hw/random/draw.h"

namespace accsim::hw {
namespace {

constexpr int64_t kMostRows = 40;

}  // namespace

std::vector<uint8_t> random_indices(int64_t bytes, std::mt19937& random) {
  std::vector<uint8_t> out(static_cast<size_t>(bytes));
  for (size_t at = 0; at + Gather::kIndexBytes <= out.size(); at += Gather::kIndexBytes) {
    const bool beyond = draw_number(random, 1, 8) == 1;
    const uint32_t index = beyond ? static_cast<uint32_t>(random())
                                  : static_cast<uint32_t>(draw_number(random, 0, kMostRows));
    for (size_t i = 0; i < Gather::kIndexBytes; ++i)
      out[at + i] = static_cast<uint8_t>(index >> (8 * i));
  }
  return out;
}

int64_t draw_gather(LoadCommand& c, const Walk& walk, int64_t items, int64_t indices, int64_t room,
                    std::mt19937& random) {
  int64_t reach = walk.run;
  for (const Walk::Level& l : walk.levels) reach += (l.count - 1) * l.stride;
  Gather g;
  g.pitch = draw_number(random, 0, 2 * reach);
  const int64_t rows = g.pitch == 0 ? kMostRows : std::max<int64_t>(0, room - reach) / g.pitch + 1;
  g.limit = draw_number(random, 1, std::min(rows, kMostRows));
  const int64_t spare = (indices - items) * Gather::kIndexBytes;
  const int64_t step =
      draw_number(random, 0, 4) == 0 ? 1 : Gather::kIndexBytes;  // lists need no alignment
  g.index_offset = Affine(draw_number(random, 0, spare / step) * step);
  c.walk.levels.clear();
  c.walk.levels.push_back({items, 0});
  for (const Walk::Level& l : walk.levels) c.walk.levels.push_back(l);
  c.walk.run = walk.run;
  reach += (g.limit - 1) * g.pitch;
  c.gather = std::move(g);
  return reach;
}

}  // namespace accsim::hw
