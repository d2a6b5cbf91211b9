#include "sim/map/lanes/lane_commands.h"

#include <utility>

#include "hw/program/contract.h"

namespace accsim::sim {
namespace {

int64_t memory_stride(const LaneAxis& x, LaneSide side) {
  return side == LaneSide::a ? x.a : side == LaneSide::b ? x.b : 1;
}

/// Does the slot have the tensor's elements for each index of the axis?
bool spans_axis(const LaneProblem& p, LaneSide side, size_t axis) {
  return memory_stride(p.work.axes[axis], side) != 0 || (side == LaneSide::b && p.repeated == axis);
}

int64_t size_of(const Segment& s, LaneSide side) {
  return side == LaneSide::a ? s.in_size : s.size;
}

/// A level of a command's rows: strides in the slots.
struct RowLevel {
  int64_t count = 1, a = 0, b = 0, out = 0;
};

static_assert(static_cast<size_t>(LaneArithmetic::mac) == hw::kLaneOps);

/// B - A is B + A times a multiplier of the other sign.
hw::LaneOp lane_operation(LaneArithmetic op) {
  if (op == LaneArithmetic::sub_from) return hw::LaneOp::add;
  const int before = op > LaneArithmetic::sub_from ? 1 : 0;
  return static_cast<hw::LaneOp>(static_cast<int>(op) - before);
}

hw::TapOp tap_operation(LaneGather gather) {
  return gather == LaneGather::min   ? hw::TapOp::min
         : gather == LaneGather::max ? hw::TapOp::max
                                     : hw::TapOp::sum;
}

class LaneWriter {
 public:
  LaneWriter(const LaneProblem& p, const hw::HwConfig& hw, const LaneTile& tile,
             const std::function<void(const LanePart&)>& each)
      : p_(p),
        work_(p.work),
        hw_(hw),
        tile_(tile.tile),
        b_(tile.b),
        b_held_(tile.b_held),
        each_(each) {
    for (size_t i = 0; i < tile_.size(); ++i)
      runs_.push_back(lane_runs(work_.axes[i], tile_[i].start, tile_[i].size,
                                work_.gather == LaneGather::mean));
  }

  void write_commands() { write_axis(0); }

 private:
  void write_axis(size_t i) {
    if (i == tile_.size()) return write_part();
    for (const LaneRun& r : runs_[i]) {
      chosen_.push_back(r);
      write_axis(i + 1);
      chosen_.pop_back();
    }
  }

  int64_t stride_in_slot(LaneSide side, size_t i) const {
    return slot_stride(p_, side == LaneSide::b ? b_ : tile_, side, i);
  }

  void write_part() {
    LanePart part;
    hw::LaneCommand& c = part.command;
    std::vector<RowLevel> levels;
    int64_t divisor = work_.across;
    size_t taps = 0;
    for (size_t i = 0; i < tile_.size(); ++i) {
      const LaneSlide& s = work_.axes[i].slide;
      const LaneRun& r = chosen_[i];
      const int64_t a = stride_in_slot(LaneSide::a, i), out = stride_in_slot(LaneSide::out, i);
      const bool planes = p_.unrolled == i;
      const int64_t step = planes || s.is_plain() ? a : a * s.stride;
      const int64_t b = p_.has_b() ? stride_in_slot(LaneSide::b, i) : 0;
      levels.push_back({r.count, step, b, out});
      if (!planes && !s.is_plain()) part.a += (tile_[i].origin + r.taps.first * s.dilation) * a;
      part.a += (r.first - tile_[i].start) * step;
      part.b += (r.first - tile_[i].start) * b;
      part.out += (r.first - tile_[i].start) * out;
      divisor *= r.counted;
      part.weights += r.taps.first * weight_stride(i);
      if (r.taps.count == 1) continue;
      check(taps < hw::kTapLevels, "a lane op with too many windows");
      c.weight_stride[taps] = weight_stride(i);
      c.taps[taps] = r.taps.count;
      c.tap_stride[taps++] = a * (planes ? tile_[i].size : s.dilation);
    }
    set_factors(c, divisor);
    if (is_negated()) c.a.multiplier = -c.a.multiplier;
    std::erase_if(levels, [](const RowLevel& l) { return l.count == 1; });
    set_rows(c, levels);
    if (c.weighs()) c.macs = kernel(0) * c.row_count() * c.run;
    each_(part);
  }

