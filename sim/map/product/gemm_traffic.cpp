#include "sim/map/product/gemm_traffic.h"

#include "hw/program/contract.h"
#include "sim/map/product/weight_panels.h"

namespace accsim::sim {
namespace {

/// How often the loops load each byte of an operand.
double a_times(const Tiling& t, const PixelOption& m, const ChannelOption& c,
               const OutputOption& n) {
  return c.chunks > 1 || (t.outputs_outer && m.tiles > 1) ? real(n.chunks) : 1;
}

double w_times(const Tiling& t, const PixelOption& m, const ChannelOption& c,
               const OutputOption& n) {
  return c.chunks > 1 || (!t.outputs_outer && n.chunks > 1) ? real(m.tiles) : 1;
}

}  // namespace

TrafficBound::TrafficBound(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow dataflow,
                           int64_t groups, bool im2col, Bounds bounds)
    : p_(p),
      hw_(hw),
      dataflow_(dataflow),
      groups_(groups),
      packs_(p.op.batch / groups),
      im2col_(im2col),
      bounds_(bounds),
      a_rate_(cycles_a_byte(channel_of(hw, p.a).read, hw.buffer(hw::Buffer::activation).width)),
      w_rate_(cycles_a_byte(channel_of(hw, p.b).read, hw.buffer(hw::Buffer::weight).width)) {}

/// What all groups share stays where it is a single tile.
bool TrafficBound::a_once(const PixelOption& m, const ChannelOption& c) const {
  return p_.op.a_shared && m.tiles == 1 && c.chunks == 1;
}

bool TrafficBound::w_once(const ChannelOption& c, const OutputOption& n) const {
  return p_.op.b_shared && n.chunks == 1 && c.chunks == 1;
}

/// Of one group.
double TrafficBound::a_pixels(const PixelOption& m) const {
  return im2col_ ? real(p_.op.m()) * real(p_.kernel_taps()) : real(m.input_pixels);
}

/// Bytes of the operands that are loaded once.
double TrafficBound::a_bytes(const PixelOption& m, const ChannelOption& c) const {
  return (a_once(m, c) ? 1 : real(p_.op.batch)) * a_pixels(m) * real(p_.op.channels * p_.a_bytes);
}

double TrafficBound::w_bytes(const ChannelOption& c, const OutputOption& n) const {
  return (w_once(c, n) ? 1 : real(packs_ * groups_)) * real(p_.op.k()) *
         (real(p_.op.outputs) * p_.weight_size());
}

/// Of the slot port, to load computed weights of a group once as they lie: the run of a chunk of
/// channels of each output, or of each channel that of a column block (the blocks of a chunk of one
/// channel are one run). Constants lie in order.
double TrafficBound::w_beats(const ChannelOption& c, const OutputOption& n) const {
  const bool n_major = weights_n_major(p_),
             held_inputs = dataflow_ == hw::Dataflow::input_stationary;
  if (p_.b.constant || p_.b_encoding.is_packed() || groups_ > 1 || n_major != held_inputs) return 0;
  if (!n_major) {
    const int64_t channels = c.channels == 1 ? 0 : p_.op.channels - (c.last == 1 ? 1 : 0);
    return n.blocks > 1 ? real(p_.kernel_taps() * channels) * real(n.blocks) : 0;
  }
  if (c.chunks == 1) return 0;
  const int64_t width = hw_.buffer(hw::Buffer::weight).width;
  const auto beats = [&](int64_t channels) {
    return real(ceil_div(channels * p_.b_bytes(), width));
  };
  return real(p_.op.outputs * p_.kernel_taps()) *
         (real(c.chunks - 1) * beats(c.channels) + beats(c.last));
}

/// Bytes of parameters in all loads: those of a tile of outputs come inside the innermost loop over
/// such tiles, with whatever loops are around it; what posts look up once.
double TrafficBound::bytes_of_parameters(const Tiling& t, const PixelOption& m,
                                         const OutputOption& n) const {
  if (!p_.has_parameters) return 0;
  const int64_t table = p_.epilogue.table ? hw::SetTableCommand::kBytes : 0;
  if (shares_parameters(p_, t.dataflow))
    return real(parameter_channels(p_, hw_, t.dataflow, n.outputs) * p_.channel_parameters() +
                table);
  const bool a_tile_a_panel = t.staged > 0 && t.staged <= t.outputs;
  if (n.chunks == 1 || a_tile_a_panel) return real(p_.all_parameters());
  const double packs = p_.op.grouped ? 1 : real(packs_);  // each of groups has its own
  const double times = packs * (t.outputs_outer ? 1 : real(m.tiles));
  return real(p_.all_parameters() - table) * times + real(table);
}

double TrafficBound::least_load_cycles(const Tiling& t, const PixelOption& m,
                                       const ChannelOption& c, const OutputOption& n) const {
  if (t.staged > 0) return 0;
  return (a_bytes(m, c) * a_times(t, m, c, n) * a_rate_ +
          w_bytes(c, n) * w_times(t, m, c, n) * w_rate_) *
         kSafe;
}

ProductTraffic TrafficBound::traffic_of(const Tiling& t, const PixelOption& m,
                                        const ChannelOption& c, const OutputOption& n) const {
  const GemmOp& op = p_.op;
  const double pixels = a_pixels(m);
  const double again_a = a_times(t, m, c, n), again_w = w_times(t, m, c, n);
  ProductTraffic b;
  b.a_load = activation_load_cost(p_, hw_, bounds_, m, c, a_rate_);
  b.w_load = weight_load_cost(
      p_, hw_, {bounds_, dataflow_, groups_, c, n},
      t.staged > 0 ? cycles_a_byte(hw_.shared.channel.read, hw_.buffer(hw::Buffer::weight).width)
                   : w_rate_);
  b.w_latency = real(channel_of(hw_, p_.b).latency);
  b.a = a_bytes(m, c) * again_a;
  // A chunk of the channels is read run by run, a pixel each (a transposed one channel by channel).
  const bool runs = !op.a_transposed && (op.grouped ? groups_ < op.batch : c.chunks > 1);
  const double a_packs = op.grouped ? real(packs_) : a_once(m, c) ? 1 : real(op.batch);
  b.a_beats = runs ? a_packs * pixels * real(c.beats) * again_a : 0;
  b.w = w_bytes(c, n) * again_w;
  b.w_beats = (w_once(c, n) ? 1 : real(packs_ * groups_)) * w_beats(c, n) * again_w;
  b.parameters = bytes_of_parameters(t, m, n);
  const double rows = real(op.batch) * real(op.m());
  b.out = rows * real(op.outputs * p_.out_bytes);
  const bool out_runs = op.grouped ? groups_ < op.batch : n.chunks > 1;
  b.out_beats = out_runs ? real(packs_) * real(op.m()) * real(n.beats) : 0;
  b.a_fills = (a_once(m, c) ? 1 : real(packs_)) * real(m.tiles * c.chunks) * again_a;
  b.w_fills = (w_once(c, n) ? 1 : real(packs_)) * real(n.chunks * c.chunks) * again_w;
  b.out_fills = real(packs_) * real(m.tiles) * real(n.chunks);
  if (t.staged > 0) stage_weights(t, m, c, n, b);
  return b;
}

/// All tiles of pixels pass by every panel: they are loaded once for each, the weights once for
/// each of them, from the shared buffer.
void TrafficBound::stage_weights(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                                 const OutputOption& n, ProductTraffic& b) const {
  const WeightPanels panels = weight_panels(p_, hw_, t);
  const RegionPart part = region_part(p_, t, panels, 0, std::min(t.staged, p_.op.outputs));
  const double pixels = real(m.input_pixels), times = real(panels.panels);
  b.a = pixels * real(p_.op.channels * p_.a_bytes) * times;
  if (b.a_beats > 0) b.a_beats = pixels * real(c.beats) * times;
  b.a_fills = real(m.tiles * c.chunks) * times;
  b.staged = real(p_.op.k()) * (real(p_.op.outputs) * p_.weight_size());
  b.first_staged = real(p_.kernel_taps() * part.channels) * (real(part.outputs) * p_.weight_size());
  b.w = b.staged * real(m.tiles);
  b.w_beats = 0;
  b.w_fills = real(n.chunks * c.chunks) * real(m.tiles);
  b.w_latency = real(hw_.shared.channel.latency);
}

double TrafficBound::dram_bytes(const ProductTraffic& b) const {
  const auto dram = [](const Place& place, double bytes) {
    return place.memory == hw::MemoryId::dram ? bytes : 0;
  };
  return dram(p_.a, b.a) + (b.staged > 0 ? b.staged : dram(p_.b, b.w)) + dram(p_.out, b.out) +
         dram(p_.parameters, b.parameters);
}

}  // namespace accsim::sim
