#include "sim/map/product/gemm_options.h"

#include <algorithm>
#include <numeric>

#include "hw/program/contract.h"

namespace accsim::sim {

std::vector<int64_t> tile_sizes(int64_t length, int64_t unit, int64_t most) {
  std::vector<int64_t> out;
  // The largest value of ceil(length / j) up to a limit belongs to j = ceil(length / limit).
  const auto next = [&](int64_t limit) { return ceil_div(length, ceil_div(length, limit)); };
  for (int64_t size = length == 0 ? 0 : next(std::min(length, most)); size >= 1;
       size = next(size - 1)) {
    out.push_back(size);
    if (size == 1) break;
  }
  if (unit == 1) return out;
  for (const int64_t units :
       tile_sizes(ceil_div(length, unit), 1, std::max(most / unit, int64_t{1})))
    if (units * unit <= std::min(length, most)) out.push_back(units * unit);
  std::sort(out.begin(), out.end(), std::greater<>());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

namespace {

std::vector<int64_t> pinned_or(const std::vector<int64_t>& pinned, int64_t most,
                               std::vector<int64_t> sizes) {
  if (pinned.empty()) return sizes;
  std::vector<int64_t> out;
  for (const int64_t size : pinned) out.push_back(std::min(size, most));
  return out;
}

/// Elements of so many bytes that a slot of the buffer holds, at least 1: of a vast dimension most
/// tiles are larger.
int64_t most_in_slot(const hw::HwConfig& hw, hw::Buffer buffer, int64_t bytes) {
  return std::max<int64_t>(hw.buffer(buffer).slot_bytes() / bytes, 1);
}

Segments window_segments(const Slide& slide, int64_t tile) {
  Segments out;
  split(slide, tile, out);
  return out;
}

/// Adds up one pixel tiling; segments of each dimension.
PixelOption pixel_option(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                         std::span<const Segment> z, std::span<const Segment> y,
                         std::span<const Segment> x) {
  const auto i = split(p.op.images, t.images);
  const auto span = [](const Slide& s, int64_t tile) {
    return std::min(s.in, s.input_reach(tile));
  };
  PixelOption o{.images = t.images, .lines = t.lines, .pixels = t.pixels};
  o.rows = t.images * t.lines * t.pixels;
  o.span = t.images * span(p.z, 1) * span(p.y, t.lines) * span(p.x, t.pixels);
  const int64_t planes = total_count(z);
  o.tiles = total_count(i) * planes * total_count(y) * total_count(x);
  o.input_pixels = p.op.images * total_input(z) * total_input(y) * total_input(x);
  o.first_input = i.front().size * z.front().in_size * y.front().in_size * x.front().in_size;
  o.first_rows = i.front().size * y.front().size * x.front().size;
  o.last_rows = i.back().size * y.back().size * x.back().size;
  const int64_t lanes = pixel_lanes(hw, t.dataflow);
  o.tile_blocks = ceil_div(o.rows, lanes);
  const int64_t fill =
      hw::contract::template_of(hw.array).preload_cycles(hw.array, hw::Dataflow::weight_stationary);
  for (const Segment& si : i)
    for (const Segment& sy : y)
      for (const Segment& sx : x) {
        const int64_t rows = si.size * sy.size * sx.size;
        const int64_t times = planes * si.count * sy.count * sx.count;
        o.stream_rows += times * std::max(rows, fill);
        o.short_rows |= rows < fill;
        o.blocks += times * ceil_div(rows, lanes);
      }
  return o;
}

}  // namespace

std::vector<int64_t> pack_sizes(const GemmProblem& p, const MappingPin& pin) {
  std::vector<int64_t> out;
  for (int64_t groups = p.most_groups; groups > 0; groups /= 2) out.push_back(groups);
  // Packs of one size, without a narrower last one.
  for (int64_t groups = p.most_groups; groups > 1 && groups * 8 >= p.most_groups; --groups)
    if (p.op.batch % groups == 0 && std::find(out.begin(), out.end(), groups) == out.end())
      out.push_back(groups);
  return pinned_or(pin.groups, p.most_groups, std::move(out));
}

std::vector<PixelOption> pixel_options(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d,
                                       const MappingPin& pin) {
  const GemmOp& op = p.op;
  const bool planar = op.in[0] == 1 && op.out[0] == 1 && op.kernel[0] == 1;
  const Segments z = window_segments(p.z, 1);
  // A tile's results lie in an output slot.
  const int64_t most = most_in_slot(hw, hw::Buffer::output, p.out_bytes);
  // Tiles of whole blocks of pixels leave no lanes idle.
  const auto sizes = [&](int64_t length, int64_t pixels) {
    const int64_t lanes = pixel_lanes(hw, d);
    const bool by_lanes = d == hw::Dataflow::output_stationary;
    return tile_sizes(length, by_lanes ? lanes / std::gcd(lanes, pixels) : 1, most);
  };
  const auto all_images = pinned_or(pin.images, op.images, sizes(op.images, p.y.out * p.x.out));
  const auto all_pixels = pinned_or(pin.pixels, p.x.out, sizes(p.x.out, 1));
  std::vector<Segments> x;
  for (const int64_t pixels : all_pixels) x.push_back(window_segments(p.x, pixels));
  std::vector<PixelOption> out;
  for (const int64_t lines : pinned_or(pin.lines, p.y.out, sizes(p.y.out, p.x.out))) {
    const Segments y = window_segments(p.y, lines);
    for (size_t i = 0; i < all_pixels.size(); ++i) {
      const int64_t pixels = all_pixels[i];
      if (lines > 1 && pixels < p.x.out) continue;
      for (const int64_t images : all_images) {
        if (images > 1 && (!planar || lines < p.y.out || pixels < p.x.out)) continue;
        const Tiling t{.dataflow = d, .images = images, .lines = lines, .pixels = pixels};
        out.push_back(pixel_option(p, hw, t, z, y, x[i]));
      }
    }
  }
  return out;
}

std::vector<ChannelOption> channel_options(const GemmProblem& p, const hw::HwConfig& hw,
                                           int64_t groups, const MappingPin& pin) {
  const int64_t all = groups * p.op.channels;
  std::vector<int64_t> sizes = {all};
  // Of one pixel they lie in a slot of activations.
  const int64_t most = most_in_slot(hw, hw::Buffer::activation, p.a_bytes);
  if (groups == 1) sizes = pinned_or(pin.channels, all, tile_sizes(all, hw.array.rows, most));
  if (p.scale_count() > 1) {  // a tile for each scale; what is pinned differently has none
    const bool other = !pin.channels.empty() && pin.channels.front() != p.scale_group;
    sizes.clear();
    if (!other) sizes.push_back(p.scale_group);
  }
  std::vector<ChannelOption> out;
  for (const int64_t size : sizes) {
    ChannelOption o{.channels = size};
    const auto chunks = split(all, size);
    o.chunks = total_count(chunks);
    o.first = chunks.front().size;
    o.last = chunks.back().size;
    for (const Segment& s : chunks) {
      o.last_passes = sim::array_passes(p, hw, s.size, pin.im2col).pass_count();
      o.passes += s.count * o.last_passes;
      o.beats += s.count * ceil_div(s.size * p.a_bytes, hw.buffer(hw::Buffer::activation).width);
    }
    out.push_back(o);
  }
  return out;
}

std::vector<OutputOption> output_options(const GemmProblem& p, const hw::HwConfig& hw,
                                         int64_t groups, const MappingPin& pin) {
  const int64_t all = groups * p.op.outputs;
  std::vector<int64_t> sizes = {all};
  // Those of one pixel lie in an output slot.
  const int64_t most = most_in_slot(hw, hw::Buffer::output, p.out_bytes);
  if (groups == 1) sizes = pinned_or(pin.outputs, all, tile_sizes(all, hw.array.cols, most));
  std::vector<OutputOption> out;
  for (const int64_t size : sizes) {
    OutputOption o{.outputs = size};
    const auto chunks = split(all, size);
    o.chunks = total_count(chunks);
    o.first = chunks.front().size;
    o.last = chunks.back().size;
    o.first_blocks = ceil_div(o.first, hw.array.cols);
    o.last_blocks = ceil_div(o.last, hw.array.cols);
    for (const Segment& s : chunks) {
      o.blocks += s.count * ceil_div(s.size, hw.array.cols);
      o.stream_columns += s.count * std::max(s.size, hw.array.cols);
      o.beats += s.count * ceil_div(s.size * p.out_bytes, hw.buffer(hw::Buffer::output).width);
    }
    out.push_back(o);
  }
  return out;
}

}  // namespace accsim::sim