  /// Taps of a result's windows along the axes from `axis` on.
  int64_t kernel(size_t axis) const {
    int64_t taps = 1;
    for (size_t i = axis; i < tile_.size(); ++i) taps *= work_.axes[i].slide.kernel;
    return taps;
  }
  /// Bytes from one weight to the next along an axis: those of a tap lie side by side.
  int64_t weight_stride(size_t axis) const {
    if (work_.op != LaneArithmetic::mac) return 0;
    int64_t bytes = kernel(axis + 1);
    for (size_t i = 0; i < b_.size(); ++i)
      if (spans_axis(p_, LaneSide::b, i)) bytes *= b_[i].size;
    return bytes;
  }

  /// Results one behind the other as long runs, or, of windows that overlap, as lines of which rows
  /// keep what they share.
  void set_rows(hw::LaneCommand& c, const std::vector<RowLevel>& levels) const {
    hw::LaneCommand lines = c;
    set_rows(c, levels, true);
    if (c.tap_count() == 1 || c.across || c.b) return;
    slide_rows(c);
    set_rows(lines, levels, false);
    slide_rows(lines);
    if (hw::contract::lane_cycles(lines, hw_) < hw::contract::lane_cycles(c, hw_))
      c = std::move(lines);
  }

  /// Lets the rows of the level slide for which the fewest taps are taken.
  static void slide_rows(hw::LaneCommand& c) {
    hw::LaneCommand best = c;
    for (size_t level = 0; level < hw::kLaneLevels; ++level)
      for (size_t tap = 0; tap < hw::kTapLevels; ++tap) {
        const int64_t row = c.a.row_stride[level], step = c.tap_stride[tap];
        if (c.rows[level] == 1 || step == 0 || row % step != 0 || row / step < 1) continue;
        hw::LaneCommand s = c;
        const auto innermost = [&](auto& of) { std::swap(of[level], of.back()); };
        innermost(s.rows), innermost(s.a.row_stride), innermost(s.out_stride);
        std::swap(s.taps[0], s.taps[tap]), std::swap(s.tap_stride[0], s.tap_stride[tap]);
        s.slide = row / step;
        if (s.slides_well() && s.taps_taken() < best.taps_taken()) best = s;
      }
    c = std::move(best);
  }

  /// Are these the first of turned results?
  bool is_negated() const {
    // What has another addend would need its sign changed, too.
    const bool one_factor = work_.op == LaneArithmetic::copy || work_.op == LaneArithmetic::mul;
    bool out = false;
    for (size_t i = 0; i < chosen_.size(); ++i)
      out ^= work_.axes[i].turned && chosen_[i].first == 0;
    check(one_factor || !out, "a lane op that turns a sum");
    return out;
  }

  void set_factors(hw::LaneCommand& c, int64_t divisor) const {
    const LaneFactors& f = p_.factors;
    c.op = lane_operation(work_.op);
    c.tap_op = tap_operation(work_.gather);
    const bool mean = work_.gather == LaneGather::mean && f.mean;
    const LaneScale scale = mean ? f.mean(divisor) : LaneScale{f.a_multiplier, f.shift};
    const bool negative = work_.op == LaneArithmetic::sub_from;
    c.a.zero = f.a_zero;
    c.a.multiplier = negative ? -scale.multiplier : scale.multiplier;
    c.shift = scale.shift;
    c.epilogue = f.epilogue;
    c.epilogue.table = work_.table;
    if (!p_.has_b()) return;
    hw::LaneOperand& b = c.b.emplace();
    b.buffer = b_held_ ? hw::Buffer::parameter : hw::Buffer::activation;
    b.zero = f.b_zero;
    b.multiplier = f.b_multiplier;
  }

