#pragma once
#include <algorithm>

#include "sim/map/moves/move_problem.h"
#include "sim/map/program_description.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// A tile of a move: elements of each axis.
using MoveTile = std::vector<int64_t>;

/// The axis of a move along which its input is contiguous; the last one: whole runs move.
size_t contiguous_axis(const MoveProblem& p);

/// The tile of which there are at least `chunks`, as long as it can be along the axes that are
/// contiguous in the input and in the output.
MoveTile move_tile(const MoveProblem& p, int64_t chunks);

/// Writes the program of a move whose layout is known, tile by tile, each byte from where it lies
/// to where it belongs. A tile has a load into an output slot and a store. The load transposes if
/// the output's innermost axis isn't the input's.
template <class Sink>
class MoveEmitter {
 public:
  MoveEmitter(const MoveProblem& p, int64_t chunks, Sink& sink)
      : p_(p),
        sink_(sink),
        bytes_(p.in.element_bytes),
        column_(contiguous_axis(p)),
        tile_(move_tile(p, chunks)) {}

  void write_program() {
    sink_.add_tensor(p_.in.place, bytes_read(p_));
    sink_.add_tensor(p_.out.place, bytes_written(p_));
    write_axis(0, Address(p_.from * bytes_), Address(p_.to * bytes_));
  }

 private:
  using Address = typename Sink::Address;

  size_t last_axis() const { return p_.axes.size() - 1; }
  bool is_transposed() const { return column_ != last_axis(); }

  void write_axis(size_t i, const Address& in, const Address& out) {
    if (i == p_.axes.size()) return write_tile(in, out);
    const auto segments = split(p_.axes[i].count, tile_[i]);
    for_segments(sink_, "tile", std::span(segments.data(), segments.size()),
                 [&](const Segment& s, const Address& start, int) {
                   const int64_t whole = tile_[i];
                   tile_[i] = s.size;
                   write_axis(i + 1, in + start * (p_.axes[i].stride * bytes_),
                              out + start * (p_.spacing[i] * bytes_));
                   tile_[i] = whole;
                 });
  }

  /// The axes around what moves at once, in the output's order.
  hw::Walk outer_walk(bool input) const {
    hw::Walk w;
    for (size_t i = 0; i < last_axis(); ++i)
      if (i != column_ && tile_[i] > 1)
        w.levels.push_back({tile_[i], (input ? p_.axes[i].stride : p_.spacing[i]) * bytes_});
    return w;
  }

  hw::Walk load_walk() const {
    hw::Walk w = outer_walk(true);
    w.run = tile_[column_] * bytes_;
    if (is_transposed())
      w.levels.push_back({tile_[last_axis()], p_.axes[last_axis()].stride * bytes_});
    return is_transposed() ? w : w.merge();
  }
  hw::Walk store_walk() const {
    hw::Walk w = outer_walk(false);
    w.run = tile_[last_axis()] * bytes_;
    if (is_transposed()) w.levels.push_back({tile_[column_], p_.spacing[column_] * bytes_});
    return w.merge();
  }

  void add_sync(hw::SyncKind kind, hw::Queue queue) {
    sink_.add_sync(kind, queue, hw::Buffer::output);
  }

  void write_tile(const Address& in, const Address& out) {
    add_sync(hw::SyncKind::wait_free, hw::Queue::load);
    sink_.add_load(
        hw::Buffer::output, 0, load_walk(), [&](auto& c) { c.source = in; },
        is_transposed() ? bytes_ : 0);
    add_sync(hw::SyncKind::signal_full, hw::Queue::load);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store);
    sink_.add_store(1, store_walk(), [&](auto& c) { c.target = out; });
    add_sync(hw::SyncKind::signal_free, hw::Queue::store);
  }

  const MoveProblem& p_;
  Sink& sink_;
  const int64_t bytes_;  ///< of an element
  const size_t column_;
  MoveTile tile_;
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const MoveProblem& p, const hw::HwConfig&, const MoveCut& t, Sink& to) {
  MoveEmitter(p, t.chunks, to).write_program();
}

}  // namespace accsim::sim
