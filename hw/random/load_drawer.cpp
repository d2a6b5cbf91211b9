#include "hw/random/load_drawer.h"

#include <algorithm>

#include "hw/random/random_gather.h"
#include "hw/random/random_regions.h"

namespace accsim::hw {

/// Loads that fill bytes [at, at + bytes) of a slot. The first and the last are from the region
/// whose slot the load queue holds, if it does.
void LoadDrawer::draw_loads(const TileText& to, Buffer b, int64_t at, int64_t bytes) {
  const int64_t pieces = bytes > 2 && dice_.one_in(3) ? dice_.pick(2, 3) : 1;
  for (int64_t i = 0, from = 0; i < pieces; ++i) {
    const int64_t behind = pieces - 1 - i;
    const int64_t size = behind == 0 ? bytes - from : dice_.pick(1, bytes - from - behind);
    const bool held = read_ >= 0 && (i == 0 || behind == 0 || dice_.one_in(2));
    LoadCommand c;
    c.buffer = b;
    c.tensor = held ? read_ : dice_.one_in(3) ? TensorDrawer::kInShared : TensorDrawer::kInDram;
    c.slot_offset = Affine(at + from);
    c.source = draw_source(c, size, to);
    to.add_command(std::move(c));
    from += size;
  }
}

/// The walk of a load of so many bytes, and where its tensor has them.
Affine LoadDrawer::draw_source(LoadCommand& c, int64_t bytes, const TileText& to) {
  const int64_t room = tensors_.walk_room(c.tensor);
  if (indices_ > 0 && !dice_.one_in(4)) {
    const bool held = c.tensor >= TensorDrawer::kTensors;
    return tensors_.draw_source(c.tensor, draw_items(c, bytes, held ? room : room / 2), to);
  }
  draw_walk(c.walk, bytes, dice_);
  const int64_t reach = fit_walk(c.walk, room, false);
  if (c.buffer != Buffer::parameter && !c.walk.levels.empty() && dice_.one_in(2)) c.transposed = 1;
  return tensors_.draw_source(c.tensor, reach, to);
}

/// Items of a gathered load; returns the bytes that it may reach over, at most `room`.
int64_t LoadDrawer::draw_items(LoadCommand& c, int64_t bytes, int64_t room) const {
  int64_t items = dice_.pick(1, std::min(bytes, indices_));
  while (bytes % items != 0) --items;
  Walk item;
  draw_walk(item, bytes / items, dice_);
  fit_walk(item, room, false);
  return draw_gather(c, item, items, indices_, room, dice_.generator());
}

/// Loads in `filling` may be gathered: the load queue holds a slot of indices meanwhile.
template <class Filling>
void LoadDrawer::with_indices(const TileText& to, Filling filling) {
  const int64_t most = hw_.buffer(Buffer::parameter).slot_bytes() / Gather::kIndexBytes;
  const int64_t indices = dice_.pick(1, std::min<int64_t>(most, 24));
  to.add_sync(SyncKind::wait_free, Queue::load, Buffer::parameter);
  LoadCommand c;
  c.buffer = Buffer::parameter;
  c.tensor = TensorDrawer::kIndices;
  c.walk.run = indices * Gather::kIndexBytes;
  c.source = tensors_.aligned_source(c.walk.run, to);
  to.add_command(std::move(c));
  to.add_sync(SyncKind::signal_full, Queue::load, Buffer::parameter);
  to.add_sync(SyncKind::wait_full, Queue::load, Buffer::parameter);
  indices_ = indices;
  filling();
  indices_ = 0;
  to.add_sync(SyncKind::signal_free, Queue::load, Buffer::parameter);
}

void LoadDrawer::fill_anyhow(const TileText& to, Buffer b, int64_t bytes) {
  const bool room = b != Buffer::parameter || hw_.buffer(b).slots > 1;
  if (room && dice_.one_in(3))
    with_indices(to, [&] { fill_slot(to, b, bytes); });
  else
    fill_slot(to, b, bytes);
}

void LoadDrawer::fill_scales(const TileText& to, int64_t table, int64_t channels, int64_t groups) {
  const int64_t scales = channels * TensorDrawer::kParameterBytes;
  to.add_sync(SyncKind::wait_free, Queue::load, Buffer::parameter);
  if (table > 0) draw_loads(to, Buffer::parameter, 0, table);
  LoadCommand c;
  c.buffer = Buffer::parameter;
  c.tensor = TensorDrawer::kParameters;
  c.slot_offset = Affine(table);
  c.walk.run = scales;
  c.source = tensors_.aligned_source(scales, to);
  to.add_command(std::move(c));
  if (groups > 0) draw_loads(to, Buffer::parameter, table + scales, groups);
  to.add_sync(SyncKind::signal_full, Queue::load, Buffer::parameter);
}

int64_t LoadDrawer::table_bytes(int64_t others) const {
  const int64_t slot = hw_.buffer(Buffer::parameter).slot_bytes();
  const bool fits = SetTableCommand::kBytes + others <= slot;
  return fits && dice_.one_in(2) ? SetTableCommand::kBytes : 0;
}

void LoadDrawer::fill_slot(const TileText& to, Buffer b, int64_t bytes, SyncKind signal) {
  const bool fits = is_to_read() && bytes <= tensors_.region_tensor(next_read_).slot_bytes();
  const int from = fits ? next_read_ : -1;
  const bool early = dice_.one_in(2);
  if (fits && early) to.region_sync(SyncKind::wait_full, Queue::load, from);
  to.add_sync(SyncKind::wait_free, Queue::load, b);
  if (fits && !early) to.region_sync(SyncKind::wait_full, Queue::load, from);
  if (fits) next_read_ = -1;
  read_ = from;
  draw_loads(to, b, 0, bytes);
  read_ = -1;
  const bool given = dice_.one_in(2);
  if (fits && given) to.region_sync(SyncKind::signal_free, Queue::load, from);
  to.add_sync(signal, Queue::load, b);
  if (fits && !given) to.region_sync(SyncKind::signal_free, Queue::load, from);
}

void LoadDrawer::fill_from(const TileText& to, Buffer b, int64_t bytes, int region) {
  read_ = region;
  draw_loads(to, b, 0, bytes);
  read_ = -1;
}

}  // namespace accsim::hw
