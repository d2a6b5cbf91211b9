#pragma once
#include "hw/random/tensor_drawer.h"

namespace accsim::hw {

/// Draws the loads that fill slots: in pieces, strided, transposed, gathered; from the tensors that
/// are read, or from a region that is full.
class LoadDrawer {
 public:
  LoadDrawer(const HwConfig& hw, Dice dice, TensorDrawer& tensors)
      : hw_(hw), dice_(dice), tensors_(tensors) {}

  /// Claims a slot and fills so many bytes of it; from the region that is to be read next, if there
  /// is one and it is large enough.
  void fill_slot(const TileText& to, Buffer b, int64_t bytes,
                 SyncKind signal = SyncKind::signal_full);
  /// As fill_slot(), perhaps by gathered loads; where the queue's own slot of indices leaves room.
  void fill_anyhow(const TileText& to, Buffer b, int64_t bytes);
  /// Fills a slot from bytes of a region that the load queue holds already.
  void fill_from(const TileText& to, Buffer b, int64_t bytes, int region);
  /// Bias, multiplier and shift of so many channels, behind a table of `table` bytes. Behind them
  /// so many bytes of multipliers of groups.
  void fill_scales(const TileText& to, int64_t table, int64_t channels, int64_t groups);
  /// Bytes of a table in front of what else is in a parameter slot; 0 when it doesn't fit.
  int64_t table_bytes(int64_t others) const;

  /// The region that the next slot is to be filled from, and whether one still waits.
  void read_next(int region) { next_read_ = region; }
  bool is_to_read() const { return next_read_ >= 0; }

 private:
  void draw_loads(const TileText& to, Buffer b, int64_t at, int64_t bytes);
  Affine draw_source(LoadCommand& c, int64_t bytes, const TileText& to);
  int64_t draw_items(LoadCommand& c, int64_t bytes, int64_t room) const;
  template <class Filling>
  void with_indices(const TileText& to, Filling filling);

  const HwConfig& hw_;
  const Dice dice_;
  TensorDrawer& tensors_;
  int64_t indices_ = 0;  ///< in the parameter slot that the load queue holds
  int read_ = -1;        ///< region whose slot the load queue holds
  int next_read_ = -1;   ///< region that the next slot is to be filled from
};

}  // namespace accsim::hw
