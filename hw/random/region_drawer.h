#pragma once
#include "hw/random/tile_drawer.h"

namespace accsim::hw {

/// Draws ways over regions: parts of memory that stages and stores fill, that stages and loads
/// empty, in turns.
class RegionDrawer {
 public:
  RegionDrawer(const HwConfig& hw, Dice dice, TensorDrawer& tensors, TileDrawer& tiles)
      : hw_(hw), dice_(dice), tensors_(tensors), tiles_(tiles) {}

  /// Parts that take a way over a chain of regions; those that fill one may be some slots ahead. A
  /// copy when there is no room for a region.
  void draw_parts(const TileText& to);

 private:
  /// Bytes of a region's slot.
  struct Room {
    int64_t at, bytes;
  };
  template <class Piece>
  void draw_pieces(int ring, int64_t bytes, Piece piece) const;
  int64_t stage_bytes(const TileText& to, int from, int target, int64_t bytes, Room room);
  int64_t store_bytes(const TileText& to, int ring, int64_t from, int64_t bytes, Room room);
  void fill_region(const TileText& to, int ring, int64_t bytes, bool staged);
  void pass_on(const TileText& to, int from, int ring, int64_t bytes);
  void stage_out(const TileText& to, int ring, int64_t bytes);
  void empty_region(const TileText& to, int ring, int64_t bytes, bool staged);
  void read_region(const TileText& to, int ring, int64_t bytes);
  void copy_twice(const TileText& to, int ring, int64_t bytes);

  const HwConfig& hw_;
  const Dice dice_;
  TensorDrawer& tensors_;
  TileDrawer& tiles_;
};

}  // namespace accsim::hw
