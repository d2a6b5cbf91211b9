#include "sim/map/product/tap_problem.h"

#include <algorithm>
#include <set>

#include "hw/program/contract.h"
#include "sim/map/lanes/busy_sink.h"
#include "sim/map/product/tap_emitter.h"

namespace accsim::sim {
namespace {

LaneSlide slide_of(const Slide& s) {
  return {.extent = s.in,
          .kernel = s.kernel,
          .stride = s.stride,
          .dilation = s.dilation,
          .pad = s.pad,
          .counted_to = s.in};
}

/// Has each result a tap that isn't padding?
bool reads_something(const Slide& s) {
  const LaneSlide slide = slide_of(s);
  for (int64_t o = 0; o < s.out; ++o)
    if (slide.taps_inside(o).count == 0) return false;
  return true;
}

/// Channels of a tile that are tried: all of them, and what fills so many beats.
std::set<int64_t> channel_tiles(int64_t channels, int64_t beat) {
  std::set<int64_t> out{channels};
  for (int64_t beats = 1; beats * beat < channels; beats *= 2) out.insert(beats * beat);
  return out;
}

int64_t beat_of(const hw::HwConfig& hw) {
  hw::LaneCommand c;
  c.op = hw::LaneOp::mac;
  c.b.emplace().buffer = hw::Buffer::parameter;
  return hw::contract::lane_beat(c, hw);
}

}  // namespace

bool weighs_taps(const GemmProblem& p, const hw::HwConfig& hw) {
  const GemmOp& op = p.op;
  if (beat_of(hw) < 1 || !op.grouped || op.channels != 1 || op.outputs != 1) return false;
  if (p.mode != hw::kOwnTypes || p.a_bytes != 1 || p.b_bytes() != 1 || p.out_bytes != 1)
    return false;
  if (!hw.computes_int8() || p.b_encoding.is_packed() || !p.b.constant) return false;
  if (!p.has_parameters || p.parameter_bytes != hw::LaneCommand::kChannelBytes || p.residual)
    return false;
  if (p.z.kernel != 1 || p.z.in != 1 || p.z.out != 1 || p.z.pad != 0) return false;
  return p.kernel_taps() <= hw::LaneCommand::kMostWeighed && reads_something(p.y) &&
         reads_something(p.x);
}

LaneProblem tap_lanes(const GemmProblem& p, const TapTiling& t) {
  LaneProblem out;
  LaneWork& work = out.work;
  work.op = LaneArithmetic::mac;
  work.gather = LaneGather::sum;
  work.b_port = p.op.b_port;
  work.table = p.epilogue.table;
  const int64_t pixel = p.op.batch;
  work.axes = {{.count = p.y.out, .a = p.x.in * pixel, .slide = slide_of(p.y)},
               {.count = p.x.out, .a = pixel, .slide = slide_of(p.x)},
               {.count = pixel, .a = 1, .b = 1, .slide = {.extent = pixel}}};
  if (t.repeats > 1) out.repeated = 1;
  out.factors.a_zero = p.a_zero;
  out.factors.epilogue.zero = p.epilogue.zero;
  out.factors.epilogue.low = p.epilogue.lowest_result();
  return out;
}

bool taps_fit(const GemmProblem& p, const hw::HwConfig& hw, const TapTiling& t) {
  const auto holds = [&](hw::Buffer b, int64_t bytes) {
    return bytes <= hw.buffer(b).slot_bytes();
  };
  const auto reach = [](const Slide& s, int64_t tile) {
    return std::min(s.in, s.input_reach(tile));
  };
  const int64_t held = t.repeats * t.channels * (p.kernel_taps() + hw::LaneCommand::kChannelBytes);
  return holds(hw::Buffer::activation, reach(p.y, t.lines) * reach(p.x, t.pixels) * t.channels) &&
         holds(hw::Buffer::parameter,
               held + (p.epilogue.table ? hw::SetTableCommand::kBytes : 0)) &&
         holds(hw::Buffer::output, t.lines * t.pixels * t.channels);
}

std::vector<std::pair<int64_t, TapTiling>> tap_tilings(const GemmProblem& p,
                                                       const hw::HwConfig& hw) {
  std::vector<std::pair<int64_t, TapTiling>> out;
  if (!weighs_taps(p, hw)) return out;
  const auto add = [&](const TapTiling& t) {
    if (!taps_fit(p, hw, t)) return;
    BusySink sink(hw);
    TapEmitter(p, hw, t, sink).write_program();
    out.push_back({sink.busy_bound(), t});
  };
  const int64_t beat = beat_of(hw);
  const auto sizes = [](int64_t all) {
    std::set<int64_t> tiles;
    for_chunk_counts(all, [&](int64_t n) { tiles.insert(ceil_div(all, n)); });
    return tiles;
  };
  for (const int64_t channels : channel_tiles(p.op.batch, beat))
    for (const int64_t pixels : sizes(p.x.out))
      for (const int64_t lines : sizes(p.y.out)) {
        TapTiling t{.lines = lines, .pixels = pixels, .channels = channels};
        add(t);
        t.repeats = pixels;
        if (pixels > 1 && p.x.stride == 1 && channels % beat != 0) add(t);
      }
  sort_by_bound(out);
  return out;
}

}  // namespace accsim::sim
