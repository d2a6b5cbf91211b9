#include "sim/map/tile_segments.h"

#include <algorithm>

#include "sim/base/units.h"

namespace accsim::sim {

InlineVector<Segment, 2> split(int64_t length, int64_t tile) {
  const auto segment = [tile](int64_t start, int64_t count, int64_t size) {
    return Segment{.start = start,
                   .count = count,
                   .step = tile,
                   .size = size,
                   .in_start = start,
                   .in_step = tile,
                   .in_size = size,
                   .origin = 0};
  };
  InlineVector<Segment, 2> out;
  const int64_t whole = length / tile, rest = length - whole * tile;
  if (whole > 0) out.push_back(segment(0, whole, tile));
  if (rest > 0) out.push_back(segment(whole * tile, 1, rest));
  return out;
}

void split(const Slide& slide, int64_t tile, Segments& to) {
  const auto at = [&](int64_t index) {
    Segment s;
    s.start = index * tile;
    s.step = tile;
    s.size = std::min(tile, slide.out - s.start);
    const int64_t first = s.start * slide.stride - slide.pad;
    // A tile that lies in the padding alone still reads one (unused) element.
    s.in_start = std::clamp<int64_t>(first, 0, slide.in - 1);
    const int64_t end =
        std::clamp<int64_t>(first + slide.input_reach(s.size), s.in_start + 1, slide.in);
    s.in_size = end - s.in_start;
    s.in_step = tile * slide.stride;
    s.origin = first - s.in_start;
    return s;
  };
  const size_t before = to.size();
  const auto append = [&](const Segment& s) {
    Segment* last = to.size() > before ? &to.back() : nullptr;
    if (last && last->size == s.size && last->in_size == s.in_size && last->origin == s.origin)
      last->count += s.count;
    else
      to.push_back(s);
  };
  const int64_t tiles = ceil_div(slide.out, tile), pace = tile * slide.stride;
  // Tiles [low, high) are whole and read no padding: one segment.
  const int64_t low = std::min(tiles, ceil_div(slide.pad, pace));
  const int64_t room = slide.in + slide.pad - slide.input_reach(tile);
  const int64_t high =
      room < 0 ? low : std::clamp(room / pace + 1, low, std::max(low, slide.out / tile));
  for (int64_t i = 0; i < low; ++i) append(at(i));
  if (high > low) {
    Segment inside = at(low);
    inside.count = high - low;
    append(inside);
  }
  for (int64_t i = high; i < tiles; ++i) append(at(i));
}

int64_t total_input(std::span<const Segment> segments) {
  int64_t sum = 0;
  for (const Segment& s : segments) sum += s.in_size * s.count;
  return sum;
}

int64_t total_count(std::span<const Segment> segments) {
  int64_t sum = 0;
  for (const Segment& s : segments) sum += s.count;
  return sum;
}

}  // namespace accsim::sim
