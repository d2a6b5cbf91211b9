#include "sim/map/lanes/lane_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "sim/map/lanes/busy_sink.h"
#include "sim/map/lanes/lane_emitter.h"

namespace accsim::sim {
namespace {

int64_t extent_of(const LaneWork& work, LaneSide side) {
  int64_t elements = side == LaneSide::a ? work.across : 1;
  for (const LaneAxis& x : work.axes)
    if (side == LaneSide::out || (side == LaneSide::a ? x.a : x.b) != 0)
      elements *= side == LaneSide::a ? x.slide.extent : x.count;
  return elements;
}

/// Axes along which a tile may have more than one result: the levels of a lane command's rows, and
/// the run.
size_t cut_axes(const LaneWork& work) {
  const LaneAxis& last = work.axes.back();
  const bool run = work.across == 1 && last.a == 1 && last.slide.stride == 1;
  return hw::kLaneLevels + size_t{run};
}

/// Bytes of a result's run that a command takes in a cycle, at most.
int64_t run_beat(const LaneWork& work, const hw::HwConfig& hw) {
  hw::LaneCommand c;
  const auto slides = [](const LaneAxis& x) { return x.slide.kernel > 1; };
  if (std::ranges::any_of(work.axes, slides)) c.taps[0] = 2;
  return hw::contract::lane_beat(c, hw);
}

/// Bytes of the largest tiles.
struct LaneFootprint {
  int64_t a = 0, b = 0, out = 0;
};
LaneFootprint lane_footprint(const LaneProblem& p, const std::vector<int64_t>& tile) {
  LaneFootprint f{p.work.across, 1, 1};
  for (size_t i = 0; i < tile.size(); ++i) {
    const LaneAxis& x = p.work.axes[i];
    int64_t in = tile[i];
    if (p.unrolled == i)
      in = tile[i] * x.slide.kernel;
    else if (!x.slide.is_plain())
      in = std::min(x.slide.extent, (tile[i] - 1) * std::abs(x.slide.stride) +
                                        (x.slide.kernel - 1) * x.slide.dilation + 1);
    if (x.a != 0) f.a *= in;
    if (x.b != 0 || p.repeated == i) f.b *= tile[i];
    f.out *= tile[i];
  }
  return f;
}

/// Can the lanes take the operands of all results, whatever the tile?
bool has_command(const LaneProblem& p, const hw::HwConfig& hw, bool b_held) {
  hw::LaneCommand c;
  if (p.has_b()) {
    c.op = hw::LaneOp::add;
    c.b.emplace().buffer = b_held ? hw::Buffer::parameter : hw::Buffer::activation;
  }
  constexpr int64_t kMostTaps = int64_t{1} << 20;
  int64_t taps = p.work.across;
  for (const LaneAxis& x : p.work.axes) {
    if (x.slide.kernel > kMostTaps / taps) return false;
    taps *= x.slide.kernel;
  }
  return taps <= kMostTaps && hw::contract::lane_beat(c, hw) >= 1;
}

/// Times for which beats of a run are filled better than with fewer, fewest first; none where more
/// than once is no use. The last one fills them best; but the port of the second operand may give
/// no beat of that many, and what is loaded more often costs time.
std::vector<int64_t> spread_counts(const LaneProblem& p, const hw::HwConfig& hw) {
  const std::vector<LaneAxis>& axes = p.work.axes;
  if (!p.has_b() || p.work.across > 1 || axes.size() < 2) return {};
  const LaneAxis &last = axes.back(), &outer = axes[axes.size() - 2];
  if (last.a != 1 || last.b != 1 || outer.b != 0 || outer.a != last.count ||
      !last.slide.is_plain() || !outer.slide.is_plain())
    return {};
  const int64_t beat = run_beat(p.work, hw);
  const auto beats = [&](int64_t times) { return ceil_div(last.count * times, beat); };
  std::vector<int64_t> out;
  int64_t best = 1;
  for (int64_t times = 2; times <= std::min(beat, outer.count); ++times)
    if (outer.count % times == 0 && beats(times) * best < beats(best) * times)
      out.push_back(best = times);
  return out;
}

}  // namespace

int64_t LaneProblem::a_elements() const { return extent_of(work, LaneSide::a); }
int64_t LaneProblem::b_elements() const { return extent_of(work, LaneSide::b); }
int64_t LaneProblem::out_elements() const { return extent_of(work, LaneSide::out); }

std::optional<LaneProblem> LaneSource::of_request(const OpRequest& r, const hw::HwConfig& hw) {
  const auto* vector = std::get_if<VectorOp>(&r.item);
  if (vector == nullptr) return std::nullopt;
  const VectorOp& op = *vector;
  if (!op.lane || !hw.computes_int8() || op.outputs.size() != 1) return std::nullopt;
  const Operand a = operand_of_port(r.inputs, op.lane->a_port, hw);
  const Operand b = operand_of_port(r.inputs, op.lane->b_port, hw);
  const Operand out = operand_of_port(r.outputs, op.outputs.front().port, hw);
  const bool two = op.lane->has_b();
  if (a.element_bytes != 1 || out.element_bytes != 1 || (two && b.element_bytes != 1))
    return std::nullopt;
  return LaneProblem{*op.lane, a.place, two ? b.place : Place{}, out.place};
}

std::string to_string(const LaneProblem&, const LaneTiling& t) {
  return fmt::format("lanes {}{}{}", fmt::join(t.tile, "x"), t.b_once ? ", operand held" : "",
                     t.spread > 1 ? fmt::format(", {} times", t.spread)
                     : t.unrolled ? ", unrolled"
                                  : "");
}

std::vector<int64_t> lane_tile(const LaneProblem& p, const hw::HwConfig& hw, int64_t chunks) {
  const std::vector<LaneAxis>& axes = p.work.axes;
  std::vector<int64_t> tile(axes.size(), 1);
  int64_t left = std::max<int64_t>(1, p.out_elements() / chunks);
  const int64_t unit = run_beat(p.work, hw);
  for (size_t n = 0; n < std::min(axes.size(), cut_axes(p.work)); ++n) {
    const size_t i = axes.size() - 1 - n;
    const int64_t count = axes[i].count;
    // Whole beats of a run, equal parts else.
    if (left >= count)
      tile[i] = count;
    else if (n == 0)
      tile[i] = left > unit ? left / unit * unit : left;
    else
      tile[i] = ceil_div(count, ceil_div(count, left));
    left = std::max<int64_t>(1, left / tile[i]);
  }
  return tile;
}

LaneProblem spread_lanes(const LaneProblem& p, int64_t times) {
  LaneProblem out = p;
  if (times == 1) return out;
  const size_t at = p.work.axes.size() - 2;
  LaneAxis& outer = out.work.axes[at];
  LaneAxis inner = outer;
  outer.count /= times;
  outer.slide.extent /= times;
  outer.a *= times;
  inner.count = inner.slide.extent = times;
  out.work.axes.insert(out.work.axes.end() - 1, inner);
  out.repeated = at + 1;
  return out;
}

int64_t best_spread(const LaneProblem& p, const hw::HwConfig& hw) {
  const std::vector<int64_t> all = spread_counts(p, hw);
  return all.empty() ? 1 : all.back();
}

bool can_unroll(const LaneProblem& p, const hw::HwConfig& hw) {
  const std::vector<LaneAxis>& axes = p.work.axes;
  if (p.has_b() || p.work.across > 1 || axes.size() < 2) return false;
  const LaneAxis &last = axes.back(), &windows = axes[axes.size() - 2];
  return last.a == 1 && last.slide.is_plain() && last.count % run_beat(p.work, hw) != 0 &&
         windows.count > 1 && windows.slide.kernel > 1 && windows.slide.stride > 1;
}

LaneProblem unroll_lanes(const LaneProblem& p) {
  LaneProblem out = p;
  out.unrolled = p.work.axes.size() - 2;
  return out;
}

LaneProblem as_cut(const LaneProblem& p, const LaneTiling& t) {
  return t.unrolled ? unroll_lanes(p) : spread_lanes(p, t.spread);
}

bool fits(const LaneProblem& problem, const hw::HwConfig& hw, const LaneTiling& t) {
  const LaneProblem p = as_cut(problem, t);
  const auto slot = [&](hw::Buffer b) { return hw.buffer(b).slot_bytes(); };
  if (!has_command(p, hw, t.b_once)) return false;
  if (t.b_once && (!p.has_b() || p.work.table)) return false;
  if (p.work.table && slot(hw::Buffer::parameter) < hw::SetTableCommand::kBytes) return false;
  const LaneFootprint f = lane_footprint(p, t.tile);
  if (t.b_once && p.b_elements() * t.spread > slot(hw::Buffer::parameter)) return false;
  const int64_t beside = p.has_b() && !t.b_once ? f.b : 0;
  return f.a + beside <= slot(hw::Buffer::activation) && f.out <= slot(hw::Buffer::output);
}

int64_t lower_bound(const LaneProblem& p, const hw::HwConfig& hw, const LaneTiling& t) {
  BusySink sink(hw);
  LaneEmitter(as_cut(p, t), hw, t, sink).write_program();
  return sink.busy_bound();
}

std::vector<std::pair<int64_t, LaneTiling>> tilings(const LaneProblem& p, const hw::HwConfig& hw) {
  std::vector<std::pair<int64_t, LaneTiling>> out;
  const auto all = [&](LaneTiling t) {
    const LaneProblem cut = as_cut(p, t);
    std::vector<int64_t> before;
    const auto add = [&](int64_t chunks) {
      t.tile = lane_tile(cut, hw, chunks);
      if (t.tile == before) return;
      before = t.tile;
      for (const bool once : {true, false}) {
        t.b_once = once;
        if (fits(p, hw, t)) out.push_back({lower_bound(p, hw, t), t});
      }
    };
    for_chunk_counts(p.out_elements(), add);
  };
  all({});
  for (const int64_t spread : spread_counts(p, hw)) all({{}, false, spread, false});
  if (can_unroll(p, hw)) all({{}, false, 1, true});
  sort_by_bound(out);
  return out;
}

std::vector<LaneTiling> chunked_tilings(const LaneProblem& p, const hw::HwConfig& hw,
                                        int64_t chunks) {
  if (chunks == 0) return {};
  std::vector<LaneTiling> out;
  const auto add = [&](LaneTiling t, int64_t count) {
    t.tile = lane_tile(as_cut(p, t), hw, count);
    for (const bool once : {true, false}) {
      t.b_once = once;
      if (fits(p, hw, t)) out.push_back(t);
    }
  };
  for (int64_t count = chunks; count <= 4 * chunks && out.empty(); ++count) {
    add({}, count);
    if (const int64_t times = best_spread(p, hw); times > 1) add({{}, false, times, false}, count);
    if (can_unroll(p, hw)) add({{}, false, 1, true}, count);
  }
  return out;
}

std::optional<LaneTiling> rule_tiling(const LaneProblem& p, const hw::HwConfig& hw) {
  const int64_t spread = best_spread(p, hw);
  return first_chunks(p.out_elements(), [&](int64_t chunks) -> std::optional<LaneTiling> {
    for (const int64_t times : {spread, int64_t{1}})
      for (const bool once : {true, false}) {
        LaneTiling t{lane_tile(spread_lanes(p, times), hw, chunks), once, times};
        if (fits(p, hw, t)) return t;
      }
    return std::nullopt;
  });
}

}  // namespace accsim::sim
