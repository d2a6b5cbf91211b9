#pragma once
#include <algorithm>
#include <array>
#include <memory_resource>
#include <optional>

#include "hw/program/contract.h"
#include "sim/map/product/pass_emitter.h"
#include "sim/map/product/weight_loads.h"
#include "sim/map/product/weight_panels.h"

namespace accsim::sim {

/// Writes the loop nest of one tiling: tile loops outside, loads hoisted to the outermost loop that
/// they don't depend on, array passes inside.
template <class Sink>
class GemmEmitter {
 public:
  GemmEmitter(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, Sink& sink)
      : p_(p), hw_(hw), t_(t), sink_(sink) {
    order_ = {kBatch, kImage, kZ, kY, kX, kN, kC};
    if (t.outputs_outer) order_ = {kBatch, kN, kImage, kZ, kY, kX, kC};
    cut_dimensions();
    if (t.staged > 0) cut_panels();
    for (size_t i = 0; i < order_.size(); ++i) rewind_dimension(i);
    DimSet a = dim_bit(kImage) | dim_bit(kZ) | dim_bit(kY) | dim_bit(kX) | dim_bit(kC);
    DimSet w = dim_bit(kN) | dim_bit(kC), table = dim_bit(kN);
    if (!p.op.a_shared) a |= dim_bit(kBatch);
    if (!p.op.b_shared) w |= dim_bit(kBatch);
    if (p.op.grouped) table |= dim_bit(kBatch);
    load_level_ = {level_of(w), level_of(a), level_of(table)};
  }

  void write_program() {
    sink_.add_tensor(p_.a, p_.a_tensor_bytes());
    sink_.add_tensor(p_.b, weight_tensor_bytes());
    sink_.add_tensor(p_.out, p_.out_tensor_bytes());
    if (p_.has_parameters) sink_.add_tensor(p_.parameters, p_.all_parameters());
    if (p_.residual) sink_.add_tensor(*p_.residual, p_.out_tensor_bytes());
    if (!panels_) return write_level(0);
    for (int64_t r = 0; r < panels_->regions; ++r) sink_.add_region(panels_->region_bytes);
    all_panels();
  }

 private:
  using Address = typename Sink::Address;
  enum Dim { kBatch, kImage, kZ, kY, kX, kN, kC, kDims };
  using DimSet = unsigned;
  static DimSet dim_bit(Dim d) { return 1U << d; }
  enum Operand { kW, kA, kP, kOperands };
  /// Constants first: they needn't wait for the layers before.
  static constexpr std::array kLoadOrder = {kW, kP, kA};
  /// Staged weights last: what is staged takes turns with loads from DRAM, of which one is first.
  static constexpr std::array kStagedOrder = {kP, kA, kW};
  const auto& load_order() const { return panels_ ? kStagedOrder : kLoadOrder; }
  enum TensorIndex { kTensorA, kTensorW, kTensorOut, kTensorP };
  /// Behind the parameters, or in their place.
  int residual_tensor() const { return p_.has_parameters ? kTensorP + 1 : kTensorP; }

  /// Where the current iteration stands in one dimension.
  struct Position {
    Segment segment;
    Address start, in_start;
    bool later = false;       ///< not in the first segment
    std::optional<int> loop;  ///< the loop around it, if there is one
  };

  // ---- tile loops ------------------------------------------------------------------------------

  /// Cuts every dimension; channels and outputs are those of as many groups as a pack holds.
  void cut_dimensions() {
    const auto length = [&](Dim d, int64_t all, int64_t tile) {
      for (const Segment& s : split(all, tile)) segments_[d].push_back(s);
    };
    length(kBatch, p_.op.batch, t_.groups);
    length(kImage, p_.op.images, t_.images);
    split(p_.z, 1, segments_[kZ]);
    split(p_.y, t_.lines, segments_[kY]);
    split(p_.x, t_.pixels, segments_[kX]);
    cut_groups(segments_[kBatch].front().size);
  }
  void cut_groups(int64_t groups) {
    if (groups == cut_for_) return;
    cut_for_ = groups;
    segments_[kN].clear();
    segments_[kC].clear();
    for (const Segment& s : split(groups * p_.op.outputs, t_.outputs)) segments_[kN].push_back(s);
    for (const Segment& s : split(groups * p_.op.channels, t_.channels)) segments_[kC].push_back(s);
  }

