#pragma once
#include "hw/random/lane_tile_drawer.h"
#include "hw/random/product_drawer.h"
#include "hw/random/row_tile_drawer.h"

namespace accsim::hw {

/// Draws tiles that go from slots to slots: those that compute, of three kinds, and copies.
class TileDrawer {
 public:
  static constexpr int64_t kKinds = 11;  ///< of those that compute, as often as they come

  TileDrawer(const HwConfig& hw, Dataflow dataflow, Dice dice, TensorDrawer& tensors)
      : hw_(hw),
        dice_(dice),
        loads_(hw, dice, tensors),
        stores_(dice, tensors),
        products_(hw, dataflow, dice, loads_, stores_),
        lanes_(hw, dice, loads_, stores_),
        rows_(hw, dice, loads_, stores_) {}

  /// One that computes: 0 .. kKinds - 1.
  void compute_tile(const TileText& to, int64_t kind);
  /// Of products, with up to so many gemms over a group's sums.
  void multiply_tile(const TileText& to, int64_t most_passes) {
    products_.draw_tile(to, most_passes);
  }
  /// Loads so many bytes into an output slot, and stores them.
  void copy_tile(const TileText& to, int64_t bytes);
  /// The same of a few bytes.
  void copy_tile(const TileText& to);

  LoadDrawer& loads() { return loads_; }
  StoreDrawer& stores() { return stores_; }
  bool has_rows() const { return rows_.has_rows(); }

 private:
  const HwConfig& hw_;
  const Dice dice_;
  LoadDrawer loads_;
  StoreDrawer stores_;
  ProductDrawer products_;
  LaneTileDrawer lanes_;
  RowTileDrawer rows_;
};

}  // namespace accsim::hw
