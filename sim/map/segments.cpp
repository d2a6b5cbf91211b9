#include "sim/map/segments.h"

#include <algorithm>

#include "sim/base/units.h"

namespace accsim {

std::vector<Segment> split(int64_t length, int64_t tile) {
  return split(Slide{.in = length, .out = length}, tile);
}

std::vector<Segment> split(const Slide& slide, int64_t tile) {
  const auto at = [&](int64_t index) {
    Segment s;
    s.start = index * tile;
    s.step = tile;
    s.size = std::min(tile, slide.out - s.start);
    const int64_t first = s.start * slide.stride - slide.pad;
    // A tile that lies in the padding alone still reads one (unused) element.
    s.in_start = std::clamp<int64_t>(first, 0, slide.in - 1);
    const int64_t end = std::clamp<int64_t>(first + slide.reach(s.size), s.in_start + 1, slide.in);
    s.in_size = end - s.in_start;
    s.in_step = tile * slide.stride;
    s.origin = first - s.in_start;
    return s;
  };
  const int64_t tiles = ceil_div(slide.out, tile);
  const auto alike = [&](const Segment& a, const Segment& b) {
    return a.size == b.size && a.in_size == b.in_size && a.origin == b.origin;
  };
  std::vector<Segment> out;
  int64_t i = 0;
  while (i < tiles) {
    Segment s = at(i);
    // Clipping is monotone along the dimension, so the tiles alike are a run: find its end.
    int64_t low = 1, high = tiles - i;
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      if (alike(s, at(i + middle - 1)))
        low = middle;
      else
        high = middle - 1;
    }
    s.count = low;
    i += low;
    out.push_back(s);
  }
  return out;
}

std::vector<int64_t> tile_sizes(int64_t length) {
  std::vector<int64_t> out;
  const auto add = [&](int64_t parts) {
    const int64_t size = ceil_div(length, parts);
    if (out.empty() || out.back() != size) out.push_back(size);
  };
  add(1);
  for (int64_t parts = 2; parts < length; parts *= 2) {
    add(parts);
    add(parts + parts / 2);
  }
  if (out.back() != 1) out.push_back(1);
  return out;
}

int64_t total_input(const std::vector<Segment>& segments) {
  int64_t sum = 0;
  for (const Segment& s : segments) sum += s.in_size * s.count;
  return sum;
}

int64_t total_count(const std::vector<Segment>& segments) {
  int64_t sum = 0;
  for (const Segment& s : segments) sum += s.count;
  return sum;
}

}  // namespace accsim
