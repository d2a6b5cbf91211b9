#pragma once
#include "hw/random/lane_drawer.h"
#include "hw/random/load_drawer.h"
#include "hw/random/store_drawer.h"

namespace accsim::hw {

/// Draws tiles of one or two lane commands from one activation slot to one output slot.
class LaneTileDrawer {
 public:
  LaneTileDrawer(const HwConfig& hw, Dice dice, LoadDrawer& loads, StoreDrawer& stores)
      : hw_(hw), dice_(dice), lanes_(hw, dice), loads_(loads), stores_(stores) {}

  /// A tile; nothing when no command fits.
  void draw_tile(const TileText& to);

 private:
  std::vector<LaneCommand> draw_commands(int64_t table, SlotRoom& taken, int64_t& channels) const;

  const HwConfig& hw_;
  const Dice dice_;
  const LaneDrawer lanes_;
  LoadDrawer& loads_;
  StoreDrawer& stores_;
};

}  // namespace accsim::hw
