#include "sim/lower/lane_gather.h"

#include <algorithm>

#include "sim/lower/lane_geometry.h"
#include "sim/lower/nearest.h"
#include "sim/operators/fold.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// Results, or inputs, along an axis that windows slide over, at most: more is left to streams.
constexpr int64_t kMostPositions = int64_t{1} << 20;

LaneGather gather_of_rule(LaneRule rule) {
  switch (rule) {
    case LaneRule::reduce_sum:
      return LaneGather::sum;
    case LaneRule::pool_mean:
    case LaneRule::reduce_mean:
      return LaneGather::mean;
    case LaneRule::reduce_min:
      return LaneGather::min;
    case LaneRule::pool_max:
    case LaneRule::reduce_max:
      return LaneGather::max;
    default:
      return LaneGather::none;
  }
}

/// Elements in memory from one index of each dim to the next; nullopt where they aren't evenly
/// spaced.
std::optional<Strides> strides_of(const Dims& dims, const Layout& layout) {
  Strides out = row_major(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto pitch = pitch_of({dims[d], out[d]}, layout);
    if (!pitch) return std::nullopt;
    out[d] = *pitch;
  }
  return out;
}

std::optional<LaneWork> pooling_lanes(const NodeView& node, LaneRule rule, const Strides& in,
                                      const Strides& out) {
  const Dims& dims = node.output(0).dims;
  const Result<SlidingWindow> window = pool_window(node, false);
  if (!window) return std::nullopt;
  const auto attrs = window_attrs(node, window->rank);
  if (!attrs) return std::nullopt;
  const bool counts_pad = int_attr(node, "count_include_pad", 0) != 0;
  LaneWork work;
  work.gather = gather_of_rule(rule);
  std::vector<LaneDim> all;
  for (size_t d = 0; d < dims.size(); ++d) {
    all.push_back(LaneDim::of_strides(dims[d], out[d], in[d]));
    if (d < 2) continue;
    const size_t at = 3 - window->rank + d - 2;
    LaneSlide& s = all.back().slide;
    s = {node.dims(0)[d],      window->kernel[at], window->stride[at],
         window->dilation[at], window->pad[at],    0,
         node.dims(0)[d]};
    int64_t after = attrs->has_same_padding()
                        ? s.input_coordinate(dims[d] - 1, s.kernel - 1) + 1 - s.extent
                        : attrs->after[d - 2];
    if (counts_pad) {
      s.counted_from = -s.pad;
      s.counted_to = s.extent + std::max<int64_t>(0, after);
    }
    if (std::max(dims[d], s.extent) > kMostPositions) return std::nullopt;
    for (int64_t o = 0; o < dims[d]; ++o)
      if (s.taps_inside(o).count == 0) return std::nullopt;
  }
  return lane_axes(work, all);
}

bool is_reduced_dim(const OpRow& row, size_t dim, const std::vector<int64_t>& axes) {
  return row.kind == OpKind::pooling ? dim >= 2
                                     : std::ranges::binary_search(axes, static_cast<int64_t>(dim));
}

std::optional<LaneWork> reduction_lanes(const NodeView& node, const OpRow& row, const Strides& a,
                                        const Strides& out) {
  std::vector<int64_t> axes;
  if (row.kind != OpKind::pooling) {
    Result<std::vector<int64_t>> stated = reduced_axes(node);
    if (!stated) return std::nullopt;
    axes = std::move(*stated);
  }
  const Dims& in = node.dims(0);
  const bool keeps = in.size() == node.output(0).dims.size();
  LaneWork work;
  work.gather = gather_of_rule(row.lane);
  std::vector<LaneDim> all;
  for (size_t d = 0, o = 0; d < in.size(); ++d) {
    if (!is_reduced_dim(row, d, axes)) {
      all.push_back(LaneDim::of_strides(in[d], out[o++], a[d]));
      continue;
    }
    all.push_back({1, 1, a[d], 0, {.extent = in[d], .kernel = in[d], .counted_to = in[d]}});
    if (keeps) ++o;
  }
  return lane_axes(work, all);
}

std::optional<LaneWork> nearest_lanes(const NodeView& node, const Strides& a, const Strides& out) {
  const Dims& dims = node.output(0).dims;
  std::vector<LaneDim> all;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (std::max(dims[d], node.dims(0)[d]) > kMostPositions) return std::nullopt;
    const auto step = nearest_step(node, d);
    if (!step) return std::nullopt;
    const int64_t in = node.dims(0)[d];
    if (step->repeats > 1) {
      all.push_back(LaneDim::of_strides(in, out[d] * step->repeats, a[d]));
      all.push_back(LaneDim::of_strides(step->repeats, out[d], 0));
      continue;
    }
    all.push_back(LaneDim::of_strides(dims[d], out[d], a[d]));
    all.back().slide = {.extent = in, .stride = step->stride, .pad = -step->first};
    all.back().slide.counted_to = in;
  }
  return lane_axes({}, all);
}

}  // namespace

bool gathers(LaneRule rule) {
  return gather_of_rule(rule) != LaneGather::none || rule == LaneRule::nearest;
}

std::optional<LaneWork> gather_lanes(const NodeView& node, const OpRow& row, const Layout& in,
                                     const Layout& out) {
  const auto from = strides_of(node.dims(0), in), to = strides_of(node.output(0).dims, out);
  if (!from || !to) return std::nullopt;
  if (row.lane == LaneRule::nearest) return nearest_lanes(node, *from, *to);
  if (row.lane == LaneRule::pool_mean || row.lane == LaneRule::pool_max)
    return pooling_lanes(node, row.lane, *from, *to);
  return reduction_lanes(node, row, *from, *to);
}

}  // namespace accsim::sim
