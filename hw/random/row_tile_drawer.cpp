#include "hw/random/row_tile_drawer.h"

#include <algorithm>

namespace accsim::hw {

/// The parameters of a row command, to where it has been put.
void RowTileDrawer::load_parameters(const TileText& to, const RandomRows& rows,
                                    const SlotRoom& at) {
  has_rows_ = true;
  const RowParameters from = row_parameters(rows.command);
  LoadCommand c;
  c.buffer = Buffer::parameter;
  c.tensor = TensorDrawer::kRows;
  c.slot_offset = Affine(at.parameters);
  c.walk.run = rows.room.parameters;
  const int64_t step = to.loop < 0 ? 0 : dice_.pick(0, 1);
  const int64_t units = rows.room.parameters / from.unit;
  const int64_t last = from.count - units - step * (TileText::kMostIterations - 1);
  c.source = Affine(from.begin + from.unit * dice_.pick(0, last));
  if (step > 0) c.source.add_term(to.loop, from.unit);
  to.add_command(std::move(c));
}

/// Rows of nearly equal elements, of which a large epsilon makes even smaller ones: the last bits
/// of a normalised element count.
void RowTileDrawer::fill_level(const TileText& to, int64_t bytes) {
  to.add_sync(SyncKind::wait_free, Queue::load, Buffer::activation);
  LoadCommand c;
  c.tensor = TensorDrawer::kLevel;
  c.source = Affine(dice_.pick(0, TensorDrawer::kLevelBytes - bytes));
  c.walk.run = bytes;
  to.add_command(std::move(c));
  to.add_sync(SyncKind::signal_full, Queue::load, Buffer::activation);
}

RowTileDrawer::Tile RowTileDrawer::make_tile(const TileText& to) {
  const auto slot = [&](Buffer b) { return hw_.buffer(b).slot_bytes(); };
  const SlotRoom slots{std::min<int64_t>(slot(Buffer::activation), 4000),
                       std::min<int64_t>(slot(Buffer::output), 1500), slot(Buffer::parameter)};
  Tile out;
  out.is_level = dice_.one_in(3);
  const TileText parameters{out.loads, to.loop, to.iterations};
  const auto put = [&](auto& drawn) {
    drawn.place_behind(out.taken);
    out.taken += drawn.room;
    out.commands.emplace_back(std::move(drawn.command));
  };
  for (int64_t tries = 0, most = dice_.pick(1, 3); tries < 20 && std::ssize(out.commands) < most;
       ++tries) {
    const SlotRoom left = slots - out.taken;
    if (dice_.one_in(4)) {
      if (auto lanes = lanes_.draw_lanes({left.in, left.out, 0})) put(*lanes);
      continue;
    }
    auto rows = random_rows(hw_, left, dice_.generator());
    if (!rows) continue;
    const bool norm = rows->command.op != RowOp::softmax;
    if (out.is_level && norm)
      rows->command.epsilon = dice_.pick(int64_t{1} << 61, int64_t{1} << 62);
    load_parameters(parameters, *rows, out.taken);
    put(*rows);
  }
  return out;
}

void RowTileDrawer::draw_tile(const TileText& to) {
  Tile t = make_tile(to);
  if (t.commands.empty()) return;
  const bool reads = !t.loads.empty();
  if (reads) {
    to.add_sync(SyncKind::wait_free, Queue::load, Buffer::parameter);
    for (Item& i : t.loads) to.items.push_back(std::move(i));
    to.add_sync(SyncKind::signal_full, Queue::load, Buffer::parameter);
    to.add_sync(SyncKind::wait_full, Queue::vector, Buffer::parameter);
  }
  if (t.is_level)
    fill_level(to, t.taken.in);
  else
    loads_.fill_slot(to, Buffer::activation, t.taken.in);
  to.add_sync(SyncKind::wait_full, Queue::vector, Buffer::activation);
  to.add_sync(SyncKind::wait_free, Queue::vector, Buffer::output);
  for (Command& c : t.commands) to.items.push_back({std::move(c)});
  to.add_sync(SyncKind::signal_free, Queue::vector, Buffer::activation);
  to.add_sync(SyncKind::signal_full, Queue::vector, Buffer::output);
  if (reads) to.add_sync(SyncKind::signal_free, Queue::vector, Buffer::parameter);
  stores_.drain_slot(to, t.taken.out);
}

}  // namespace accsim::hw
