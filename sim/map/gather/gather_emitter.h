#pragma once
#include "sim/map/gather/gather_problem.h"
#include "sim/map/program_description.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program of picked rows. Some lists, or part of one, go into a parameter slot, which
/// the load queue reads itself. Then each tile of the groups that have one of these lists has a
/// gathered load into an output slot and a store.
template <class Sink>
class GatherEmitter {
 public:
  GatherEmitter(const GatherProblem& p, const GatherTile& t, Sink& sink)
      : p_(p), t_(t), sink_(sink) {}

  void write_program() {
    const PickedRows& r = p_.rows;
    sink_.add_tensor(p_.data, r.groups * group_bytes());
    sink_.add_tensor(p_.indices, r.indices() * p_.index_bytes);
    sink_.add_tensor(p_.out, r.groups * r.count * p_.row_bytes());
    const int64_t lists = std::max<int64_t>(1, t_.list / r.count);
    for_tiles(r.lists, lists, [&](const Segment& some, const Address& from, int) {
      for_tiles(r.count, t_.list, [&](const Segment& list, const Address& first, int) {
        load_indices(some.size * list.size, from * r.count + first);
        for_tiles(some.size, 1, [&](const Segment&, const Address& which, int) {
          write_groups(from + which, list.size, first, which * list.size);
        });
        add_sync(hw::SyncKind::signal_free, hw::Queue::load, hw::Buffer::parameter);
      });
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

  /// The groups that a list has, by `count` of its indices from `first` on. In the slot these begin
  /// at index `in_slot`.
  void write_groups(const Address& list, int64_t count, const Address& first,
                    const Address& in_slot) {
    const PickedRows& r = p_.rows;
    for_tiles(r.groups / r.lists, 1, [&](const Segment&, const Address& turn, int) {
      const Address group = turn * r.lists + list;
      write_tiles(count, in_slot, group * group_bytes(),
                  (group * r.count + first) * p_.row_bytes());
    });
  }

  /// The lower words of so many indices.
  void load_indices(int64_t count, const Address& first) {
    hw::Walk walk{{}, kWord};
    walk.levels.push_back({count, p_.index_bytes});
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    sink_.add_load(hw::Buffer::parameter, 1, walk.merge(),
                   [&](auto& c) { c.source = first * p_.index_bytes; });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
    add_sync(hw::SyncKind::wait_full, hw::Queue::load, hw::Buffer::parameter);
  }

  /// Tiles of so many items by indices of the slot, from a byte of the data to one of the result.
  void write_tiles(int64_t count, const Address& in_slot, const Address& from, const Address& to) {
    for_tiles(p_.row_bytes(), t_.bytes, [&](const Segment& part, const Address& byte, int) {
      for_tiles(count, t_.items, [&](const Segment& items, const Address& item, int) {
        write_tile(items.size, part.size, in_slot + item, from + byte,
                   to + byte + item * p_.row_bytes());
      });
    });
  }

  void write_tile(int64_t items, int64_t bytes, const Address& index, const Address& from,
                  const Address& to) {
    const hw::Buffer slot = hw::Buffer::output;
    hw::Walk read{{}, bytes}, written{{}, bytes};
    read.levels.push_back({items, 0});
    written.levels.push_back({items, p_.row_bytes()});
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, slot);
    sink_.load_gathered(slot, 0, read, [&](auto& c) {
      c.source = from;
      c.gather = {index * kWord, p_.row_bytes(), p_.rows.rows};
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
