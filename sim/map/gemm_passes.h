#pragma once
#include <string_view>
#include <vector>

#include "sim/map/gemm_problem.h"

namespace accsim {

/// One tile as the array sees it: what the slots hold and how far the reduction has come.
struct TileShape {
  Segment image, z, y, x;         ///< output pixels and the input they read
  int64_t outputs = 0;            ///< columns over all packed groups
  int64_t channels = 0;           ///< channels over all packed groups
  int64_t groups = 1;             ///< packed groups
  std::vector<int> channel_loops; ///< loops over channel tiles around it
  bool accumulate = false;        ///< a later channel segment: never overwrites

  int64_t pixels() const { return image.size * y.size * x.size; }
};

/// Appends `inner` for every segment, in a loop where the segment repeats. `inner` gets the segment,
/// its affine start, the body to write to and the loop id (-1 without a loop).
template <class Inner>
void for_segments(int& loop_ids, std::string_view name, const std::vector<Segment>& segments,
                  std::vector<Item>& body, Inner inner) {
  for (const Segment& s : segments) {
    Affine start(s.start);
    if (s.count == 1) {
      inner(s, start, body, -1);
      continue;
    }
    Loop loop{loop_ids++, std::string(name), s.count, {}};
    start.terms.push_back({loop.id, s.step});
    inner(s, start, loop.body, loop.id);
    body.push_back({std::move(loop)});
  }
}

/// The array passes of one tile (GemmCommands and DrainCommands).
void emit_passes(const GemmProblem& p, const HwConfig& hw, const Tiling& t, const TileShape& tile,
                 int& loop_ids, std::vector<Item>& body);

/// The PostCommands that turn the tile's accumulator slot into an output slot of
/// [pixel][output channel].
void emit_posts(const GemmProblem& p, const HwConfig& hw, const Tiling& t, const TileShape& tile,
                int& loop_ids, std::vector<Item>& body);

}  // namespace accsim
