#include "hw/random/lane_tile_drawer.h"

#include <algorithm>

namespace accsim::hw {

/// One or two behind one another in their slots, of which they take so much.
std::vector<LaneCommand> LaneTileDrawer::draw_commands(int64_t table, SlotRoom& taken) const {
  const auto slot = [&](Buffer b) { return hw_.buffer(b).slot_bytes(); };
  const SlotRoom room{std::min<int64_t>(slot(Buffer::activation), 2500),
                      std::min<int64_t>(slot(Buffer::output), 900),
                      slot(Buffer::parameter) - table};
  std::vector<LaneCommand> out;
  for (int64_t tries = 0, most = dice_.pick(1, 2); tries < 20 && std::ssize(out) < most; ++tries) {
    auto lanes = lanes_.draw_lanes(room - taken);
    if (!lanes) continue;
    lanes->place_behind({taken.in, taken.out, table + taken.parameters});
    lanes->command.table = table > 0 && dice_.one_in(2);
    taken += lanes->room;
    out.push_back(std::move(lanes->command));
  }
  return out;
}

void LaneTileDrawer::draw_tile(const TileText& to) {
  const int64_t table = loads_.table_bytes(0);
  SlotRoom taken;
  std::vector<LaneCommand> drawn = draw_commands(table, taken);
  if (drawn.empty()) return;
  const bool reads = table + taken.parameters > 0;
  loads_.fill_anyhow(to, Buffer::activation, taken.in);
  if (reads) {
    loads_.fill_anyhow(to, Buffer::parameter, table + taken.parameters);
    to.add_sync(SyncKind::wait_full, Queue::vector, Buffer::parameter);
    if (table > 0) to.add_command(SetTableCommand{Queue::vector, Affine(0)});
  }
  to.add_sync(SyncKind::wait_full, Queue::vector, Buffer::activation);
  to.add_sync(SyncKind::wait_free, Queue::vector, Buffer::output);
  for (LaneCommand& c : drawn) to.add_command(std::move(c));
  to.add_sync(SyncKind::signal_free, Queue::vector, Buffer::activation);
  to.add_sync(SyncKind::signal_full, Queue::vector, Buffer::output);
  if (reads) to.add_sync(SyncKind::signal_free, Queue::vector, Buffer::parameter);
  stores_.drain_slot(to, taken.out);
}

}  // namespace accsim::hw
