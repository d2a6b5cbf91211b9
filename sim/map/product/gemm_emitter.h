#pragma once
#include <array>
#include <optional>

#include "sim/map/product/activation_loads.h"
#include "sim/map/product/panel_walk.h"
#include "sim/map/product/pass_emitter.h"

namespace accsim::sim {

/// Writes the loop nest of one tiling: tile loops outside, loads hoisted to the outermost loop that
/// they don't depend on, array passes inside.
template <class Sink>
class GemmEmitter {
 public:
  GemmEmitter(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, Sink& sink)
      : p_(p), hw_(hw), t_(t), sink_(sink), nest_(p, t) {
    // Regions lie behind all other tensors.
    if (t.staged > 0)
      panels_.emplace(p, hw, t, nest_, sink,
                      PanelTensors{kTensorW, residual_tensor() + (p.residual ? 1 : 0)});
    TileDimSet a = dim_bit(kImage) | dim_bit(kZ) | dim_bit(kY) | dim_bit(kX) | dim_bit(kC);
    TileDimSet w = dim_bit(kN) | dim_bit(kC), table = dim_bit(kN);
    if (!p.op.a_shared) a |= dim_bit(kBatch);
    if (!p.op.b_shared) w |= dim_bit(kBatch);
    if (p.op.grouped) table |= dim_bit(kBatch);
    if (shares_parameters(p, t.dataflow)) table = 0;
    load_level_ = {nest_.level_of(w), nest_.level_of(a), nest_.level_of(table)};
  }

  void write_program() {
    sink_.add_tensor(p_.a, p_.a_tensor_bytes());
    sink_.add_tensor(p_.b, weight_tensor_bytes(p_, hw_, t_));
    sink_.add_tensor(p_.out, p_.out_tensor_bytes());
    if (p_.has_parameters) sink_.add_tensor(p_.parameters, p_.all_parameters());
    if (p_.residual) sink_.add_tensor(*p_.residual, p_.out_tensor_bytes());
    if (!panels_) return write_level(0);
    panels_->add_regions();
    panels_->for_panels([&] { write_level(0); });
  }

 private:
  using Address = typename Sink::Address;
  enum Operand { kW, kA, kP, kOperands };
  /// Constants first: they needn't wait for the layers before.
  static constexpr std::array kLoadOrder = {kW, kP, kA};
  /// Staged weights last: what is staged takes turns with loads from DRAM, of which one is first.
  static constexpr std::array kStagedOrder = {kP, kA, kW};
  const auto& load_order() const { return panels_ ? kStagedOrder : kLoadOrder; }
  enum TensorIndex { kTensorA, kTensorW, kTensorOut, kTensorP };
  /// Behind the parameters, or in their place.
  int residual_tensor() const { return p_.has_parameters ? kTensorP + 1 : kTensorP; }

  // ---- tile loops ------------------------------------------------------------------------------

  void write_level(size_t depth) {
    for (Operand o : load_order()) {
      if (o == kP && depth == 0 && p_.epilogue.table && is_first_panel()) take_table();
      if (load_level_[o] == depth) load_operand(o);
    }
    if (depth == kTileDims) {
      const TileShape shape = nest_.current_tile();
      PassEmitter<Sink>(p_, hw_, t_, shape, nest_.at(kC).start, sink_).write_gemms();
    } else if (nest_.dim_at(depth) == kC) {
      add_sync(hw::SyncKind::wait_free, hw::Queue::execute, hw::Buffer::accumulator);
      write_dimension(depth);
      add_sync(hw::SyncKind::signal_full, hw::Queue::execute, hw::Buffer::accumulator);
      finish_tile();
    } else {
      write_dimension(depth);
    }
    for (Operand o : load_order())
      if (load_level_[o] == depth && (o != kP || p_.has_parameters))
        add_sync(hw::SyncKind::signal_free, queue_reading(o), buffer_of(o));
  }

  void write_dimension(size_t depth) {
    const TileDim d = nest_.dim_at(depth);
    if (!panels_ || d != panels_->staged_dim()) return write_tiles(depth, nest_.segments_of(d));
    panels_->for_regions([&](std::span<const Segment> tiles) { write_tiles(depth, tiles); });
  }

  void write_tiles(size_t depth, std::span<const Segment> segments) {
    constexpr std::array<std::string_view, kTileDims> kNames = {"batch", "image", "oz", "oy",
                                                                "ox",    "n",     "c"};
    const TileDim d = nest_.dim_at(depth);
    for_segments(sink_, kNames[d], segments, [&](const Segment& s, const Address& start, int loop) {
      nest_.enter(depth, s, start, loop);
      if (panels_) panels_->note_segment(d, s);
      write_level(depth + 1);
    });
  }

  bool is_first_panel() const { return !panels_ || panels_->is_first_panel(); }

  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }

