#pragma once
#include "sim/map/gather/gather_problem.h"
#include "sim/map/program_sinks.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program of picked rows: a part of the list into a parameter slot, which the load
/// queue reads itself, then tile by tile a gathered load into an output slot and a store.
template <class Sink>
class GatherEmitter {
 public:
  GatherEmitter(const GatherProblem& p, const GatherTile& t, Sink& sink)
      : p_(p), t_(t), sink_(sink) {}

  void run() {
    const PickedRows& r = p_.rows;
    sink_.tensor(p_.data, r.groups * group_bytes());
    sink_.tensor(p_.indices, r.count * p_.index_bytes);
    sink_.tensor(p_.out, r.groups * r.count * p_.row_bytes());
    each(r.count, t_.list, [&](const Segment& list, const Address& first, int) {
      load_list(list.size, first);
      each(r.groups, 1, [&](const Segment&, const Address& group, int) {
        parts(list.size, group * group_bytes(), (group * r.count + first) * p_.row_bytes());
      });
      sync(hw::SyncKind::signal_free, hw::Queue::load, hw::Buffer::parameter);
    });
  }

 private:
  using Address = typename Sink::Address;

  static constexpr int64_t kWord = hw::Gather::kIndexBytes;

  int64_t group_bytes() const { return p_.rows.rows * p_.row_bytes(); }
  void sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) { sink_.sync(kind, queue, b); }

  template <class Inner>
  void each(int64_t length, int64_t tile, Inner inner) {
    const auto segments = split(length, tile);
    for_segments(sink_, "tile", std::span(segments.data(), segments.size()), inner);
  }

  /// The lower words of so many indices.
  void load_list(int64_t count, const Address& first) {
    hw::Walk walk{{}, kWord};
    walk.levels.push_back({count, p_.index_bytes});
    sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    sink_.load(hw::Buffer::parameter, 1, walk.merge(),
               [&](auto& c) { c.source = first * p_.index_bytes; });
    sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
    sync(hw::SyncKind::wait_full, hw::Queue::load, hw::Buffer::parameter);
  }

  /// Tiles of so many items, from a byte of the data to a byte of the result.
  void parts(int64_t count, const Address& from, const Address& to) {
    each(p_.row_bytes(), t_.bytes, [&](const Segment& part, const Address& byte, int) {
      each(count, t_.items, [&](const Segment& items, const Address& item, int) {
        tile(items.size, part.size, item, from + byte, to + byte + item * p_.row_bytes());
      });
    });
  }

  void tile(int64_t items, int64_t bytes, const Address& item, const Address& from,
            const Address& to) {
    const hw::Buffer slot = hw::Buffer::output;
    hw::Walk read{{}, bytes}, written{{}, bytes};
    read.levels.push_back({items, 0});
    written.levels.push_back({items, p_.row_bytes()});
    sync(hw::SyncKind::wait_free, hw::Queue::load, slot);
    sink_.load_gathered(slot, 0, read, [&](auto& c) {
      c.source = from;
      c.gather = {item * kWord, p_.row_bytes(), p_.rows.rows};
    });
    sync(hw::SyncKind::signal_full, hw::Queue::load, slot);
    sync(hw::SyncKind::wait_full, hw::Queue::store, slot);
    sink_.store(2, written.merge(), [&](auto& c) { c.target = to; });
    sync(hw::SyncKind::signal_free, hw::Queue::store, slot);
  }

  const GatherProblem& p_;
  const GatherTile& t_;
  Sink& sink_;
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const GatherProblem& p, const hw::HwConfig&, const GatherTile& t, Sink& to) {
  GatherEmitter(p, t, to).run();
}

}  // namespace accsim::sim
