#include "hw/random/region_drawer.h"

#include <algorithm>

#include "hw/random/random_regions.h"

namespace accsim::hw {

/// The stages, or stores of bytes [from, ..) of an output slot, that fill a region's slot: one or
/// several, one behind the other.
template <class Piece>
void RegionDrawer::draw_pieces(int ring, int64_t bytes, Piece piece) const {
  const int64_t most =
      bytes > 1 && dice_.one_in(3) ? dice_.pick(2, std::min<int64_t>(bytes, 3)) : 1;
  int64_t at = 0, from = 0;
  for (int64_t behind = most - 1; behind >= 0; --behind) {
    const int64_t size = behind == 0 ? bytes - from : dice_.pick(1, bytes - from - behind);
    const int64_t room = tensors_.region_tensor(ring).slot_bytes() - at - (bytes - from - size);
    at += piece(from, size, Room{at, room});
    from += size;
  }
}

/// A stage of so many bytes: into a region, `room` at most; or behind what was staged before.
/// Returns how many bytes it reaches over there.
int64_t RegionDrawer::stage_bytes(const TileText& to, int from, int target, int64_t bytes,
                                  Room room) {
  const bool in = tensors_.memory_of(from) == MemoryId::dram;
  StageCommand c;
  c.from = from;
  c.to = target;
  draw_walk(c.walk, bytes, dice_);
  const int64_t reach = fit_walk(c.walk, in ? tensors_.walk_room(from) : room.bytes, !in);
  c.source = tensors_.draw_source(from, in ? reach : bytes, to);
  const int64_t written = in ? bytes : reach;
  c.target =
      target < TensorDrawer::kTensors ? tensors_.behind_staged(in, written, to) : Affine(room.at);
  to.add_command(std::move(c));
  return written;
}

/// The same by a store of the output slot's bytes from `from` on.
int64_t RegionDrawer::store_bytes(const TileText& to, int ring, int64_t from, int64_t bytes,
                                  Room room) {
  StoreCommand c;
  c.tensor = ring;
  c.slot_offset = Affine(from);
  c.target = Affine(room.at);
  draw_walk(c.walk, bytes, dice_);
  const int64_t reach = fit_walk(c.walk, room.bytes, true);
  to.add_command(std::move(c));
  return reach;
}

/// From the other memory into a region by a stage command, or through an output slot by a store.
void RegionDrawer::fill_region(const TileText& to, int ring, int64_t bytes, bool staged) {
  if (!staged) {
    tiles_.loads().fill_slot(to, Buffer::output, bytes);
    to.add_sync(SyncKind::wait_full, Queue::store, Buffer::output);
  }
  const Queue queue = staged ? Queue::stage : Queue::store;
  const bool is_shared = tensors_.memory_of(ring) == MemoryId::shared;
  const int source = is_shared ? TensorDrawer::kInDram : TensorDrawer::kInShared;
  to.region_sync(SyncKind::wait_free, queue, ring);
  draw_pieces(ring, bytes, [&](int64_t from, int64_t size, Room room) {
    return staged ? stage_bytes(to, source, ring, size, room)
                  : store_bytes(to, ring, from, size, room);
  });
  to.region_sync(SyncKind::signal_full, queue, ring);
  if (!staged) to.add_sync(SyncKind::signal_free, Queue::store, Buffer::output);
}

/// From one region into another one; perhaps from the first one elsewhere besides.
void RegionDrawer::pass_on(const TileText& to, int from, int ring, int64_t bytes) {
  const bool ahead = dice_.one_in(2);
  if (ahead) to.region_sync(SyncKind::wait_free, Queue::stage, ring);
  to.region_sync(SyncKind::wait_full, Queue::stage, from);
  const bool fits = tensors_.memory_of(from) == MemoryId::shared ||
                    tensors_.fits_in_shared(bytes * to.iterations);
  if (!ahead && fits && dice_.one_in(4)) stage_out(to, from, bytes);
  if (!ahead) to.region_sync(SyncKind::wait_free, Queue::stage, ring);
  draw_pieces(ring, bytes, [&](int64_t, int64_t size, Room room) {
    return stage_bytes(to, from, ring, size, room);
  });
  to.region_sync(SyncKind::signal_full, Queue::stage, ring);
  to.region_sync(SyncKind::signal_free, Queue::stage, from);
}

/// Out of a region's slot to the other memory.
void RegionDrawer::stage_out(const TileText& to, int ring, int64_t bytes) {
  const bool is_shared = tensors_.memory_of(ring) == MemoryId::shared;
  const int target = is_shared ? TensorDrawer::kStagedDram : TensorDrawer::kStagedShared;
  stage_bytes(to, ring, target, bytes, {0, bytes + dice_.pick(0, 60)});
}

/// Out of a region to the other memory by a stage command, or into slots by loads.
void RegionDrawer::empty_region(const TileText& to, int ring, int64_t bytes, bool staged) {
  if (!staged) return read_region(to, ring, bytes);
  to.region_sync(SyncKind::wait_full, Queue::stage, ring);
  stage_out(to, ring, bytes);
  to.region_sync(SyncKind::signal_free, Queue::stage, ring);
}

/// Into slots of a tile that computes, or of copies, one or two for the region's slot.
void RegionDrawer::read_region(const TileText& to, int ring, int64_t bytes) {
  LoadDrawer& loads = tiles_.loads();
  loads.read_next(ring);
  if (dice_.one_in(2)) tiles_.compute_tile(to, dice_.pick(0, TileDrawer::kKinds - 1));
  if (!loads.is_to_read()) return;
  if (dice_.one_in(2)) return tiles_.copy_tile(to, bytes);
  loads.read_next(-1);
  copy_twice(to, ring, bytes);
}

void RegionDrawer::copy_twice(const TileText& to, int ring, int64_t bytes) {
  to.region_sync(SyncKind::wait_full, Queue::load, ring);
  for (int64_t slots = 2; slots > 0; --slots) {
    to.add_sync(SyncKind::wait_free, Queue::load, Buffer::output);
    tiles_.loads().fill_from(to, Buffer::output, bytes, ring);
    if (slots == 1) to.region_sync(SyncKind::signal_free, Queue::load, ring);
    to.add_sync(SyncKind::signal_full, Queue::load, Buffer::output);
    tiles_.stores().drain_slot(to, bytes);
  }
}

void RegionDrawer::draw_parts(const TileText& to) {
  const int64_t slot = hw_.buffer(Buffer::output).slot_bytes();
  const int64_t bytes = dice_.pick(1, std::min<int64_t>(slot, dice_.one_in(4) ? 900 : 300));
  const std::vector<int> chain = tensors_.draw_chain(bytes);
  if (chain.empty()) return tiles_.copy_tile(to);
  const int64_t parts = dice_.pick(1, 4);
  const bool is_dram = tensors_.memory_of(chain.back()) == MemoryId::dram;
  const int64_t out = is_dram ? parts * bytes * to.iterations : 0;
  const bool staged_in = tensors_.has_shared() && dice_.one_in(2);
  const bool staged_out = tensors_.has_shared() && dice_.one_in(2) && tensors_.fits_in_shared(out);
  if (staged_out) tensors_.reserve_shared(out);
  std::vector<int64_t> slots;
  for (const int ring : chain) slots.push_back(tensors_.region_tensor(ring).slots);
  for (const size_t hop : draw_hops(slots, parts, dice_.generator())) {
    if (hop == 0)
      fill_region(to, chain[0], bytes, staged_in);
    else if (hop < chain.size())
      pass_on(to, chain[hop - 1], chain[hop], bytes);
    else
      empty_region(to, chain.back(), bytes, staged_out);
  }
  if (staged_out) tensors_.reserve_shared(-out);
}

}  // namespace accsim::hw