  /// The level at which an operand that depends on `dims` is loaded: inside the innermost of those
  /// loops that really loops.
  size_t level_of(DimSet dims) const {
    size_t level = 0;
    for (size_t i = 0; i < order_.size(); ++i)
      if ((dims & dim_bit(order_[i])) != 0 && total_count(segments_[order_[i]]) > 1) level = i + 1;
    return level;
  }

  void write_level(size_t depth) {
    for (Operand o : load_order()) {
      if (o == kP && depth == 0 && p_.table && panel_.first) take_table();
      if (load_level_[o] == depth) load_operand(o);
    }
    if (depth == order_.size()) {
      const TileShape shape = current_tile();
      PassEmitter<Sink>(p_, hw_, t_, shape, at_[kC].start, sink_).write_gemms();
    } else if (order_[depth] == kC) {
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
    if (panels_ && order_[depth] == staged_dim()) return staged_dimension(depth);
    write_dimension(depth, segments_[order_[depth]]);
  }

  void write_dimension(size_t depth, std::span<const Segment> segments) {
    constexpr std::array<std::string_view, kDims> kNames = {"batch", "image", "oz", "oy",
                                                            "ox",    "n",     "c"};
    const Dim d = order_[depth];
    for_segments(sink_, kNames[d], segments, [&](const Segment& s, const Address& start, int loop) {
      Position& p = at_[d];
      p = {s, start, Address(s.in_start), s.start > 0, std::nullopt};
      if (loop >= 0) {
        p.loop = loop;
        p.in_start.add_term(loop, s.in_step);
      }
      if (d == kBatch) cut_groups(s.size);
      if (panels_ && d == pass_dim_) {
        first_pass_ = s.start == 0;
        last_pass_ = s.start == segments_[d].back().start;
      }
      for (size_t i = depth + 1; i < order_.size(); ++i) rewind_dimension(i);
      write_level(depth + 1);
    });
  }

  /// Puts a dimension on its first tile: what a load outside its loop sees when there is one tile
  /// only.
  void rewind_dimension(size_t depth) {
    const Segment& first = segments_[order_[depth]].front();
    at_[order_[depth]] = {first, Address(first.start), Address(first.in_start), false,
                          std::nullopt};
  }

  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }

