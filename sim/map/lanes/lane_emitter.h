#pragma once
#include <algorithm>

#include "sim/map/lanes/lane_commands.h"
#include "sim/map/lanes/lane_problem.h"
#include "sim/map/program_sinks.h"
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

  void run() {
    tensors();
    hold();
    if (p_.unrolled)
      unrolled(axes_[*p_.unrolled]);
    else
      axis(0, {});
    if (holds()) sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

 private:
  using Address = typename Sink::Address;
  struct At {
    Address a, b, out;  ///< in the tensors
    Address b_slot;     ///< of an operand that is held
  };

  bool holds() const { return t_.b_once || p_.work.table; }
  int out_tensor() const { return 1 + int{p_.has_b()} + int{p_.work.table}; }

  void sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) { sink_.sync(kind, queue, b); }

  void tensors() {
    sink_.tensor(p_.a, p_.a_elements());
    if (p_.has_b()) sink_.tensor(p_.b, p_.b_elements());
    if (p_.work.table)
      sink_.tensor({p_.out.name + " (table)", hw::Memory::dram, true}, hw::SetTableCommand::kBytes);
    sink_.tensor(p_.out, p_.out_elements());
  }

  /// Fills the parameter slot that stays.
  void hold() {
    if (!holds()) return;
    const hw::Buffer to = hw::Buffer::parameter;
    sync(hw::SyncKind::wait_free, hw::Queue::load, to);
    if (t_.b_once)
      sink_.load(to, 1, lane_walk(p_, now_, LaneSide::b), [](auto&) {});
    else
      sink_.load(to, out_tensor() - 1, hw::Walk{{}, hw::SetTableCommand::kBytes}, [](auto&) {});
    sync(hw::SyncKind::signal_full, hw::Queue::load, to);
    sync(hw::SyncKind::wait_full, hw::Queue::vector, to);
    if (p_.work.table) sink_.set_table(hw::Queue::vector);
  }

  /// Results with other taps than their neighbours first: their small tiles would take slots in
  /// which the next large one is loaded.
  void unrolled(const LaneAxis& x) {
    std::vector<LaneRun> runs = lane_runs(x, 0, x.count, p_.work.gather == LaneGather::mean);
    std::ranges::stable_sort(runs, {}, &LaneRun::count);
    for (const LaneRun& r : runs) {
      border_ = r;
      axis(0, {});
    }
  }

  /// Both results of a turned axis, or one in a tile: their commands differ.
  static void turned(int64_t tile, Segments& out) {
    if (tile > 1) return out.push_back({.size = 2, .in_size = 2, .origin = 1});
    for (int64_t o = 0; o < 2; ++o)
      out.push_back({.start = o, .size = 1, .in_start = 1 - o, .in_size = 1});
  }

  /// Tiles along an axis; of unrolled windows those that border_ has.
  Segments segments(size_t i) const {
    const LaneAxis& x = axes_[i];
    const LaneSlide& s = x.slide;
    Segments out;
    if (p_.unrolled == i) {
      for (Segment part : split(border_.count, t_.tile[i])) {
        part.start += border_.first;
        part.in_start = s.at(part.start, border_.taps.first);
        part.in_step = part.step * s.stride;
        part.in_size = part.size * border_.taps.count;
        out.push_back(part);
      }
    } else if (x.turned) {
      turned(t_.tile[i], out);
    } else if (s.plain()) {
      for (const Segment& part : split(x.count, t_.tile[i])) out.push_back(part);
    } else {
      split({s.extent, x.count, s.kernel, s.stride, s.dilation, s.pad}, t_.tile[i], out);
    }
    return out;
  }

  void axis(size_t i, const At& at) {
    if (i == axes_.size()) return tile(at);
    const LaneAxis& x = axes_[i];
    const Segments parts = segments(i);
    const int64_t b_slot = slot_stride(p_, whole_, LaneSide::b, i);
    const int64_t out = slot_stride(p_, whole_, LaneSide::out, i);
    for_segments(sink_, "tile", std::span(parts.data(), parts.size()),
                 [&](const Segment& s, const Address& start, int loop) {
                   Address in(s.in_start);
                   if (loop >= 0) in.add_term(loop, s.in_step);
                   now_[i] = s;
                   axis(i + 1, {at.a + in * x.a, at.b + start * x.b, at.out + start * out,
                                at.b_slot + start * b_slot});
                 });
  }

  void tile(const At& at) {
    const hw::Buffer to = hw::Buffer::activation, from = hw::Buffer::output;
    sync(hw::SyncKind::wait_free, hw::Queue::load, to);
    const hw::Walk a = lane_walk(p_, now_, LaneSide::a);
    sink_.load(to, 0, a, [&](auto& c) { c.source = at.a; });
    const int64_t behind = a.bytes();
    if (p_.has_b() && !t_.b_once)
      sink_.load(to, 1, lane_walk(p_, now_, LaneSide::b), [&](auto& c) {
        c.source = at.b;
        c.slot_offset = behind;
      });
    sync(hw::SyncKind::signal_full, hw::Queue::load, to);
    sync(hw::SyncKind::wait_full, hw::Queue::vector, to);
    sync(hw::SyncKind::wait_free, hw::Queue::vector, from);
    const LaneTile all{now_, t_.b_once ? whole_ : now_, t_.b_once};
    for_lane_commands(p_, hw_, all, [&](const LanePart& part) {
      sink_.lane(part.command, [&](auto& c) {
        c.a.offset = part.a;
        if (c.b) c.b->offset = (t_.b_once ? at.b_slot : Address(behind)) + Address(part.b);
        c.slot_offset = part.out;
      });
    });
    sync(hw::SyncKind::signal_free, hw::Queue::vector, to);
    sync(hw::SyncKind::signal_full, hw::Queue::vector, from);
    sync(hw::SyncKind::wait_full, hw::Queue::store, from);
    sink_.store(out_tensor(), lane_walk(p_, now_, LaneSide::out, whole_),
                [&](auto& c) { c.target = at.out; });
    sync(hw::SyncKind::signal_free, hw::Queue::store, from);
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
  LaneEmitter(as_cut(p, t), hw, t, to).run();
}

}  // namespace accsim::sim
