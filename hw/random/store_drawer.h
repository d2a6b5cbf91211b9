#pragma once
#include "hw/random/tensor_drawer.h"

namespace accsim::hw {

/// Draws the stores that empty output slots: to both memories, behind what was stored before.
class StoreDrawer {
 public:
  StoreDrawer(Dice dice, TensorDrawer& tensors) : dice_(dice), tensors_(tensors) {}

  /// Stores so many bytes of the output slot that is full next, and gives it back.
  void drain_slot(const TileText& to, int64_t bytes);

 private:
  void store_bytes(const TileText& to, int64_t bytes);

  const Dice dice_;
  TensorDrawer& tensors_;
};

}  // namespace accsim::hw
