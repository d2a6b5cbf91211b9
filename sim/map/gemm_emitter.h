#pragma once
#include <algorithm>
#include <array>
#include <memory_resource>
#include <optional>

#include "hw/program/contract.h"
#include "sim/map/pass_emitter.h"

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
    cut();
    for (size_t i = 0; i < order_.size(); ++i) rewind(i);
    DimSet a = bit(kImage) | bit(kZ) | bit(kY) | bit(kX) | bit(kC);
    DimSet w = bit(kN) | bit(kC), table = bit(kN);
    if (!p.op.a_shared) a |= bit(kBatch);
    if (!p.op.b_shared) w |= bit(kBatch);
    if (p.op.grouped) table |= bit(kBatch);
    load_level_ = {level_of(w), level_of(a), level_of(table)};
  }

  void run() {
    const GemmOp& op = p_.op;
    const int64_t a_batches = op.grouped || op.a_shared ? 1 : op.batch;
    const int64_t out_batches = op.grouped ? 1 : op.batch;
    const int64_t a_pixels = a_batches * op.images * op.in[0] * op.in[1] * op.in[2];
    sink_.tensor(p_.a, a_pixels * p_.pixel_channels() * p_.a_bytes);
    sink_.tensor(p_.b, weight_tensor_bytes());
    sink_.tensor(p_.out, out_batches * op.m() * p_.pixel_outputs() * p_.out_bytes);
    if (p_.has_parameters) sink_.tensor(p_.parameters, p_.all_parameters());
    if (p_.residual)
      sink_.tensor(*p_.residual, out_batches * op.m() * p_.pixel_outputs() * p_.out_bytes);
    level(0);
  }

 private:
  using Address = typename Sink::Address;
  enum Dim { kBatch, kImage, kZ, kY, kX, kN, kC, kDims };
  using DimSet = unsigned;
  static DimSet bit(Dim d) { return 1U << d; }
  enum Operand { kW, kA, kP, kOperands };
  /// Constants first: they needn't wait for the layers before.
  static constexpr std::array kLoadOrder = {kW, kP, kA};
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
  void cut() {
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
      if ((dims & bit(order_[i])) != 0 && total_count(segments_[order_[i]]) > 1) level = i + 1;
    return level;
  }

  void level(size_t depth) {
    for (Operand o : kLoadOrder) {
      if (o == kP && depth == 0 && p_.table) take_table();
      if (load_level_[o] == depth) load(o);
    }
    if (depth == order_.size()) {
      const TileShape shape = tile();
      PassEmitter<Sink>(p_, hw_, t_, shape, at_[kC].start, sink_).gemms();
    } else if (order_[depth] == kC) {
      sync(hw::SyncKind::wait_free, hw::Queue::execute, hw::Buffer::accumulator);
      dimension(depth);
      sync(hw::SyncKind::signal_full, hw::Queue::execute, hw::Buffer::accumulator);
      finish();
    } else {
      dimension(depth);
    }
    for (Operand o : kLoadOrder)
      if (load_level_[o] == depth && (o != kP || p_.has_parameters))
        sync(hw::SyncKind::signal_free, reader(o), buffer(o));
  }

  void dimension(size_t depth) {
    constexpr std::array<std::string_view, kDims> kNames = {"batch", "image", "oz", "oy",
                                                            "ox",    "n",     "c"};
    const Dim d = order_[depth];
    for_segments(sink_, kNames[d], segments_[d],
                 [&](const Segment& s, const Address& start, int loop) {
                   Position& p = at_[d];
                   p = {s, start, Address(s.in_start), s.start > 0, std::nullopt};
                   if (loop >= 0) {
                     p.loop = loop;
                     p.in_start.add_term(loop, s.in_step);
                   }
                   if (d == kBatch) cut_groups(s.size);
                   for (size_t i = depth + 1; i < order_.size(); ++i) rewind(i);
                   level(depth + 1);
                 });
  }

  /// Puts a dimension on its first tile: what a load outside its loop sees when there is one tile
  /// only.
  void rewind(size_t depth) {
    const Segment& first = segments_[order_[depth]].front();
    at_[order_[depth]] = {first, Address(first.start), Address(first.in_start), false,
                          std::nullopt};
  }

  void sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) { sink_.sync(kind, queue, b); }

  TileShape tile() const {
    TileShape t;
    t.image = seg(kImage);
    t.z = seg(kZ);
    t.y = seg(kY);
    t.x = seg(kX);
    t.outputs = seg(kN).size;
    t.channels = seg(kC).size;
    t.groups = seg(kBatch).size;
    if (p_.scales() > 1) return t;
    if (at_[kC].loop) t.channel_loops.push_back(*at_[kC].loop);
    t.accumulate = at_[kC].later;
    return t;
  }

  void finish() {
    if (p_.residual) {
      sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::output);
      sink_.load(hw::Buffer::output, residual_tensor(), output_walk(),
                 [&](auto& c) { c.source = output_start(); });
      sync(hw::SyncKind::signal_primed, hw::Queue::load, hw::Buffer::output);
    }
    sync(hw::SyncKind::wait_full, hw::Queue::post, hw::Buffer::accumulator);
    sync(p_.residual ? hw::SyncKind::wait_primed : hw::SyncKind::wait_free, hw::Queue::post,
         hw::Buffer::output);
    const TileShape shape = tile();
    PassEmitter<Sink>(p_, hw_, t_, shape, 0, sink_).posts();
    sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::accumulator);
    sync(hw::SyncKind::signal_full, hw::Queue::post, hw::Buffer::output);
    sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output);
    store();
    sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output);
  }

  // ---- sizes and addresses of the current tile -----------------------------------------------

  const Segment& seg(Dim d) const { return at_[d].segment; }
  int64_t k() const { return p_.kernel() * seg(kC).size; }
  int64_t n() const { return seg(kN).size; }
  int64_t groups() const { return seg(kBatch).size; }

  static hw::Buffer buffer(Operand o) {
    return o == kA ? hw::Buffer::activation : o == kW ? hw::Buffer::weight : hw::Buffer::parameter;
  }
  static hw::Queue reader(Operand o) { return o == kP ? hw::Queue::post : hw::Queue::execute; }

  void store() {
    sink_.store(kTensorOut, output_walk(), [&](auto& c) { c.target = output_start(); });
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
    hw::Walk walk{{{seg(kImage).size, to.image}, {seg(kY).size, to.line}, {seg(kX).size, to.pixel}},
                  n() * p_.out_bytes};
    return walk.merge();
  }
  Address output_start() const {
    const OutputPitch to = output_pitch();
    return batch_offset(p_.op.outputs, p_.op.m(), p_.out_bytes, false) +
           at_[kN].start * p_.out_bytes + at_[kImage].start * to.image + at_[kZ].start * to.plane +
           at_[kY].start * to.line + at_[kX].start * to.pixel;
  }

  void load(Operand o) {
    if (o == kP && !p_.has_parameters) return;
    sync(hw::SyncKind::wait_free, hw::Queue::load, buffer(o));
    if (o == kA) load_activations();
    if (o == kW) load_weights();
    if (o == kP) load_parameters();
    sync(hw::SyncKind::signal_full, hw::Queue::load, buffer(o));
    sync(hw::SyncKind::wait_full, reader(o), buffer(o));
  }

  static constexpr std::array<int, kOperands> kTensor = {kTensorW, kTensorA, kTensorP};
  template <class Fill>
  void add_load(Operand o, hw::Walk walk, Fill fill) {
    sink_.load(buffer(o), kTensor[o], walk.merge(), fill);
  }

  /// Matrices of rows of `cols` elements, written as columns: through the transposer, or where it
  /// has nothing to turn or is too narrow, element by element.
  template <class Fill>
  void add_turned_load(Operand o, hw::Walk walk, hw::Walk::Level rows, int64_t cols,
                       int64_t element, Fill fill) {
    const int64_t side =
        hw::contract::transposer_side(hw_.array, hw_.buffer(buffer(o)).width, element);
    if (rows.count == 1 || cols == 1 || side == 0) {
      walk.levels.push_back({cols, element});
      walk.levels.push_back(rows);
      walk.run = element;
      return add_load(o, walk, fill);
    }
    walk.merge();
    walk.levels.push_back(rows);
    walk.run = cols * element;
    sink_.load(buffer(o), kTensor[o], walk, fill, element);
  }

  /// Once, in a slot of its own, behind operands that are loaded once.
  void take_table() {
    sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    add_load(kP, {{}, hw::SetTableCommand::kBytes},
             [&](auto& c) { c.source = p_.all_parameters() - hw::SetTableCommand::kBytes; });
    sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
    sync(hw::SyncKind::wait_full, hw::Queue::post, hw::Buffer::parameter);
    sink_.set_table(hw::Queue::post);
    sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::parameter);
  }

  void load_parameters() {
    add_load(kP, {{}, n() * p_.channel_parameters()}, [&](auto& c) {
      Address channel = at_[kN].start;
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
      return add_turned_load(
          kA, {}, {seg(kC).size, column}, seg(kX).in_size, p_.a_bytes, [&](auto& c) {
            c.source = base() + at_[kX].in_start * p_.a_bytes + at_[kC].start * column;
          });
    }
    const auto first = [=, this] {
      return base() + at_[kC].start * p_.a_bytes + at_[kImage].start * image;
    };
    const int64_t run = seg(kC).size * p_.a_bytes;
    if (t_.im2col) {
      const hw::Walk walk{{{seg(kImage).size, image},
                           {seg(kZ).size, p_.z.stride * plane},
                           {seg(kY).size, p_.y.stride * line},
                           {seg(kX).size, p_.x.stride * pixel},
                           {p_.z.kernel, p_.z.dilation * plane},
                           {p_.y.kernel, p_.y.dilation * line},
                           {p_.x.kernel, p_.x.dilation * pixel}},
                          run};
      return add_load(kA, walk, [&](auto& c) {
        const auto tap = [&](Dim d, const Slide& s, int64_t stride) {
          return (at_[d].start * s.stride + Address(-s.pad)) * stride;
        };
        c.source = first() + tap(kZ, p_.z, plane) + tap(kY, p_.y, line) + tap(kX, p_.x, pixel);
        c.padded = padded_window(image, {plane, line, pixel});
      });
    }
    add_load(kA,
             {{{seg(kImage).size, image},
               {seg(kZ).in_size, plane},
               {seg(kY).in_size, line},
               {seg(kX).in_size, pixel}},
              run},
             [&](auto& c) {
               c.source = first() + at_[kZ].in_start * plane + at_[kY].in_start * line +
                          at_[kX].in_start * pixel;
             });
  }

  hw::PaddedWindow padded_window(int64_t image, std::array<int64_t, 3> pitch) const {
    hw::PaddedWindow w;
    w.extent = p_.op.in;
    w.count = {seg(kZ).size, seg(kY).size, seg(kX).size};
    w.kernel = p_.op.kernel;
    w.stride = p_.op.stride;
    w.dilation = p_.op.dilation;
    w.pitch = pitch;
    for (size_t d = 0; d < 3; ++d)
      w.origin[d] = at_[std::array{kZ, kY, kX}[d]].start * w.stride[d] + Address(-p_.op.pad[d]);
    w.images = seg(kImage).size;
    w.image_pitch = image;
    w.tap = seg(kC).size * p_.a_bytes;
    w.pad_value = p_.a_zero;
    return w;
  }

  // ---- weights: the slot holds column blocks of [k][columns], or [n][k] for input stationary; of
  // packed groups only what isn't zero (hw::WeightTile) ------------------------------------------

  bool packed() const { return t_.groups > 1; }
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

  Address batch_weights() const {
    if (p_.op.b_shared) return 0;
    if (!packed()) return at_[kBatch].start * pack_weight_bytes(1);
    Address pack(at_[kBatch].segment.start / t_.groups);
    if (at_[kBatch].loop) pack.add_term(*at_[kBatch].loop, 1);
    return pack * pack_weight_bytes(t_.groups);
  }

  void load_weights() {
    const int64_t b = p_.b_bytes, full_k = p_.op.k();
    if (p_.b_bits == 4) return load_narrow_weights();
    if (p_.b.constant) {  // lies in the order of the tile loops
      return add_load(kW, {{}, k() * n() / groups() * b}, [&](auto& c) {
        c.source = batch_weights() + at_[kC].start * (p_.kernel() * n() * b);
        if (!packed()) c.source += at_[kN].start * (full_k * b);
      });
    }
    if (packed()) return load_packed_weights();
    // Lies as [k][n], or as [n][k].
    const bool n_major = weights_n_major(p_);
    const int64_t n_stride = n_major ? full_k * b : b;
    const int64_t k_stride = n_major ? b : p_.op.outputs * b;
    const int64_t taps = p_.kernel(), tap_stride = p_.op.channels * k_stride;
    const auto base = [&] {
      return batch_weights() + at_[kN].start * n_stride + at_[kC].start * k_stride;
    };
    if (t_.dataflow == hw::Dataflow::input_stationary) {
      const auto source = [&](auto& c) { c.source = base(); };
      if (!n_major)  // of one tap
        return add_turned_load(kW, {}, {seg(kC).size, k_stride}, n(), b, source);
      return add_load(kW, {{{n(), n_stride}, {taps, tap_stride}}, seg(kC).size * b}, source);
    }
    for (const Segment& s : split(n(), hw_.array.cols)) {
      const hw::Walk blocks{{{s.count, s.step * n_stride}, {taps, tap_stride}}, 0};
      const auto place = [&](auto& c) {
        c.source = base() + Address(s.start * n_stride);
        c.slot_offset = s.start * k() * b;
      };
      if (n_major) {
        add_turned_load(kW, blocks, {s.size, n_stride}, seg(kC).size, b, place);
        continue;
      }
      hw::Walk walk = blocks;
      walk.levels.push_back({seg(kC).size, k_stride});
      walk.run = s.size * b;
      add_load(kW, walk, place);
    }
  }

  /// Lies in the order of the tile loops, as the slot has it.
  void load_narrow_weights() {
    add_load(kW, {{}, weight_tile_bytes(p_, hw_, t_, seg(kC).size, n())}, [&](auto& c) {
      c.source =
          divide(at_[kN].start, t_.outputs) * weight_chunk_bytes(p_, hw_, t_, t_.outputs) +
          divide(at_[kC].start, t_.channels) * weight_tile_bytes(p_, hw_, t_, t_.channels, n());
    });
  }

  /// Lies as [group][n][k].
  void load_packed_weights() {
    const int64_t b = p_.b_bytes, k_bytes = p_.op.k() * b, block_k = p_.op.channels * b;
    const auto source = [&](auto& c) { c.source = batch_weights(); };
    if (t_.dataflow == hw::Dataflow::input_stationary)
      return add_load(kW, {{}, groups() * p_.op.outputs * k_bytes}, source);
    add_turned_load(kW, {{{p_.kernel(), block_k}, {groups(), p_.op.outputs * k_bytes}}, 0},
                    {p_.op.outputs, k_bytes}, p_.op.channels, b, source);
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
};

}  // namespace accsim::sim
