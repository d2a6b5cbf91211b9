#pragma once
#include <algorithm>

#include "sim/map/lanes/lane_commands.h"
#include "sim/map/lanes/lane_problem.h"
#include "sim/map/program_description.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program of a lane op, tile by tile: operands into an activation slot (the second one
/// once, into a parameter slot, where the tiling says so), lane commands, a store.
template <class Sink>
class LaneEmitter {
 public:
  /// `p` as as_cut() has it.
  LaneEmitter(LaneProblem p, const hw::HwConfig& hw, const LaneTiling& t, Sink& sink)
      : p_(std::move(p)), hw_(hw), axes_(p_.work.axes), t_(t), sink_(sink) {
    for (const LaneAxis& x : axes_) now_.push_back({.size = x.count, .in_size = x.slide.extent});
    whole_ = now_;
  }

  void write_program() {
    add_tensors();
    fill_held_slot();
    if (p_.unrolled)
      write_unrolled(axes_[*p_.unrolled]);
    else
      write_axis(0, {});
    if (has_held_slot())
      add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

 private:
  using Address = typename Sink::Address;
  struct At {
    Address a, b, out;  ///< in the tensors
    Address b_slot;     ///< of an operand that is held
  };

  bool has_held_slot() const { return t_.b_once || p_.work.table; }
  int out_tensor() const { return 1 + int{p_.has_b()} + int{p_.work.table}; }

  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }

  void add_tensors() {
    sink_.add_tensor(p_.a, p_.a_elements());
    if (p_.has_b()) sink_.add_tensor(p_.b, p_.b_elements());
    if (p_.work.table)
      sink_.add_tensor({p_.out.name + " (table)", hw::MemoryId::dram, true},
                       hw::SetTableCommand::kBytes);
    sink_.add_tensor(p_.out, p_.out_elements());
  }

  /// Fills the parameter slot that stays.
  void fill_held_slot() {
    if (!has_held_slot()) return;
    const hw::Buffer to = hw::Buffer::parameter;
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, to);
    if (t_.b_once)
      sink_.add_load(to, 1, lane_walk(p_, now_, LaneSide::b), [](auto&) {});
    else
      sink_.add_load(to, out_tensor() - 1, hw::Walk{{}, hw::SetTableCommand::kBytes}, [](auto&) {});
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, to);
    add_sync(hw::SyncKind::wait_full, hw::Queue::vector, to);
    if (p_.work.table) sink_.set_table(hw::Queue::vector);
  }

  /// Results with other taps than their neighbours first: their small tiles would take slots in
  /// which the next large one is loaded.
  void write_unrolled(const LaneAxis& x) {
    std::vector<LaneRun> runs = lane_runs(x, 0, x.count, p_.work.gather == LaneGather::mean);
    std::ranges::stable_sort(runs, {}, &LaneRun::count);
    for (const LaneRun& r : runs) {
      border_ = r;
      write_axis(0, {});
    }
  }

  /// Both results of a turned axis, or one in a tile: their commands differ.
  static void add_turned_segments(int64_t tile, Segments& out) {
    if (tile > 1) return out.push_back({.size = 2, .in_size = 2, .origin = 1});
    for (int64_t o = 0; o < 2; ++o)
      out.push_back({.start = o, .size = 1, .in_start = 1 - o, .in_size = 1});
  }

  /// Tiles along an axis; of unrolled windows those that border_ has.
  Segments segments_of_axis(size_t i) const {
    const LaneAxis& x = axes_[i];
    const LaneSlide& s = x.slide;
    Segments out;
    if (p_.unrolled == i) {
      for (Segment part : split(border_.count, t_.tile[i])) {
        part.start += border_.first;
        part.in_start = s.input_coordinate(part.start, border_.taps.first);
        part.in_step = part.step * s.stride;
        part.in_size = part.size * border_.taps.count;
        out.push_back(part);
      }
    } else if (x.turned) {
      add_turned_segments(t_.tile[i], out);
    } else if (s.is_plain()) {
      for (const Segment& part : split(x.count, t_.tile[i])) out.push_back(part);
    } else {
      split({s.extent, x.count, s.kernel, s.stride, s.dilation, s.pad}, t_.tile[i], out);
    }
    return out;
  }

  void write_axis(size_t i, const At& at) {
    if (i == axes_.size()) return write_tile(at);
    const LaneAxis& x = axes_[i];
    const Segments parts = segments_of_axis(i);
    const int64_t b_slot = slot_stride(p_, whole_, LaneSide::b, i);
    const int64_t out = slot_stride(p_, whole_, LaneSide::out, i);
    for_segments(sink_, "tile", std::span(parts.data(), parts.size()),
                 [&](const Segment& s, const Address& start, int loop) {
                   Address in(s.in_start);
                   if (loop >= 0) in.add_term(loop, s.in_step);
                   now_[i] = s;
                   write_axis(i + 1, {at.a + in * x.a, at.b + start * x.b, at.out + start * out,
                                      at.b_slot + start * b_slot});
                 });
  }

  void write_tile(const At& at) {
    const hw::Buffer to = hw::Buffer::activation, from = hw::Buffer::output;
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, to);
    const hw::Walk a = lane_walk(p_, now_, LaneSide::a);
    sink_.add_load(to, 0, a, [&](auto& c) { c.source = at.a; });
    const int64_t behind = a.bytes();
    if (p_.has_b() && !t_.b_once)
      sink_.add_load(to, 1, lane_walk(p_, now_, LaneSide::b), [&](auto& c) {
        c.source = at.b;
        c.slot_offset = behind;
      });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, to);
    add_sync(hw::SyncKind::wait_full, hw::Queue::vector, to);
    add_sync(hw::SyncKind::wait_free, hw::Queue::vector, from);
    const LaneTile all{now_, t_.b_once ? whole_ : now_, t_.b_once};
    for_lane_commands(p_, hw_, all, [&](const LanePart& part) {
      sink_.add_lane(part.command, [&](auto& c) {
        c.a.offset = part.a;
        if (c.b) c.b->offset = (t_.b_once ? at.b_slot : Address(behind)) + Address(part.b);
        c.slot_offset = part.out;
      });
    });
    add_sync(hw::SyncKind::signal_free, hw::Queue::vector, to);
    add_sync(hw::SyncKind::signal_full, hw::Queue::vector, from);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, from);
    sink_.add_store(out_tensor(), lane_walk(p_, now_, LaneSide::out, whole_),
                    [&](auto& c) { c.target = at.out; });
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, from);
  }

  const LaneProblem p_;
  const hw::HwConfig& hw_;
  const std::vector<LaneAxis>& axes_;
  const LaneTiling& t_;
  Sink& sink_;
  std::vector<Segment> now_, whole_;  ///< by axis: the tile, and all
  LaneRun border_;                    ///< of unrolled windows: results of the same taps
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const LaneProblem& p, const hw::HwConfig& hw, const LaneTiling& t, Sink& to) {
  LaneEmitter(as_cut(p, t), hw, t, to).write_program();
}

}  // namespace accsim::sim
