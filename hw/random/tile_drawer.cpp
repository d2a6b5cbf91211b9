#include "hw/random/tile_drawer.h"

#include <algorithm>

namespace accsim::hw {

void TileDrawer::compute_tile(const TileText& to, int64_t kind) {
  if (kind < 4)
    products_.draw_tile(to, 2);
  else if (kind < 8)
    lanes_.draw_tile(to);
  else
    rows_.draw_tile(to);
}

void TileDrawer::copy_tile(const TileText& to, int64_t bytes) {
  loads_.fill_anyhow(to, Buffer::output, bytes);
  stores_.drain_slot(to, bytes);
}

void TileDrawer::copy_tile(const TileText& to) {
  copy_tile(to, dice_.pick(1, std::min<int64_t>(hw_.buffer(Buffer::output).slot_bytes(), 300)));
}

}  // namespace accsim::hw
