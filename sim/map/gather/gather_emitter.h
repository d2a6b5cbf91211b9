#pragma once
#include "sim/map/gather/gather_problem.h"
#include "sim/map/program_description.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program of picked rows. Part of the list goes into a parameter slot, which the load
/// queue reads itself. Then each tile has a gathered load into an output slot and a store.
template <class Sink>
class GatherEmitter {
 public:
  GatherEmitter(const GatherProblem& p, const GatherTile& t, Sink& sink)
      : p_(p), t_(t), sink_(sink) {}

  void write_program() {
    const PickedRows& r = p_.rows;
    sink_.add_tensor(p_.data, r.groups * group_bytes());
    sink_.add_tensor(p_.indices, r.count * p_.index_bytes);
    sink_.add_tensor(p_.out, r.groups * r.count * p_.row_bytes());
    for_tiles(r.count, t_.list, [&](const Segment& list, const Address& first, int) {
      load_list(list.size, first);
      for_tiles(r.groups, 1, [&](const Segment&, const Address& group, int) {
        write_tiles(list.size, group * group_bytes(), (group * r.count + first) * p_.row_bytes());
      });
      add_sync(hw::SyncKind::signal_free, hw::Queue::load, hw::Buffer::parameter);
    });
  }

 private:
  using Address = typename Sink::Address;

  static constexpr int64_t kWord = hw::Gather::kIndexBytes;

  int64_t group_bytes() const { return p_.rows.rows * p_.row_bytes(); }
  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }

  template <class Inner>
  void for_tiles(int64_t length, int64_t tile, Inner inner) {
    const auto segments = split(length, tile);
    for_segments(sink_, "tile", std::span(segments.data(), segments.size()), inner);
  }

  /// The lower words of so many indices.
  void load_list(int64_t count, const Address& first) {
    hw::Walk walk{{}, kWord};
    walk.levels.push_back({count, p_.index_bytes});
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    sink_.add_load(hw::Buffer::parameter, 1, walk.merge(),
                   [&](auto& c) { c.source = first * p_.index_bytes; });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
    add_sync(hw::SyncKind::wait_full, hw::Queue::load, hw::Buffer::parameter);
  }

  /// Tiles of so many items, from a byte of the data to a byte of the result.
  void write_tiles(int64_t count, const Address& from, const Address& to) {
    for_tiles(p_.row_bytes(), t_.bytes, [&](const Segment& part, const Address& byte, int) {
      for_tiles(count, t_.items, [&](const Segment& items, const Address& item, int) {
        write_tile(items.size, part.size, item, from + byte, to + byte + item * p_.row_bytes());
      });
    });
  }

  void write_tile(int64_t items, int64_t bytes, const Address& item, const Address& from,
                  const Address& to) {
    const hw::Buffer slot = hw::Buffer::output;
    hw::Walk read{{}, bytes}, written{{}, bytes};
    read.levels.push_back({items, 0});
    written.levels.push_back({items, p_.row_bytes()});
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, slot);
    sink_.load_gathered(slot, 0, read, [&](auto& c) {
      c.source = from;
      c.gather = {item * kWord, p_.row_bytes(), p_.rows.rows};
    });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, slot);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, slot);
    sink_.add_store(2, written.merge(), [&](auto& c) { c.target = to; });
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, slot);
  }

  const GatherProblem& p_;
  const GatherTile& t_;
  Sink& sink_;
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const GatherProblem& p, const hw::HwConfig&, const GatherTile& t, Sink& to) {
  GatherEmitter(p, t, to).write_program();
}

}  // namespace accsim::sim
