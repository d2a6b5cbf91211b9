#pragma once
#include "hw/random/load_drawer.h"
#include "hw/random/store_drawer.h"

namespace accsim::hw {

struct DrawnProduct;

/// Draws tiles of products: weights of all widths and packs, sums of groups, scales, tables and
/// residuals, in output slots that are primed ahead of the sums or behind them.
class ProductDrawer {
 public:
  ProductDrawer(const HwConfig& hw, Dataflow dataflow, Dice dice, LoadDrawer& loads,
                StoreDrawer& stores)
      : hw_(hw), dataflow_(dataflow), dice_(dice), loads_(loads), stores_(stores) {}

  /// A tile of up to `most_passes` gemms over the sums of each group.
  void draw_tile(const TileText& to, int64_t most_passes);

 private:
  DrawnProduct draw_product() const;
  void draw_groups(DrawnProduct& p) const;
  void prime_slot(const TileText& to, const DrawnProduct& p);
  void draw_sums(const TileText& to, const DrawnProduct& p, bool has_weights);
  void draw_results(const TileText& to, const DrawnProduct& p);
  Epilogue draw_epilogue(const DrawnProduct& p) const;
  Residual draw_residual() const;
  int64_t bytes_of_slot(Buffer b) const { return hw_.buffer(b).slot_bytes(); }

  const HwConfig& hw_;
  const Dataflow dataflow_;
  const Dice dice_;
  LoadDrawer& loads_;
  StoreDrawer& stores_;
};

}  // namespace accsim::hw
