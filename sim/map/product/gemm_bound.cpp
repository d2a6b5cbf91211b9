#include "sim/map/product/gemm_bound.h"

#include <algorithm>

#include "hw/program/contract.h"

namespace accsim::sim {
namespace {

using hw::contract::kPostLatency;
using hw::contract::kTokenLatency;
using hw::contract::template_of;

}  // namespace

/// What the execute queue does between the first wait for a slot and its return, summed over the
/// fillings of its buffer.
struct GemmBound::Fills {
  double a, w, sums;
};

GemmBound::GemmBound(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow dataflow,
                     int64_t groups, bool im2col, Bounds bounds)
    : TrafficBound(p, hw, dataflow, groups, im2col, bounds),
      ragged_packs_(p.op.batch % groups != 0) {
  const auto& rate = cycles_a_byte;
  p_rate_ = rate(channel_of(hw, p.parameters).read, hw.buffer(hw::Buffer::parameter).width);
  out_rate_ = rate(channel_of(hw, p.out).write, hw.buffer(hw::Buffer::output).width);
  a_latency_ = real(channel_of(hw, p.a).latency);
  p_latency_ = real(channel_of(hw, p.parameters).latency);
  out_latency_ = real(channel_of(hw, p.out).latency);
}

double GemmBound::execute_cycles(const PixelOption& m, int64_t passes,
                                 const OutputOption& n) const {
  // Full packs only; a ragged last pack adds at least one pass, which the slack below covers.
  switch (dataflow_) {
    case hw::Dataflow::weight_stationary:
      return real(packs_) * real(m.stream_rows) * real(n.blocks) * real(passes) -
             (m.short_rows ? real(preload_cycles()) : 0);
    case hw::Dataflow::input_stationary:
      return real(packs_) * real(m.blocks) * real(n.stream_columns) * real(passes) -
             real(hw_.array.cols);
    case hw::Dataflow::output_stationary:
      return real(packs_) * real(n.blocks) *
             sums_stay(p_.op.m(), m.blocks, passes, groups_ * p_.op.k());
  }
  return 0;
}

/// Output stationary, streams of `blocks` blocks of `rows` pixels together, max(m, k) cycles each,
/// over a column block: m and k alone, summed over the passes of a reduction of k.
double GemmBound::sums_stay(int64_t rows, int64_t blocks, int64_t passes, int64_t k) const {
  return std::max(real(rows) * real(passes), real(blocks) * real(k));
}

/// Streams of one tile, without the waits that fewer rows than the array bring.
double GemmBound::stream_cycles(int64_t rows, int64_t blocks, int64_t columns, int64_t passes,
                                int64_t channels) const {
  switch (dataflow_) {
    case hw::Dataflow::weight_stationary:
      return real(rows) * real(blocks) * real(passes);
    case hw::Dataflow::input_stationary:
      return real(ceil_div(rows, hw_.array.cols)) * real(columns) * real(passes);
    case hw::Dataflow::output_stationary:
      return real(blocks) *
             sums_stay(rows, ceil_div(rows, hw_.array.rows), passes, p_.kernel_taps() * channels);
  }
  return 0;
}

/// Cycles to post sums: rows of the accumulator, each as many beats as a row of it needs.
double GemmBound::post_cycles(double rows, double outputs, double row_blocks,
                              double column_blocks) const {
  const double bytes = rows * outputs * real(p_.out_bytes);
  const double accumulator_rows =
      dataflow_ == hw::Dataflow::input_stationary ? outputs * row_blocks : rows * column_blocks;
  return std::max(bytes / real(hw_.buffer(hw::Buffer::output).width), accumulator_rows) *
         real(p_.scale_count());
}

/// From the last stream of a tile until its sums are in the accumulator.
double GemmBound::through_array() const {
  const auto& array = template_of(hw_.array);
  return real(array.drain_cycles(hw_.array, dataflow_)) + real(array.exit_cycles(hw_.array));
}

/// And until the post queue has its token.
double GemmBound::way_out() const { return through_array() + kTokenLatency; }

int64_t GemmBound::preload_cycles() const {
  return template_of(hw_.array).preload_cycles(hw_.array, dataflow_);
}

GemmTimes GemmBound::bound_times(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                                 const OutputOption& n) const {
  return bound_times(tiling, traffic_of(tiling, m, c, n), m, c, n);
}

GemmTimes GemmBound::bound_times(const Tiling& tiling, const ProductTraffic& b,
                                 const PixelOption& m, const ChannelOption& c,
                                 const OutputOption& n) const {
  GemmTimes t;
  const double staged = b.staged * cycles_a_byte(hw_.dram.read, hw::contract::stage_port(hw_));
  t.loads = b.a_cycles() + b.parameters * p_rate_ + std::max(b.w_cycles(), staged);
  t.stores = std::max(b.out * out_rate_, b.out_beats);
  t.execute = execute_cycles(m, c.passes, n);
  t.streams = t.execute;
  if (dataflow_ == hw::Dataflow::weight_stationary)
    t.streams = real(packs_) * real(c.passes) * real(p_.op.m()) * real(n.blocks);
  if (dataflow_ == hw::Dataflow::input_stationary)
    t.streams = real(packs_) * real(c.passes) * real(m.blocks) * real(groups_ * p_.op.outputs);
  // Between the first drain and the last one.
  if (dataflow_ == hw::Dataflow::output_stationary)
    t.execute =
        std::max(t.execute, (real(packs_) * real(m.blocks) * real(n.blocks * c.chunks) - 1) *
                                real(template_of(hw_.array).drain_cycles(hw_.array, dataflow_)));
  t.posts = post_cycles(
      real(packs_) * real(p_.op.m()), real(groups_ * p_.op.outputs),
      real(packs_) * (bounds_ == Bounds::sharp ? real(m.blocks) : pixel_blocks(p_.op.m())),
      real(n.blocks));
  t.load_latency = std::min({a_latency_, b.w_latency, p_latency_});
  t.store_latency = out_latency_;
  if (hw_.one_bus() && bounds_ == Bounds::sharp) {
    const bool writes = p_.out.memory == hw::MemoryId::dram;
    const double written = writes ? b.out : 0;
    t.bus = (dram_bytes(b) - written) / hw_.dram.read.value() + written / hw_.dram.write.value();
    t.bus_latency = writes ? out_latency_ : 0;
  }
  if (bounds_ == Bounds::sharp && tiling.staged == 0) t.execute += after_last_start(m, n);
  first_tile(b, m, c, n, t);
  // The last pack is smaller than said where it is ragged.
  if (!ragged_packs_) last_tile(m, c, n, t);
  // What the last tile's streams wait for comes last, or before the parameters of its outputs.
  const bool parameters_last =
      p_.has_parameters && !shares_parameters(p_, tiling.dataflow) && c.chunks == 1 &&
      (p_.op.batch > 1 || m.tiles == 1 || (!tiling.outputs_outer && n.chunks > 1));
  const double behind = parameters_last ? real(n.last * p_.channel_parameters()) * p_rate_ : 0;
  t.after_loads =
      std::max(0.0, t.last_stream + t.last_post + t.last_store + kTokenLatency - behind);
  set_fillings(b, slot_fills(tiling, t, b, m, c, n), t);
  return t;
}

/// What execute_cycles() leaves out: the last stream, as far as it is no longer than the fill that
/// nothing waits for behind it.
double GemmBound::after_last_start(const PixelOption& m, const OutputOption& n) const {
  switch (dataflow_) {
    case hw::Dataflow::weight_stationary:
      return m.short_rows ? real(std::min(preload_cycles(), m.last_rows)) : 0;
    case hw::Dataflow::input_stationary:
      return real(std::min(hw_.array.cols, n.last));
    case hw::Dataflow::output_stationary:
      return 0;
  }
  return 0;
}

/// Blocks of the array's columns that pixels of a tile are, at least.
double GemmBound::pixel_blocks(int64_t rows) const {
  const int64_t columns = hw_.array.cols;
  return bounds_ == Bounds::sharp ? real(ceil_div(rows, columns)) : real(rows) / real(columns);
}

/// First load to first stream. It waits for both operands, whichever is loaded first, and for the
/// array to be filled with the one that it holds. Weights that are staged are loaded when the first
/// of them have come; activations may be loaded meanwhile.
double GemmBound::first_load(const ProductTraffic& b, const PixelOption& m, const ChannelOption& c,
                             const OutputOption& n) const {
  const double pixels = im2col_ ? real(m.rows * p_.kernel_taps()) : real(m.first_input);
  const double w = b.w_load.cycles(real(p_.kernel_taps() * c.first / groups_) *
                                   (real(n.first) * p_.weight_size()));
  const double a = b.a_load.cycles(pixels * real(c.first * p_.a_bytes));
  double staged = 0;
  if (b.staged > 0)
    staged = b.first_staged * cycles_a_byte(hw_.dram.read, hw::contract::stage_port(hw_)) +
             real(hw_.dram.latency + hw_.shared.channel.latency) + kTokenLatency;
  const double both = w + std::max(a, staged) + std::min(a_latency_, b.w_latency);
  if (bounds_ == Bounds::plain || b.staged > 0) return both + kTokenLatency;
  const bool inputs = dataflow_ == hw::Dataflow::input_stationary;
  const double fill = real(preload_cycles());
  return std::max(
             {both, w + b.w_latency + (inputs ? 0 : fill), a + a_latency_ + (inputs ? fill : 0)}) +
         kTokenLatency;
}

void GemmBound::first_tile(const ProductTraffic& b, const PixelOption& m, const ChannelOption& c,
                           const OutputOption& n, GemmTimes& t) const {
  t.first_load = first_load(b, m, c, n);
  t.first_stream =
      stream_cycles(m.first_rows, n.first_blocks, n.first, c.passes, groups_ * p_.op.channels) +
      way_out();
  t.first_post = post_cycles(real(m.first_rows), real(n.first), pixel_blocks(m.first_rows),
                             real(n.first_blocks)) +
                 kPostLatency + kTokenLatency;
}

void GemmBound::last_tile(const PixelOption& m, const ChannelOption& c, const OutputOption& n,
                          GemmTimes& t) const {
  t.last_stream = stream_cycles(m.last_rows, n.last_blocks, n.last, c.last_passes, c.last);
  t.last_post =
      post_cycles(real(m.last_rows), real(n.last), pixel_blocks(m.last_rows), real(n.last_blocks)) +
      kPostLatency + kTokenLatency + way_out();
  t.last_store = real(m.last_rows) * real(n.last * p_.out_bytes) * out_rate_ + out_latency_;
}

/// From the first stream of a filling to the end of its last one it takes max(stream, fill) for all
/// streams but the last; from the first fill to the end of the last one two fills, and the same for
/// all streams but the last two.
GemmBound::Fills GemmBound::slot_fills(const Tiling& tiling, const GemmTimes& t,
                                       const ProductTraffic& b, const PixelOption& m,
                                       const ChannelOption& c, const OutputOption& n) const {
  Fills out{t.streams, t.streams, t.streams};
  const bool inputs = dataflow_ == hw::Dataflow::input_stationary;
  if (bounds_ == Bounds::plain || dataflow_ == hw::Dataflow::output_stationary) return out;
  double &streamed = inputs ? out.w : out.a, &held = inputs ? out.a : out.w;
  held = 0;
  if (tiling.staged > 0) return out;
  const double fill = real(preload_cycles());
  const double longest = real(inputs ? n.outputs : m.rows);
  const double gemms = real(packs_) * real(c.passes) *
                       (inputs ? real(m.blocks) * real(n.chunks) : real(m.tiles) * real(n.blocks));
  const double streamed_fills = inputs ? b.w_fills : b.a_fills;
  const double held_fills = inputs ? b.a_fills : b.w_fills;
  streamed = std::max(streamed, t.execute - streamed_fills * fill);
  held = std::max(gemms * fill, t.execute - 2 * held_fills * std::max(0.0, longest - fill));
  out.sums = std::max(out.sums, t.execute - b.out_fills * fill);
  return out;
}

void GemmBound::set_fillings(const ProductTraffic& b, const Fills& fills, GemmTimes& t) const {
  const double turn = 2 * kTokenLatency;  // full there, free back
  const auto slots = [&](hw::Buffer buffer) { return real(hw_.buffer(buffer).slots); };
  const double a_fillings = b.a_cycles() + b.a_fills * (a_latency_ + turn) + fills.a;
  const double w_fillings = b.w_cycles() + b.w_fills * (b.w_latency + turn) + fills.w;
  t.operand_fillings = a_fillings;
  t.operand_slots = slots(hw::Buffer::activation);
  t.held_fillings = w_fillings;
  t.held_slots = slots(hw::Buffer::weight);
  if (dataflow_ == hw::Dataflow::input_stationary) {
    std::swap(t.operand_fillings, t.held_fillings);
    std::swap(t.operand_slots, t.held_slots);
  }
  if (bounds_ == Bounds::plain) t.held_fillings = 0;
  t.sum_fillings = fills.sums + t.posts + b.out_fills * (through_array() + turn);
  t.sum_slots = slots(hw::Buffer::accumulator);
  t.output_fillings = t.posts + t.stores + b.out_fills * (kPostLatency + turn);
  t.output_slots = slots(hw::Buffer::output);
}

/// A lower bound of the energy: counts as count() has them for full packs, each at its price, and
/// the leakage of `cycles`.
double GemmBound::least_picojoules(const ProductTraffic& b, const PixelOption& m,
                                   const ChannelOption& c, const OutputOption& n,
                                   double cycles) const {
  const hw::EnergyConfig& e = hw_.energy;
  const double rows = real(packs_) * real(p_.op.m()), k = real(groups_ * p_.op.k());
  const double outputs = real(groups_ * p_.op.outputs);
  const bool input = dataflow_ == hw::Dataflow::input_stationary;
  const bool held_sums = dataflow_ == hw::Dataflow::output_stationary;
  const double a_reads = rows * k * (input ? real(n.chunks) : real(n.blocks));
  const double w_reads = real(p_.op.k()) * outputs * real(packs_) *
                         real(dataflow_ == hw::Dataflow::weight_stationary ? m.tiles : m.blocks);
  const double written = rows * outputs * real(held_sums ? c.chunks : c.passes);
  const auto at = [&](hw::Buffer buffer) { return e.buffer_byte[static_cast<size_t>(buffer)]; };
  const auto memory = [&](const Place& place, bool reads) {
    const hw::Memory at = hw_.memory(place.memory);
    return reads ? at.read_byte : at.write_byte;
  };
  // Each sum is read as often as it is written: all but once to accumulate, once by the post unit.
  return rows * k * outputs * e.mean_mac() +
         at(hw::Buffer::activation) * (b.a + a_reads * real(p_.a_bytes)) +
         at(hw::Buffer::weight) * (b.w + w_reads * p_.weight_size()) +
         at(hw::Buffer::parameter) * (b.parameters + (p_.epilogue.table ? rows * outputs : 0)) +
         at(hw::Buffer::accumulator) * 2 * written * real(hw_.accumulator_bytes()) +
         at(hw::Buffer::output) * 2 * b.out + memory(p_.a, true) * b.a +
         (b.staged > 0 ? e.shared_byte * (b.w + b.staged) + e.dram_read_byte * b.staged
                       : memory(p_.b, true) * b.w) +
         memory(p_.parameters, true) * b.parameters + memory(p_.out, false) * b.out +
         e.static_per_cycle * cycles;
}

int64_t GemmBound::least_cycles(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                                const OutputOption& n) const {
  return static_cast<int64_t>(cycle_bound(bound_times(tiling, m, c, n)) * kSafe);
}

Candidate GemmBound::operator()(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                                const OutputOption& n, const ObjectiveFunction& objective) const {
  const ProductTraffic b = traffic_of(tiling, m, c, n);
  const double least = cycle_bound(bound_times(tiling, b, m, c, n)) * kSafe;
  Candidate out{.tiling = tiling,
                .bound = static_cast<int64_t>(least),
                .traffic = static_cast<int64_t>(b.a + b.w + b.staged + b.parameters + b.out)};
  // Slack asks for energy where cycles leave something to choose from: energy_traffic().
  const bool by_energy =
      objective.quantity == Objective::energy || objective.quantity == Objective::edp;
  out.score_bound = primary_score(objective, out.bound,
                                  by_energy ? least_picojoules(b, m, c, n, least) * kSafe : 0,
                                  static_cast<int64_t>(dram_bytes(b)));
  return out;
}

double GemmBound::energy_traffic_bound(const Candidate& of, const PixelOption& m,
                                       const ChannelOption& c, const OutputOption& n,
                                       const ObjectiveFunction& objective) const {
  const ProductTraffic b = traffic_of(of.tiling, m, c, n);
  return sim::energy_traffic(objective, least_picojoules(b, m, c, n, real(of.bound)) * kSafe,
                             dram_bytes(b));
}

}  // namespace accsim::sim
