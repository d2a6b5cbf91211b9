#pragma once
#include "hw/random/lane_drawer.h"
#include "hw/random/load_drawer.h"
#include "hw/random/random_rows.h"
#include "hw/random/store_drawer.h"

namespace accsim::hw {

/// Draws tiles of up to three row commands, now and then with lane commands, from one activation
/// slot to one output slot.
class RowTileDrawer {
 public:
  RowTileDrawer(const HwConfig& hw, Dice dice, LoadDrawer& loads, StoreDrawer& stores)
      : hw_(hw), dice_(dice), lanes_(hw, dice), loads_(loads), stores_(stores) {}

  /// A tile; nothing when no command fits.
  void draw_tile(const TileText& to);
  /// Has there been a row command? Its parameters are to lie in their tensor then.
  bool has_rows() const { return has_rows_; }

 private:
  struct Tile {
    std::vector<Command> commands;
    std::vector<Item> loads;  ///< of their parameters
    SlotRoom taken;
    bool is_level = false;  ///< reads rows of nearly equal elements
  };
  Tile make_tile(const TileText& to);
  void load_parameters(const TileText& to, const RandomRows& rows, const SlotRoom& at);
  void fill_level(const TileText& to, int64_t bytes);

  const HwConfig& hw_;
  const Dice dice_;
  const LaneDrawer lanes_;
  LoadDrawer& loads_;
  StoreDrawer& stores_;
  bool has_rows_ = false;
};

}  // namespace accsim::hw
