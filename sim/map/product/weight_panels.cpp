#include "sim/map/product/weight_panels.h"

#include <algorithm>

namespace accsim::sim {
namespace {

/// In how many dimensions of the output there is more than one tile.
int looping_dimensions(const GemmProblem& p, const Tiling& t) {
  return int{p.op.images > t.images} + int{p.z.out > 1} + int{p.y.out > t.lines} +
         int{p.x.out > t.pixels};
}

/// Each region has its share of the room, so that those of all products of a network have room
/// together.
bool fits_room(const WeightPanels& w, const GemmProblem& p) {
  return w.region_bytes <= p.room / static_cast<int64_t>(hw::kMostRegions);
}

/// Of as many weight tiles of a panel, regions with equally many.
WeightPanels regions_of(int64_t tiles, int64_t tile_bytes) {
  WeightPanels w;
  w.tiles = tiles;
  w.each = ceil_div(tiles, std::min<int64_t>(tiles, hw::kMostRegions));
  w.regions = ceil_div(tiles, w.each);
  w.region_bytes = w.each * tile_bytes;
  return w;
}

int64_t tile_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  return weight_tile_bytes(p, hw, t, t.channels, t.outputs);
}

}  // namespace

bool may_stage(const GemmProblem& p) {
  return p.room > 0 && p.op.batch == 1 && p.a.memory == hw::MemoryId::dram &&
         p.b.memory == hw::MemoryId::dram && (p.b.constant || p.kernel_taps() == 1);
}

int64_t staged_outputs(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                       int64_t most) {
  if (!may_stage(p) || t.groups > 1 || t.im2col || t.outputs_outer) return 0;
  if (looping_dimensions(p, t) != 1) return 0;  // the tiles of pixels that pass by
  const int64_t bytes = tile_bytes(p, hw, t);
  if (t.channels < p.op.channels) {
    const WeightPanels w = regions_of(ceil_div(p.op.channels, t.channels), bytes);
    return fits_room(w, p) && t.outputs <= most ? t.outputs : 0;
  }
  // A residual comes between a tile of outputs and the next: a region is left right behind its last
  // load of weights.
  if (p.residual) return 0;
  const int64_t chunks = ceil_div(p.op.outputs, t.outputs);
  // A last tile may be narrower.
  int64_t tiles = std::min(p.room / bytes, most >= p.op.outputs ? chunks : most / t.outputs);
  while (tiles >= 2) {
    tiles = ceil_div(chunks, ceil_div(chunks, tiles));
    if (fits_room(regions_of(tiles, bytes), p)) break;
    --tiles;
  }
  return tiles < 2 ? 0 : std::min(p.op.outputs, tiles * t.outputs);
}

WeightPanels weight_panels(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  const bool by_channels = t.channels < p.op.channels;
  WeightPanels w =
      regions_of(by_channels ? ceil_div(p.op.channels, t.channels) : ceil_div(t.staged, t.outputs),
                 tile_bytes(p, hw, t));
  w.by_channels = by_channels;
  w.panels = ceil_div(p.op.outputs, t.staged);
  w.last_outputs = p.op.outputs - (w.panels - 1) * t.staged;
  return w;
}

bool staged_in_blocks(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  const int64_t cols = hw.array.cols;
  return !p.b.constant && !p.b_encoding.is_packed() && !weights_n_major(p) &&
         t.dataflow != hw::Dataflow::input_stationary && hw.dram_model == hw::DramModel::ideal &&
         p.op.outputs % cols == 0 && t.outputs % cols == 0;
}

RegionPart region_part(const GemmProblem& p, const Tiling& t, const WeightPanels& w, int64_t region,
                       int64_t outputs) {
  RegionPart part{.outputs = outputs, .channels = p.op.channels};
  part.first_tile = region * w.each;
  int64_t& first = w.by_channels ? part.first_channel : part.first_output;
  int64_t& size = w.by_channels ? part.channels : part.outputs;
  const int64_t tile = w.by_channels ? t.channels : t.outputs;
  first = part.first_tile * tile;
  size = std::min(size - first, w.each * tile);
  return part;
}

RegionSource region_source(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                           const WeightPanels& w, const RegionPart& part, int64_t outputs) {
  const int64_t b = p.b_bytes(), k = p.op.k();
  if (p.b_encoding.is_packed()) {
    const int64_t before = w.by_channels ? weight_tile_bytes(p, hw, t, t.channels, outputs)
                                         : weight_chunk_bytes(p, hw, t, t.outputs);
    int64_t bytes = 0;
    if (w.by_channels) {
      for (const Segment& s : split(part.channels, t.channels))
        bytes += s.count * weight_tile_bytes(p, hw, t, s.size, outputs);
    } else {
      for (const Segment& s : split(part.outputs, t.outputs))
        bytes += s.count * weight_chunk_bytes(p, hw, t, s.size);
    }
    return {{{}, bytes}, part.first_tile * before};
  }
  const int64_t weights = p.kernel_taps() * part.channels * part.outputs;
  if (p.b.constant)
    return {{{}, weights * b},
            (part.first_output * k + part.first_channel * p.kernel_taps() * outputs) * b};
  RegionSource out;
  if (weights_n_major(p)) {
    out.offset = (part.first_output * k + part.first_channel) * b;
    out.walk = {{{part.outputs, k * b}}, part.channels * b};
  } else {
    const int64_t run = staged_in_blocks(p, hw, t) ? hw.array.cols : part.outputs;
    out.offset = (part.first_channel * p.op.outputs + part.first_output) * b;
    out.walk = {{{part.outputs / run, run * b}, {part.channels, p.op.outputs * b}}, run * b};
  }
  out.walk.merge();
  return out;
}

}  // namespace accsim::sim
