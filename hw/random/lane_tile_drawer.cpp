#include "hw/random/lane_tile_drawer.h"

#include <algorithm>

namespace accsim::hw {

/// One or two behind one another in their slots, of which they take so much. In the parameter slot
/// channels lie behind the table, and what else commands have there behind these.
std::vector<LaneCommand> LaneTileDrawer::draw_commands(int64_t table, SlotRoom& taken,
                                                       int64_t& channels) const {
  const auto slot = [&](Buffer b) { return hw_.buffer(b).slot_bytes(); };
  const SlotRoom room{std::min<int64_t>(slot(Buffer::activation), 2500),
                      std::min<int64_t>(slot(Buffer::output), 900),
                      slot(Buffer::parameter) - table};
  constexpr int64_t kBytes = LaneCommand::kChannelBytes;
  std::vector<RandomLanes> drawn;
  for (int64_t tries = 0, most = dice_.pick(1, 2); tries < 20 && std::ssize(drawn) < most;
       ++tries) {
    SlotRoom left = room - taken;
    left.parameters -= channels * kBytes;
    auto lanes = lanes_.draw_lanes(left);
    if (!lanes || lanes->room.parameters + lanes->channels * kBytes > left.parameters) continue;
    lanes->place_behind({taken.in, taken.out, taken.parameters}, table + channels * kBytes);
    lanes->command.epilogue.table = table > 0 && dice_.one_in(2);
    taken += lanes->room;
    channels += lanes->channels;
    drawn.push_back(std::move(*lanes));
  }
  std::vector<LaneCommand> out;
  for (RandomLanes& lanes : drawn) {
    lanes.place_behind({0, 0, table + channels * kBytes});
    out.push_back(std::move(lanes.command));
  }
  return out;
}

void LaneTileDrawer::draw_tile(const TileText& to) {
  const int64_t table = loads_.table_bytes(0);
  SlotRoom taken;
  int64_t channels = 0;
  std::vector<LaneCommand> drawn = draw_commands(table, taken, channels);
  if (drawn.empty()) return;
  const bool reads = table + taken.parameters > 0;
  loads_.fill_anyhow(to, Buffer::activation, taken.in);
  if (reads) {
    if (channels > 0)
      loads_.fill_scales(to, table, channels, taken.parameters);
    else
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
