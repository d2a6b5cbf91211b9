#pragma once
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "sim/base/inline_vector.h"

namespace accsim::sim {

/// A run of `count` equal tiles along one dimension. Tile i covers outputs
/// [start + i * step, + size) and reads inputs [in_start + i * in_step, + in_size).
struct Segment {
  int64_t start = 0;
  int64_t count = 1;
  int64_t step = 0;
  int64_t size = 0;
  int64_t in_start = 0;
  int64_t in_step = 0;
  int64_t in_size = 0;
  int64_t origin = 0;  ///< tile coordinate of the first kernel tap; negative in the padding
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Tiles of a dimension in order, by runs of equal ones; in the memory resource of the caller's
/// choice.
using Segments = std::pmr::vector<Segment>;

/// [0, length) in tiles of `tile`, the last one ragged: at most two segments.
InlineVector<Segment, 2> split(int64_t length, int64_t tile);

/// How a window slides along one dimension.
struct Slide {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
  /// Input elements that `tile` outputs reach, unclipped.
  int64_t input_reach(int64_t tile) const {
    return (tile - 1) * stride + (kernel - 1) * dilation + 1;
  }
};

/// Appends [0, out) in tiles of `tile` with the input each tile reads clipped to [0, in): tiles
/// whose clipping differs (at the borders) get segments of their own.
void split(const Slide& slide, int64_t tile, Segments& to);

/// Sum of in_size over all tiles.
int64_t total_input(std::span<const Segment> segments);
/// Number of tiles.
int64_t total_count(std::span<const Segment> segments);

}  // namespace accsim::sim