  TileShape current_tile() const {
    TileShape t;
    t.image = segment_of(kImage);
    t.z = segment_of(kZ);
    t.y = segment_of(kY);
    t.x = segment_of(kX);
    t.outputs = segment_of(kN).size;
    t.channels = segment_of(kC).size;
    t.groups = segment_of(kBatch).size;
    if (p_.scale_count() > 1) return t;
    if (at_[kC].loop) t.channel_loops.push_back(*at_[kC].loop);
    t.accumulate = at_[kC].later;
    return t;
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
    const TileShape shape = current_tile();
    PassEmitter<Sink>(p_, hw_, t_, shape, 0, sink_).write_posts();
    add_sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::accumulator);
    add_sync(hw::SyncKind::signal_full, hw::Queue::post, hw::Buffer::output);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output);
    store_tile();
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output);
  }

  // ---- panels of staged weights ----------------------------------------------------------------

  /// A panel as the loops over pixels pass it by.
  struct Panel {
    int64_t outputs = 0;
    Address start = 0;  ///< outputs before it
    int64_t next = 0;   ///< outputs of the next one; 0: it is the last
    bool first = true;
  };

  Dim staged_dim() const { return panels_->by_channels ? kC : kN; }
  int region_tensor(int64_t region) const {  // behind all others
    return residual_tensor() + (p_.residual ? 1 : 0) + static_cast<int>(region);
  }

  /// Outputs are cut within a panel; the first and the last tile of the pixels stand alone.
  void cut_panels() {
    panels_ = weight_panels(p_, hw_, t_);
    cut_panel(std::min(t_.staged, p_.op.outputs));
    for (const Dim d : {kImage, kZ, kY, kX})
      if (total_count(segments_[d]) > 1) pass_dim_ = d;
    Segments& s = segments_[pass_dim_];
    if (s.front().count > 1) s.insert(s.begin(), take_from(s.front(), true));
    if (s.back().count > 1) s.push_back(take_from(s.back(), false));
  }
  void cut_panel(int64_t outputs) {
    segments_[kN].clear();
    for (const Segment& s : split(outputs, t_.outputs)) segments_[kN].push_back(s);
  }
  /// The first or last tile of a run, which is left without it.
  static Segment take_from(Segment& run, bool front) {
    Segment one = run;
    one.count = 1;
    --run.count;
    Segment& behind = front ? run : one;
    const int64_t tiles = front ? 1 : run.count;
    behind.start += tiles * run.step;
    behind.in_start += tiles * run.in_step;
    return one;
  }

  void all_panels() {
    const int64_t size = t_.staged, last = panels_->last_outputs, count = panels_->panels;
    if (count == 1) return write_panel({.outputs = last});
    write_panel({.outputs = size, .next = count == 2 ? last : size});
    // Those whose next one is whole, then the one before a narrower last one.
    const int64_t alike = count - 2 - (last < size ? 1 : 0);
    const Segment middle{.start = size, .count = alike, .step = size, .size = size};
    if (alike > 0)
      for_segments(sink_, "panel", {&middle, 1}, [&](const Segment&, const Address& start, int) {
        write_panel({.outputs = size, .start = start, .next = size, .first = false});
      });
    if (count > 2 && last < size)
      write_panel({.outputs = size, .start = (count - 2) * size, .next = last, .first = false});
    write_panel({.outputs = last, .start = (count - 1) * size, .first = false});
  }

  void write_panel(const Panel& panel) {
    panel_ = panel;
    cut_panel(panel.outputs);
    for (size_t i = 0; i < order_.size(); ++i) rewind_dimension(i);
    write_level(0);
  }

  /// Weight tiles region by region. What the last pass has loaded for the last time makes room for
  /// the next panel's.
  void staged_dimension(size_t depth) {
    const Dim d = staged_dim();
    const int64_t tile = d == kC ? t_.channels : t_.outputs;
    const int64_t tiles = total_count(segments_[d]), end = segments_[d].back().start;
    for (region_ = 0; region_ * panels_->each < tiles; ++region_) {
      const int64_t first = region_ * panels_->each;
      const int64_t count = std::min(panels_->each, tiles - first);
      InlineVector<Segment, 3> run;  // on the first pass the first tile waits for the region
      const auto add = [&](int64_t from, int64_t number) {
        if (number <= 0) return;
        Segment s = segments_[d].front();
        if (from * tile == end) s = segments_[d].back();
        s.start = s.in_start = from * tile;
        s.count = number;
        run.push_back(s);
      };
      const int64_t alone = first_pass_ ? 1 : 0;
      const bool ragged = segments_[d].back().size < tile && first + count == tiles;
      add(first, alone);
      add(first + alone, count - alone - (ragged && count > alone ? 1 : 0));
      if (ragged && count > alone) add(tiles - 1, 1);
      write_dimension(depth, {run.data(), run.size()});
      if (last_pass_) leave_region();
    }
  }

  bool first_of_region() const {
    const int64_t tile = staged_dim() == kC ? t_.channels : t_.outputs;
    return at_[staged_dim()].segment.start == region_ * panels_->each * tile;
  }

  void leave_region() {
    region_sync(hw::SyncKind::signal_free, hw::Queue::load);
    if (panel_.next > 0) stage_panel(panel_.next, panel_.start + Address(t_.staged));
  }

  /// Brings a panel's part of the region into it.
  void stage_panel(int64_t outputs, const Address& start) {
    const RegionPart part = region_part(p_, t_, *panels_, region_, outputs);
    if (part.empty()) return;
    const RegionSource source = region_source(p_, hw_, t_, *panels_, part, outputs);
    region_sync(hw::SyncKind::wait_free, hw::Queue::stage);
    sink_.add_stage(kTensorW, region_tensor(region_), source.walk,
                    [&](auto& c) { c.source = panel_offset(start) + Address(source.offset); });
    region_sync(hw::SyncKind::signal_full, hw::Queue::stage);
  }

  /// Bytes of weights in DRAM before a panel.
  Address panel_offset(const Address& start) const {
    if (p_.b_bits == 4)
      return divide(start, t_.outputs) * weight_chunk_bytes(p_, hw_, t_, t_.outputs);
    return start * (p_.b.constant || weights_n_major(p_) ? p_.op.k() * p_.b_bytes : p_.b_bytes);
  }

  void region_sync(hw::SyncKind kind, hw::Queue queue) {
    sink_.region_sync(kind, queue, region_tensor(region_));
  }

  // ---- sizes and addresses of the current tile -----------------------------------------------

  const Segment& segment_of(Dim d) const { return at_[d].segment; }
  Address outputs_before() const { return panel_.start + at_[kN].start; }
  int64_t output_count() const { return segment_of(kN).size; }
  int64_t group_count() const { return segment_of(kBatch).size; }

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
    hw::Walk walk{{{segment_of(kImage).size, to.image},
                   {segment_of(kY).size, to.line},
                   {segment_of(kX).size, to.pixel}},
                  output_count() * p_.out_bytes};
    return walk.merge();
  }
  Address output_start() const {
    const OutputPitch to = output_pitch();
    return batch_offset(p_.op.outputs, p_.op.m(), p_.out_bytes, false) +
           outputs_before() * p_.out_bytes + at_[kImage].start * to.image +
           at_[kZ].start * to.plane + at_[kY].start * to.line + at_[kX].start * to.pixel;
  }

  void load_operand(Operand o) {
    if (o == kP && !p_.has_parameters) return;
    if (o == kW && panels_ && first_pass_ && first_of_region()) {
      if (panel_.first) stage_panel(panel_.outputs, panel_.start);
      region_sync(hw::SyncKind::wait_full, hw::Queue::load);
    }
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, buffer_of(o));
    if (o == kA) load_activations();
    if (o == kW) load_weights();
    if (o == kP) load_parameters();
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, buffer_of(o));
    add_sync(hw::SyncKind::wait_full, queue_reading(o), buffer_of(o));
  }

  int tensor_of(Operand o) const {
    constexpr std::array<int, kOperands> kTensor = {kTensorW, kTensorA, kTensorP};
    return o == kW && panels_ ? region_tensor(region_) : kTensor[o];
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
    loads_of(kP).load_plain({{}, output_count() * p_.channel_parameters()}, [&](auto& c) {
      Address channel = outputs_before();
      if (p_.op.grouped) channel += at_[kBatch].start * p_.op.outputs;
      c.source = channel * p_.channel_parameters();
    });
  }

  /// Byte offset of the batch entry in a tensor of [batch][pixel][channel], or of the group's
  /// channels within a pixel.
  Address batch_offset(int64_t channels, int64_t pixels, int64_t bytes, bool shared) const {
    if (shared) return 0;
    return at_[kBatch].start * (p_.op.grouped ? channels * bytes : channels * pixels * bytes);
  }

  void load_activations() {
    const GemmOp& op = p_.op;
    const int64_t pixel = p_.pixel_channels() * p_.a_bytes;
    const int64_t line = op.in[2] * pixel, plane = op.in[1] * line, image = op.in[0] * plane;
    const auto base = [=, this, &op] {
      return batch_offset(op.channels, op.images * op.in[0] * op.in[1] * op.in[2], p_.a_bytes,
                          op.a_shared);
    };
    if (op.a_transposed) {
      const int64_t column = op.in[2] * p_.a_bytes;
      return loads_of(kA).load_turned(
          {}, {segment_of(kC).size, column}, segment_of(kX).in_size, p_.a_bytes, [&](auto& c) {
            c.source = base() + at_[kX].in_start * p_.a_bytes + at_[kC].start * column;
          });
    }
    const auto first = [=, this] {
      return base() + at_[kC].start * p_.a_bytes + at_[kImage].start * image;
    };
    const int64_t run = segment_of(kC).size * p_.a_bytes;
    if (t_.im2col) {
      const hw::Walk walk{{{segment_of(kImage).size, image},
                           {segment_of(kZ).size, p_.z.stride * plane},
                           {segment_of(kY).size, p_.y.stride * line},
                           {segment_of(kX).size, p_.x.stride * pixel},
                           {p_.z.kernel, p_.z.dilation * plane},
                           {p_.y.kernel, p_.y.dilation * line},
                           {p_.x.kernel, p_.x.dilation * pixel}},
                          run};
      return loads_of(kA).load_plain(walk, [&](auto& c) {
        const auto tap = [&](Dim d, const Slide& s, int64_t stride) {
          return (at_[d].start * s.stride + Address(-s.pad)) * stride;
        };
        c.source = first() + tap(kZ, p_.z, plane) + tap(kY, p_.y, line) + tap(kX, p_.x, pixel);
        c.padded = padded_window(image, {plane, line, pixel});
      });
    }
    loads_of(kA).load_plain({{{segment_of(kImage).size, image},
                              {segment_of(kZ).in_size, plane},
                              {segment_of(kY).in_size, line},
                              {segment_of(kX).in_size, pixel}},
                             run},
                            [&](auto& c) {
                              c.source = first() + at_[kZ].in_start * plane +
                                         at_[kY].in_start * line + at_[kX].in_start * pixel;
                            });
  }

  hw::PaddedWindow padded_window(int64_t image, std::array<int64_t, 3> pitch) const {
    hw::PaddedWindow w;
    w.extent = p_.op.in;
    w.count = {segment_of(kZ).size, segment_of(kY).size, segment_of(kX).size};
    w.kernel = p_.op.kernel;
    w.stride = p_.op.stride;
    w.dilation = p_.op.dilation;
    w.pitch = pitch;
    for (size_t d = 0; d < 3; ++d)
      w.origin[d] = at_[std::array{kZ, kY, kX}[d]].start * w.stride[d] + Address(-p_.op.pad[d]);
    w.images = segment_of(kImage).size;
    w.image_pitch = image;
    w.tap = segment_of(kC).size * p_.a_bytes;
    w.pad_value = p_.a_zero;
    return w;
  }

  // ---- weights ---------------------------------------------------------------------------------

  int64_t pack_weight_bytes(int64_t groups) const {
    return groups * p_.op.k() * p_.op.outputs * p_.b_bytes;
  }
  int64_t weight_tensor_bytes() const {
    if (p_.b_bits == 4)
      return p_.op.outputs / t_.outputs * weight_chunk_bytes(p_, hw_, t_, t_.outputs) +
             weight_chunk_bytes(p_, hw_, t_, p_.op.outputs % t_.outputs);
    const int64_t batches = p_.op.b_shared ? 1 : p_.op.batch;
    return batches / t_.groups * pack_weight_bytes(t_.groups) +
           pack_weight_bytes(batches % t_.groups);
  }

  /// Bytes before the weights of the batch entry, or of the pack.
  Address batch_weights() const {
    if (p_.op.b_shared) return 0;
    if (t_.groups == 1) return at_[kBatch].start * pack_weight_bytes(1);
    Address pack(at_[kBatch].segment.start / t_.groups);
    if (at_[kBatch].loop) pack.add_term(*at_[kBatch].loop, 1);
    return pack * pack_weight_bytes(t_.groups);
  }

  /// Of the tensor, or of the region with a part of it.
  WeightTilePlace<Sink> weight_place() const {
    if (!panels_)
      return {p_.op.outputs, p_.op.channels, batch_weights(), at_[kN].start, at_[kC].start, false};
    const RegionPart part = region_part(p_, t_, *panels_, region_, panel_.outputs);
    return {part.outputs,
            part.channels,
            0,
            at_[kN].start + Address(-part.first_output),
            at_[kC].start + Address(-part.first_channel),
            staged_in_blocks(p_, hw_, t_)};
  }

  void load_weights() {
    const WeightTilePlace<Sink> place = weight_place();
    WeightLoads<Sink>(p_, hw_, t_, {group_count(), output_count(), segment_of(kC).size}, place,
                      loads_of(kW))
        .load_tile();
  }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const Tiling& t_;
  Sink& sink_;
  std::array<Dim, kDims> order_;
  std::array<Position, kDims> at_;
  std::array<size_t, kOperands> load_level_{};
  std::array<std::byte, 8192> memory_;  // of the segments; more only for very large paddings
  std::pmr::monotonic_buffer_resource pool_{memory_.data(), memory_.size()};
  std::array<Segments, kDims> segments_{Segments(&pool_), Segments(&pool_), Segments(&pool_),
                                        Segments(&pool_), Segments(&pool_), Segments(&pool_),
                                        Segments(&pool_)};
  int64_t cut_for_ = 0;  ///< groups that channels and outputs are cut for
  std::optional<WeightPanels> panels_ = std::nullopt;
  Panel panel_;
  int64_t region_ = 0;  ///< whose weight tiles are loaded now
  Dim pass_dim_ = kX;   ///< tiles of pixels that pass by a panel
  bool first_pass_ = false, last_pass_ = false;
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, Sink& to) {
  GemmEmitter(p, hw, t, to).write_program();
}

}  // namespace accsim::sim
