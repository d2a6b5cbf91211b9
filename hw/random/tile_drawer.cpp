#include "hw/random/tile_drawer.h"

#include <algorithm>

namespace accsim::hw {

void TileDrawer::compute(const TileText& to, int64_t kind) {
  if (kind < 4)
    products_.draw(to, 2);
  else if (kind < 8)
    lanes_.draw(to);
  else
    rows_.draw(to);
}

void TileDrawer::copy(const TileText& to, int64_t bytes) {
  loads_.fill_anyhow(to, Buffer::output, bytes);
  stores_.drain(to, bytes);
}

void TileDrawer::copy(const TileText& to) {
  copy(to, dice_.pick(1, std::min<int64_t>(hw_.buffer(Buffer::output).slot_bytes(), 300)));
}

}  // namespace accsim::hw