  /// The innermost levels that are contiguous are the run, `merged`, else but one of them is.
  void set_rows(hw::LaneCommand& c, std::vector<RowLevel> levels, bool merged) const {
    bool splat = !c.weighs();  // a tap has a weight for each element
    c.run = 1;
    const auto goes_on = [&](const RowLevel& l) {
      if (l.a != c.run || l.out != c.run) return false;
      if (c.weighs()) return l.b == c.run;
      return c.run == 1 ? l.b <= 1 : splat ? l.b == 0 : l.b == c.run;
    };
    while (work_.across == 1 && !levels.empty() && goes_on(levels.back())) {
      if (c.run == 1 && !c.weighs()) splat = levels.back().b == 0;
      c.run *= levels.back().count;
      levels.pop_back();
      if (!merged) break;
    }
    if (work_.across > 1) {
      c.run = work_.across;
      c.across = true;
    }
    check(levels.size() <= hw::kLaneLevels, "a lane op with too many rows");
    for (size_t i = 0; i < levels.size(); ++i) {
      const size_t at = hw::kLaneLevels - levels.size() + i;
      c.rows[at] = levels[i].count;
      c.a.row_stride[at] = levels[i].a;
      c.out_stride[at] = levels[i].out;
      if (c.b) c.b->row_stride[at] = levels[i].b;
    }
    if (c.b) c.b->splat = splat;
  }

  const LaneProblem& p_;
  const LaneWork& work_;
  const hw::HwConfig& hw_;
  const std::vector<Segment>&tile_, &b_;
  const bool b_held_;
  const std::function<void(const LanePart&)>& each_;
  std::vector<std::vector<LaneRun>> runs_;  ///< by axis
  std::vector<LaneRun> chosen_;
};

}  // namespace

std::vector<LaneRun> lane_runs(const LaneAxis& axis, int64_t first, int64_t count, bool mean) {
  if (axis.slide.is_plain()) return {{.first = first, .count = count}};
  std::vector<LaneRun> out;
  for (int64_t o = first; o < first + count; ++o) {
    const LaneSlide::Taps taps = axis.slide.taps_inside(o);
    const int64_t counted = mean ? axis.slide.counted_taps(o) : 1;
    LaneRun* last = out.empty() ? nullptr : &out.back();
    if (last && !axis.turned && last->taps.first == taps.first && last->taps.count == taps.count &&
        last->counted == counted)
      ++last->count;
    else
      out.push_back({o, 1, taps, counted});
  }
  return out;
}

int64_t slot_stride(const LaneProblem& p, const std::vector<Segment>& tile, LaneSide side,
                    size_t axis) {
  if (!spans_axis(p, side, axis)) return 0;
  int64_t stride = side == LaneSide::a ? p.work.across : 1;
  for (size_t i = axis + 1; i < tile.size(); ++i)
    if (spans_axis(p, side, i)) stride *= size_of(tile[i], side);
  return stride;
}

hw::Walk lane_walk(const LaneProblem& p, const std::vector<Segment>& tile, LaneSide side,
                   const std::vector<Segment>& whole) {
  hw::Walk w;
  w.run = side == LaneSide::a ? p.work.across : 1;
  for (size_t i = 0; i < tile.size(); ++i) {
    const int64_t stride = side == LaneSide::out ? slot_stride(p, whole, side, i)
                                                 : memory_stride(p.work.axes[i], side);
    if (side == LaneSide::a && p.unrolled == i) {
      const LaneSlide& s = p.work.axes[i].slide;
      w.levels.push_back({s.taps_inside(tile[i].start).count, s.dilation * stride});
      w.levels.push_back({tile[i].size, s.stride * stride});
    } else if (spans_axis(p, side, i) && size_of(tile[i], side) > 1)
      w.levels.push_back({size_of(tile[i], side), stride});
  }
  return w.merge();
}

void for_lane_commands(const LaneProblem& p, const hw::HwConfig& hw, const LaneTile& tile,
                       const std::function<void(const LanePart&)>& each) {
  LaneWriter(p, hw, tile, each).write_commands();
}

}  // namespace accsim::sim
