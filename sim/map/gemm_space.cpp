#include "sim/map/gemm_space.h"

#include <algorithm>

#include "hw/program/contract.h"

namespace accsim {
namespace {

using contract::kArrayLatency;
using contract::kPostLatency;
using contract::kTokenLatency;

class Space {
 public:
  Space(const GemmProblem& p, const HwConfig& hw, const MappingPin& pin)
      : p_(p), hw_(hw), pin_(pin) {}

  std::vector<Candidate> run(const std::vector<Dataflow>& dataflows) {
    const std::vector<PixelCut> cuts = pixel_cuts();
    for (const Dataflow d : dataflows) {
      std::vector<PixelOption> pixels;
      for (const PixelCut& cut : cuts) pixels.push_back(pixel_option(d, cut));
      for (const int64_t groups : pinned_or(pin_.groups, p_.most_groups, pack_sizes())) {
        groups_ = groups;
        const auto channels = channel_options();
        const auto outputs = output_options();
        for (const PixelOption& m : pixels)
          for (const ChannelOption& c : channels)
            for (const OutputOption& n : outputs) add(d, m, c, n);
      }
    }
    return sorted();
  }

 private:
  /// By bound, then traffic, then as enumerated; keys are sorted, candidates moved once.
  std::vector<Candidate> sorted() const {
    struct Key {
      int64_t bound, traffic;
      size_t place;
      auto operator<=>(const Key&) const = default;
    };
    std::vector<Key> keys(out_.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = {out_[i].bound, out_[i].traffic, i};
    std::sort(keys.begin(), keys.end());
    std::vector<Candidate> out;
    out.reserve(keys.size());
    for (const Key& key : keys) out.push_back(out_[key.place]);
    return out;
  }

  // ---- options per dimension ------------------------------------------------------------------

  static std::vector<int64_t> pinned_or(const std::vector<int64_t>& pinned, int64_t most,
                                        std::vector<int64_t> sizes) {
    if (pinned.empty()) return sizes;
    std::vector<int64_t> out;
    for (int64_t size : pinned) out.push_back(std::min(size, most));
    return out;
  }

  /// Multiples of `unit` that cover `length` in the tile_sizes() numbers of parts.
  static std::vector<int64_t> unit_sizes(int64_t length, int64_t unit) {
    std::vector<int64_t> out;
    for (int64_t units : tile_sizes(ceil_div(length, unit)))
      out.push_back(std::min(length, units * unit));
    return out;
  }

  /// As many groups as fit the array, and halves of that: smaller packs hold fewer zeros.
  std::vector<int64_t> pack_sizes() const {
    std::vector<int64_t> out;
    for (int64_t groups = p_.most_groups; groups > 0; groups /= 2) out.push_back(groups);
    return out;
  }

  /// Sizes of a pixel tile with the segments that they cut the output into.
  struct PixelCut {
    int64_t images, lines, pixels;
    Segments i, z, y, x;
  };

  static Segments segments(const Slide& slide, int64_t tile) {
    Segments out;
    split(slide, tile, out);
    return out;
  }

  std::vector<PixelCut> pixel_cuts() const {
    const GemmOp& op = p_.op;
    const bool planar = op.in[0] == 1 && op.out[0] == 1 && op.kernel[0] == 1;
    const auto z = segments(p_.z, 1);
    const auto all_images = pinned_or(pin_.images, op.images, tile_sizes(op.images));
    const auto all_pixels = pinned_or(pin_.pixels, p_.x.out, tile_sizes(p_.x.out));
    std::vector<PixelCut> out;
    for (int64_t lines : pinned_or(pin_.lines, p_.y.out, tile_sizes(p_.y.out))) {
      const auto y = segments(p_.y, lines);
      for (int64_t pixels : all_pixels) {
        if (lines > 1 && pixels < p_.x.out) continue;
        for (int64_t images : all_images) {
          if (images > 1 && (!planar || lines < p_.y.out || pixels < p_.x.out)) continue;
          out.push_back({images, lines, pixels, segments({.in = op.images, .out = op.images}, images),
                         z, y, segments(p_.x, pixels)});
        }
      }
    }
    return out;
  }

  PixelOption pixel_option(Dataflow d, const PixelCut& cut) const {
    PixelOption o{.images = cut.images, .lines = cut.lines, .pixels = cut.pixels};
    const auto &i = cut.i, &z = cut.z, &y = cut.y, &x = cut.x;
    const int64_t planes = total_count(z);
    o.tiles = total_count(i) * planes * total_count(y) * total_count(x);
    o.input_pixels = p_.op.images * total_input(z) * total_input(y) * total_input(x);
    o.first_input =
        i.front().size * z.front().in_size * y.front().in_size * x.front().in_size;
    o.last_rows = i.back().size * y.back().size * x.back().size;
    const PixelBlock b = pixel_block(hw_, {.dataflow = d, .images = cut.images,
                                           .lines = cut.lines, .pixels = cut.pixels});
    for (const Segment& si : i)
      for (const Segment& sy : y)
        for (const Segment& sx : x) {
          const int64_t rows = si.size * sy.size * sx.size;
          const int64_t times = planes * si.count * sy.count * sx.count;
          o.stream_rows += times * std::max(rows, hw_.array.rows);
          o.short_rows |= rows < hw_.array.rows;
          o.blocks += times * ceil_div(si.size, b.images) * ceil_div(sy.size, b.lines) *
                      ceil_div(sx.size, b.pixels);
        }
    return o;
  }

  /// Multiples of the array's rows; under a kernel, whose positions fill the rows too, also less.
  std::vector<int64_t> channel_sizes(int64_t all) const {
    std::vector<int64_t> out = unit_sizes(all, hw_.array.rows);
    if (p_.kernel() > 1)
      for (int64_t size = out.back() / 2; size > 0; size /= 2) out.push_back(size);
    return out;
  }

  std::vector<ChannelOption> channel_options() const {
    const int64_t all = groups_ * p_.op.channels;
    std::vector<int64_t> sizes = {all};
    if (groups_ == 1) sizes = pinned_or(pin_.channels, all, channel_sizes(all));
    std::vector<ChannelOption> out;
    for (int64_t size : sizes) {
      ChannelOption o{.channels = size};
      const auto chunks = split(all, size);
      o.chunks = total_count(chunks);
      o.first = chunks.front().size;
      for (const Segment& s : chunks)
        o.passes += s.count * accsim::passes(p_, hw_, s.size, pin_.im2col).total();
      out.push_back(o);
    }
    return out;
  }

  std::vector<OutputOption> output_options() const {
    const int64_t all = groups_ * p_.op.outputs;
    std::vector<int64_t> sizes = {all};
    if (groups_ == 1) sizes = pinned_or(pin_.outputs, all, unit_sizes(all, hw_.array.cols));
    std::vector<OutputOption> out;
    for (int64_t size : sizes) {
      OutputOption o{.outputs = size};
      const auto chunks = split(all, size);
      o.chunks = total_count(chunks);
      o.first = chunks.front().size;
      o.last = chunks.back().size;
      for (const Segment& s : chunks) {
        o.blocks += s.count * ceil_div(s.size, hw_.array.cols);
        o.stream_columns += s.count * std::max(s.size, hw_.array.cols);
      }
      out.push_back(o);
    }
    return out;
  }

  // ---- combinations ------------------------------------------------------------------------------

  void add(Dataflow d, const PixelOption& m, const ChannelOption& c, const OutputOption& n) {
    Tiling t{.dataflow = d, .images = m.images, .lines = m.lines, .pixels = m.pixels,
             .groups = groups_, .outputs = n.outputs, .channels = c.channels, .im2col = pin_.im2col};
    if (!fits(footprint(p_, hw_, t), hw_)) return;
    const std::vector<bool> orders =
        pin_.outputs_outer.empty() ? std::vector<bool>{false, true} : pin_.outputs_outer;
    for (const bool outputs_outer : orders) {
      if (outputs_outer && n.chunks == 1 && pin_.outputs_outer.empty()) continue;
      t.outputs_outer = outputs_outer;
      out_.push_back(bound(t, m, c, n));
    }
  }

  const ChannelConfig& channel(const Place& place) const {
    return place.memory == Memory::dram ? hw_.dram : hw_.shared.channel;
  }

  /// Least cycles the load queue is busy with `bytes` of an operand.
  int64_t load_cycles(const Place& from, Buffer to, int64_t bytes) const {
    return std::max(channel(from).read.cycles(bytes), ceil_div(bytes, hw_.buffer(to).width));
  }

  int64_t packs() const { return p_.op.batch / groups_; }

  int64_t execute_cycles(Dataflow d, const PixelOption& m, const ChannelOption& c,
                         const OutputOption& n) const {
    // Full packs only; a ragged last pack adds at least one pass, which the slack below covers.
    switch (d) {
      case Dataflow::weight_stationary:
        return packs() * m.stream_rows * n.blocks * c.passes -
               (m.short_rows ? hw_.array.rows : 0);
      case Dataflow::input_stationary:
        return packs() * m.blocks * n.stream_columns * c.passes - hw_.array.cols;
      case Dataflow::output_stationary:
        return packs() * p_.op.m() * n.blocks * c.passes;
    }
    return 0;
  }

  Candidate bound(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                  const OutputOption& n) const {
    const GemmOp& op = p_.op;
    const bool a_again = c.chunks > 1 || (t.outputs_outer && m.tiles > 1);
    const bool w_again = c.chunks > 1 || (!t.outputs_outer && n.chunks > 1);
    const bool a_once = op.a_shared && m.tiles == 1 && c.chunks == 1;
    const bool w_once = op.b_shared && n.chunks == 1 && c.chunks == 1;
    const int64_t pixels = t.im2col ? op.m() * p_.kernel() : m.input_pixels;
    const int64_t a_bytes = (a_once ? 1 : op.batch) * pixels * op.channels * p_.a_bytes *
                            (a_again ? n.chunks : 1);
    const int64_t w_bytes = (w_once ? 1 : packs() * groups_) * groups_ * op.k() * op.outputs *
                            p_.b_bytes * (w_again ? m.tiles : 1);
    const int64_t p_bytes =
        p_.has_parameters ? p_.pixel_outputs() * p_.parameter_bytes : 0;
    const int64_t out_bytes = op.batch * op.m() * op.outputs * p_.out_bytes;

    const int64_t loads = load_cycles(p_.a, Buffer::activation, a_bytes) +
                          load_cycles(p_.b, Buffer::weight, w_bytes) +
                          load_cycles(p_.parameters, Buffer::parameter, p_bytes);
    const int64_t stores = std::max(channel(p_.out).write.cycles(out_bytes),
                                    ceil_div(out_bytes, hw_.buffer(Buffer::output).width));
    const int64_t start = start_cycles(m, c, n);
    const int64_t end = end_cycles(t.dataflow, m, n);
    const int64_t execute = execute_cycles(t.dataflow, m, c, n);
    return {t,
            std::max({start + execute + end, loads + load_latency(),
                      start + stores + channel(p_.out).latency}),
            a_bytes + w_bytes + p_bytes + out_bytes};
  }

  /// Until the first pass can stream: its weights and its activations have come.
  int64_t start_cycles(const PixelOption& m, const ChannelOption& c, const OutputOption& n) const {
    const int64_t taps = pin_.im2col ? p_.kernel() : 1;
    const int64_t first_pixels = pin_.im2col ? m.images * m.lines * m.pixels : m.first_input;
    const int64_t a = first_pixels * taps * c.first * p_.a_bytes;
    const int64_t w = p_.kernel() * c.first * n.first * p_.b_bytes;
    return load_cycles(p_.b, Buffer::weight, w) + load_cycles(p_.a, Buffer::activation, a) +
           load_latency() + kTokenLatency;
  }

  /// Least time between the end of the last load's occupancy and its data.
  int64_t load_latency() const {
    return std::min({channel(p_.a).latency, channel(p_.b).latency,
                     channel(p_.parameters).latency});
  }

  /// From the last streamed row to the last byte in memory.
  int64_t end_cycles(Dataflow d, const PixelOption& m, const OutputOption& n) const {
    if (p_.op.batch % groups_ != 0) return 0;
    const int64_t rows = d == Dataflow::input_stationary
                             ? n.last * ceil_div(m.last_rows, hw_.array.cols)
                             : m.last_rows * ceil_div(n.last, hw_.array.cols);
    const int64_t bytes = m.last_rows * n.last * p_.out_bytes;
    return contract::skew(hw_.array) + kArrayLatency + kTokenLatency + rows + kPostLatency +
           kTokenLatency + channel(p_.out).write.cycles(bytes) + channel(p_.out).latency;
  }

  const GemmProblem& p_;
  const HwConfig& hw_;
  const MappingPin& pin_;
  int64_t groups_ = 1;  ///< of the candidates being enumerated
  std::vector<Candidate> out_;
};

}  // namespace

std::vector<Candidate> candidates(const GemmProblem& p, const HwConfig& hw,
                                  const std::vector<Dataflow>& dataflows, const MappingPin& pin) {
  return Space(p, hw, pin).run(dataflows);
}

}  // namespace accsim