  void finish_tile() {
    if (p_.residual) {
      add_sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::output);
      sink_.add_load(hw::Buffer::output, residual_tensor(), output_walk(),
                     [&](auto& c) { c.source = output_start(); });
      add_sync(hw::SyncKind::signal_primed, hw::Queue::load, hw::Buffer::output);
    }
    add_sync(hw::SyncKind::wait_full, hw::Queue::post, hw::Buffer::accumulator);
    add_sync(p_.residual ? hw::SyncKind::wait_primed : hw::SyncKind::wait_free, hw::Queue::post,
             hw::Buffer::output);
    const TileShape shape = nest_.current_tile();
    PassEmitter<Sink>(p_, hw_, t_, shape, 0, sink_).write_posts();
    add_sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::accumulator);
    add_sync(hw::SyncKind::signal_full, hw::Queue::post, hw::Buffer::output);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output);
    store_tile();
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output);
  }

  // ---- sizes and addresses of the current tile -----------------------------------------------

  Address outputs_before() const {
    const Address& start = nest_.at(kN).start;
    return panels_ ? panels_->first_output() + start : start;
  }
  int64_t output_count() const { return nest_.segment_at(kN).size; }

  static hw::Buffer buffer_of(Operand o) {
    return o == kA ? hw::Buffer::activation : o == kW ? hw::Buffer::weight : hw::Buffer::parameter;
  }
  static hw::Queue queue_reading(Operand o) {
    return o == kP ? hw::Queue::post : hw::Queue::execute;
  }

  void store_tile() {
    sink_.add_store(kTensorOut, output_walk(), [&](auto& c) { c.target = output_start(); });
  }

  /// Bytes from one pixel, line, plane and image of the output to the next.
  struct OutputPitch {
    int64_t pixel, line, plane, image;
  };
  OutputPitch output_pitch() const {
    const GemmOp& op = p_.op;
    const int64_t pixel = p_.pixel_outputs() * p_.out_bytes;
    const int64_t line = op.out[2] * pixel, plane = op.out[1] * line;
    return {pixel, line, plane, op.out[0] * plane};
  }
  hw::Walk output_walk() const {
    const OutputPitch to = output_pitch();
    hw::Walk walk{{{nest_.segment_at(kImage).size, to.image},
                   {nest_.segment_at(kY).size, to.line},
                   {nest_.segment_at(kX).size, to.pixel}},
                  output_count() * p_.out_bytes};
    return walk.merge();
  }
  Address output_start() const {
    const OutputPitch to = output_pitch();
    return nest_.batch_offset(p_.op.outputs, p_.op.m(), p_.out_bytes) +
           outputs_before() * p_.out_bytes + nest_.at(kImage).start * to.image +
           nest_.at(kZ).start * to.plane + nest_.at(kY).start * to.line +
           nest_.at(kX).start * to.pixel;
  }

  void load_operand(Operand o) {
    if (o == kP && !p_.has_parameters) return;
    if (o == kW && panels_) panels_->await_weights();
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, buffer_of(o));
    if (o == kA) ActivationLoads<Sink>(p_, t_, nest_, loads_of(o)).load_tile();
    if (o == kW) load_weights();
    if (o == kP) load_parameters();
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, buffer_of(o));
    add_sync(hw::SyncKind::wait_full, queue_reading(o), buffer_of(o));
  }

  int tensor_of(Operand o) const {
    constexpr std::array<int, kOperands> kTensor = {kTensorW, kTensorA, kTensorP};
    return o == kW && panels_ ? panels_->tensor() : kTensor[o];
  }
  TileLoads<Sink> loads_of(Operand o) const { return {hw_, sink_, buffer_of(o), tensor_of(o)}; }

  /// Once, in a slot of its own, behind operands that are loaded once.
  void take_table() {
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    loads_of(kP).load_plain({{}, hw::SetTableCommand::kBytes}, [&](auto& c) {
      c.source = p_.all_parameters() - hw::SetTableCommand::kBytes;
    });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
    add_sync(hw::SyncKind::wait_full, hw::Queue::post, hw::Buffer::parameter);
    sink_.set_table(hw::Queue::post);
    add_sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::parameter);
  }

  void load_parameters() {
    if (shares_parameters(p_, t_.dataflow)) {  // those of the first channels, for every tile
      const int64_t channels = parameter_channels(p_, hw_, t_.dataflow, t_.outputs);
      loads_of(kP).load_plain({{}, channels * p_.channel_parameters()},
                              [](auto& c) { c.source = 0; });
      return;
    }
    loads_of(kP).load_plain({{}, output_count() * p_.channel_parameters()}, [&](auto& c) {
      Address channel = outputs_before();
      if (p_.op.grouped) channel += nest_.at(kBatch).start * p_.op.outputs;
      c.source = channel * p_.channel_parameters();
    });
  }

  /// Bytes before the weights of the batch entry, or of the pack.
  Address batch_weights() const {
    if (p_.op.b_shared) return 0;
    const auto& batch = nest_.at(kBatch);
    if (t_.groups == 1) return batch.start * pack_weight_bytes(p_, 1);
    Address pack(batch.segment.start / t_.groups);
    if (batch.loop) pack.add_term(*batch.loop, 1);
    return pack * pack_weight_bytes(p_, t_.groups);
  }

  void load_weights() {
    const WeightTilePlace<Sink> place =
        panels_ ? panels_->weight_place()
                : WeightTilePlace<Sink>{p_.op.outputs,      p_.op.channels,     batch_weights(),
                                        nest_.at(kN).start, nest_.at(kC).start, false};
    WeightLoads<Sink>(p_, hw_, t_,
                      {nest_.segment_at(kBatch).size, output_count(), nest_.segment_at(kC).size},
                      place, loads_of(kW))
        .load_tile();
  }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const Tiling& t_;
  Sink& sink_;
  TileNest<Address> nest_;
  std::optional<PanelWalk<Sink>> panels_ = std::nullopt;
  std::array<size_t, kOperands> load_level_{};
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, Sink& to) {
  GemmEmitter(p, hw, t, to).write_program();
}

}  // namespace accsim::sim
