#include "hw/random/store_drawer.h"

#include "hw/program/reach.h"

namespace accsim::hw {

void StoreDrawer::store_bytes(const TileText& to, int64_t bytes) {
  // As many bytes as it may spread over.
  const bool shared = dice_.one_in(3) && (!tensors_.has_shared() ||
                                          tensors_.fits_in_shared((bytes + 5) * to.iterations));
  StoreCommand c;
  c.tensor = shared ? TensorDrawer::kOutShared : TensorDrawer::kOutDram;
  c.walk.run = bytes;
  if (bytes % 2 == 0 && dice_.one_in(3)) {
    c.walk.run = bytes / 2;
    c.walk.levels.push_back({2, bytes / 2 + dice_.pick(0, 5)});
  }
  c.target = tensors_.behind_stored(shared, reach_over(c.walk).high + c.walk.run, to);
  to.add_command(std::move(c));
}

void StoreDrawer::drain_slot(const TileText& to, int64_t bytes) {
  to.add_sync(SyncKind::wait_full, Queue::store, Buffer::output);
  store_bytes(to, bytes);
  to.add_sync(SyncKind::signal_free, Queue::store, Buffer::output);
}

}  // namespace accsim::hw
