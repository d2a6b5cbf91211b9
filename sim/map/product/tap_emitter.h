#pragma once
#include <algorithm>
#include <vector>

#include "sim/map/lanes/lane_commands.h"
#include "sim/map/product/tap_problem.h"
#include "sim/map/program_description.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program of a depthwise convolution on the lanes. For each tile of channels a
/// parameter slot holds a table, the channels' scales and their weights, tap by tap. Tiles of lines
/// and pixels pass by it: a load, lane commands, a store.
template <class Sink>
class TapEmitter {
 public:
  TapEmitter(const GemmProblem& p, const hw::HwConfig& hw, const TapTiling& t, Sink& sink)
      : p_(p), hw_(hw), t_(t), lanes_(tap_lanes(p, t)), sink_(sink) {
    split(p.y, t.lines, lines_);
    split(p.x, t.pixels, pixels_);
  }

  void write_program() {
    sink_.add_tensor(p_.a, p_.a_tensor_bytes());
    sink_.add_tensor(p_.b, p_.op.batch * p_.kernel_taps());
    sink_.add_tensor(p_.out, p_.out_tensor_bytes());
    sink_.add_tensor(p_.parameters, p_.all_parameters());
    const InlineVector<Segment, 2> channels = split(p_.op.batch, t_.channels);
    for_segments(sink_, "channels", std::span(channels.data(), channels.size()),
                 [&](const Segment& s, const Address& start, int) { of_channels(s, start); });
  }

 private:
  using Address = typename Sink::Address;
  enum TensorIndex { kTensorA, kTensorW, kTensorOut, kTensorP };
  static constexpr int64_t kScale = hw::LaneCommand::kChannelBytes;

  /// Where a tile begins in its tensors.
  struct At {
    Address in, out;
  };

  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }
  int64_t table_bytes() const { return p_.epilogue.table ? hw::SetTableCommand::kBytes : 0; }
  int64_t scale_bytes() const { return t_.repeats * channels_ * kScale; }

  void of_channels(const Segment& s, const Address& start) {
    channels_ = s.size;
    hold(start);
    const InlineVector<Segment, 2> images = split(p_.op.images, 1);
    const int64_t in = p_.y.in * p_.x.in * p_.op.batch, out = p_.y.out * p_.x.out * p_.op.batch;
    for_segments(sink_, "image", std::span(images.data(), images.size()),
                 [&](const Segment&, const Address& image, int) {
                   lines({image * in + start, image * out + start});
                 });
    add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

  /// Fills a parameter slot for a tile of channels. Weights that lie there several times are read
  /// as often.
  void hold(const Address& start) {
    const hw::Buffer to = hw::Buffer::parameter;
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, to);
    if (p_.epilogue.table)
      sink_.add_load(to, kTensorP, hw::Walk{{}, table_bytes()},
                     [&](auto& c) { c.source = p_.op.batch * kScale; });
    hw::Walk scales{{{t_.repeats, 0}}, channels_ * kScale};
    sink_.add_load(to, kTensorP, scales.merge(), [&](auto& c) {
      c.source = start * kScale;
      c.slot_offset = table_bytes();
    });
    hw::Walk weights{{{p_.kernel_taps(), channels_}, {t_.repeats, 0}}, channels_};
    sink_.add_load(to, kTensorW, weights.merge(), [&](auto& c) {
      c.source = start * p_.kernel_taps();
      c.slot_offset = table_bytes() + scale_bytes();
    });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, to);
    add_sync(hw::SyncKind::wait_full, hw::Queue::vector, to);
    if (p_.epilogue.table) sink_.set_table(hw::Queue::vector);
  }

  void lines(const At& at) {
    dimension("oy", lines_, p_.x.in * p_.op.batch, p_.x.out * p_.op.batch, at,
              [&](const Segment& y, const At& line) {
                dimension("ox", pixels_, p_.op.batch, p_.op.batch, line,
                          [&](const Segment& x, const At& pixel) { tile(y, x, pixel); });
              });
  }
  template <class Inner>
  void dimension(std::string_view name, const Segments& segments, int64_t in, int64_t out,
                 const At& at, Inner inner) {
    for_segments(sink_, name, std::span(segments.data(), segments.size()),
                 [&](const Segment& s, const Address& start, int loop) {
                   Address from(s.in_start);
                   if (loop >= 0) from.add_term(loop, s.in_step);
                   inner(s, {at.in + from * in, at.out + start * out});
                 });
  }

  void tile(const Segment& y, const Segment& x, const At& at) {
    const hw::Buffer to = hw::Buffer::activation, from = hw::Buffer::output;
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, to);
    sink_.add_load(to, kTensorA, box(y.in_size, p_.x.in, x.in_size),
                   [&](auto& c) { c.source = at.in; });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, to);
    add_sync(hw::SyncKind::wait_full, hw::Queue::vector, to);
    add_sync(hw::SyncKind::wait_free, hw::Queue::vector, from);
    const Segment channels{.size = channels_, .in_size = channels_};
    const std::vector<Segment> results{y, x, channels};
    const std::vector<Segment> weights{{.size = 1}, {.size = t_.repeats}, channels};
    for_lane_commands(lanes_, hw_, {results, weights, true}, [&](const LanePart& part) {
      sink_.add_lane(part.command, [&](auto& c) {
        c.a.offset = part.a;
        c.channel_offset = table_bytes() + part.b * kScale;
        c.b->offset = table_bytes() + scale_bytes() + part.b + part.weights;
        c.slot_offset = part.out;
      });
    });
    add_sync(hw::SyncKind::signal_free, hw::Queue::vector, to);
    add_sync(hw::SyncKind::signal_full, hw::Queue::vector, from);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, from);
    sink_.add_store(kTensorOut, box(y.size, p_.x.out, x.size), [&](auto& c) { c.target = at.out; });
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, from);
  }

  /// Pixels of lines of so many in memory, the channels of the tile of each.
  hw::Walk box(int64_t lines, int64_t line, int64_t pixels) const {
    hw::Walk w{{{lines, line * p_.op.batch}, {pixels, p_.op.batch}}, channels_};
    return w.merge();
  }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const TapTiling& t_;
  const LaneProblem lanes_;
  Sink& sink_;
  Segments lines_, pixels_;
  int64_t channels_ = 0;  ///< of the tile
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const GemmProblem& p, const hw::HwConfig& hw, const TapTiling& t, Sink& to) {
  TapEmitter(p, hw, t, to).write_program();
}

}  // namespace accsim::sim
