#pragma once
#include <algorithm>
#include <array>
#include <memory_resource>
#include <optional>

#include "sim/map/product/gemm_problem.h"
#include "sim/map/program_description.h"

namespace accsim::sim {

/// One tile as the array sees it: what the slots hold and how far the reduction has come.
struct TileShape {
  Segment image, z, y, x;  ///< output pixels and the input they read
  int64_t outputs = 0;     ///< columns over all packed groups
  int64_t channels = 0;    ///< channels over all packed groups
  int64_t groups = 1;      ///< packed groups
  /// Loops over channel tiles around it, and is it of a later segment of them, which never
  /// overwrites? Of several scales the sums of each are rows of their own, and these say nothing.
  LoopSet channel_loops;
  bool accumulate = false;

  int64_t pixel_count() const { return image.size * y.size * x.size; }
};

/// The dimensions that a product's tile loops run over.
enum TileDim : uint8_t { kBatch, kImage, kZ, kY, kX, kN, kC, kTileDims };
/// A set of them, by dim_bit().
using TileDimSet = unsigned;
/// The set of one.
inline TileDimSet dim_bit(TileDim d) { return 1U << d; }

/// The tile loops of one tiling: their order, how each dimension is cut, and where they stand.
template <class Address>
class TileNest {
 public:
  /// Where the current iteration stands in one dimension.
  struct Position {
    Segment segment;
    Address start, in_start;
    bool later = false;       ///< not in the first segment
    std::optional<int> loop;  ///< the loop around it, if there is one
  };

  /// On the first tile. Problem and tiling must outlive it.
  TileNest(const GemmProblem& p, const Tiling& t) : p_(p), t_(t) {
    order_ = {kBatch, kImage, kZ, kY, kX, kN, kC};
    if (t.outputs_outer) order_ = {kBatch, kN, kImage, kZ, kY, kX, kC};
    cut_dimensions();
    rewind_from(0);
  }

  /// From the outermost loop, 0, to kTileDims, which is inside them all.
  TileDim dim_at(size_t depth) const { return order_[depth]; }
  const Segments& segments_of(TileDim d) const { return segments_[d]; }
  const Position& at(TileDim d) const { return at_[d]; }
  const Segment& segment_at(TileDim d) const { return at_[d].segment; }

  /// The level at which an operand that depends on `dims` is loaded: inside the innermost of those
  /// loops that really loops.
  size_t level_of(TileDimSet dims) const {
    size_t level = 0;
    for (size_t i = 0; i < order_.size(); ++i)
      if ((dims & dim_bit(order_[i])) != 0 && total_count(segments_[order_[i]]) > 1) level = i + 1;
    return level;
  }

  /// Goes to a segment of the dimension at `depth`, and in those inside to their first tiles.
  void enter(size_t depth, const Segment& s, const Address& start, int loop) {
    const TileDim d = order_[depth];
    Position& p = at_[d];
    p = {s, start, Address(s.in_start), s.start > 0, std::nullopt};
    if (loop >= 0) {
      p.loop = loop;
      p.in_start.add_term(loop, s.in_step);
    }
    if (d == kBatch) cut_groups(s.size);
    rewind_from(depth + 1);
  }

  /// Puts dimensions on their first tiles: what a load outside their loops sees when there is one
  /// tile only.
  void rewind_from(size_t depth) {
    for (size_t i = depth; i < order_.size(); ++i) {
      const Segment& first = segments_[order_[i]].front();
      at_[order_[i]] = {first, Address(first.start), Address(first.in_start), false, std::nullopt};
    }
  }

  /// Has only so many outputs from now on.
  void cut_outputs(int64_t outputs) {
    segments_[kN].clear();
    for (const Segment& s : split(outputs, t_.outputs)) segments_[kN].push_back(s);
  }

  /// Makes the first and the last tile of the innermost dimension of pixels that loops stand alone,
  /// and returns it.
  TileDim part_first_and_last_pixels() {
    TileDim inner = kX;
    for (const TileDim d : {kImage, kZ, kY, kX})
      if (total_count(segments_[d]) > 1) inner = d;
    Segments& s = segments_[inner];
    if (s.front().count > 1) s.insert(s.begin(), take_from(s.front(), true));
    if (s.back().count > 1) s.push_back(take_from(s.back(), false));
    return inner;
  }

  TileShape current_tile() const {
    TileShape t;
    t.image = segment_at(kImage);
    t.z = segment_at(kZ);
    t.y = segment_at(kY);
    t.x = segment_at(kX);
    t.outputs = segment_at(kN).size;
    t.channels = segment_at(kC).size;
    t.groups = segment_at(kBatch).size;
    if (p_.scale_count() > 1) return t;
    if (at_[kC].loop) t.channel_loops.push_back(*at_[kC].loop);
    t.accumulate = at_[kC].later;
    return t;
  }

  /// Byte offset of the batch entry in a tensor of [batch][pixel][channel], or of the group's
  /// channels within a pixel.
  Address batch_offset(int64_t channels, int64_t pixels, int64_t bytes) const {
    return at_[kBatch].start * (p_.op.grouped ? channels * bytes : channels * pixels * bytes);
  }

 private:
  /// Cuts every dimension; channels and outputs are those of as many groups as a pack holds.
  void cut_dimensions() {
    const auto length = [&](TileDim d, int64_t all, int64_t tile) {
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
    cut_outputs(groups * p_.op.outputs);
    segments_[kC].clear();
    for (const Segment& s : split(groups * p_.op.channels, t_.channels)) segments_[kC].push_back(s);
  }

  /// The first or last tile of a run, which is left without it.
  static Segment take_from(Segment& run, bool front) {
    Segment one = run;
    one.count = 1;
    --run.count;
    Segment& behind = front ? run : one;
    const int64_t tiles = front ? 1 : run.count;
    behind.start += tiles * run.step;
    behind.in_start += tiles * run.in_step;
    return one;
  }

  const GemmProblem& p_;
  const Tiling& t_;
  std::array<TileDim, kTileDims> order_;
  std::array<Position, kTileDims> at_;
  std::array<std::byte, 8192> memory_;  // of the segments; more only for very large paddings
  std::pmr::monotonic_buffer_resource pool_{memory_.data(), memory_.size()};
  std::array<Segments, kTileDims> segments_{Segments(&pool_), Segments(&pool_), Segments(&pool_),
                                            Segments(&pool_), Segments(&pool_), Segments(&pool_),
                                            Segments(&pool_)};
  int64_t cut_for_ = 0;  ///< groups that channels and outputs are cut for
};

}  // namespace accsim::sim
