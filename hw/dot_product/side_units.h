#pragma once
#include <cstdint>
#include <vector>

#include "hw/dot_product/engine_fields.h"
#include "hw/dot_product/pooling.h"

namespace accsim::hw {

/// An LRN layer along channels, from memory to memory. Its size doesn't matter.
struct LrnLayer {
  int64_t width = 1, height = 1, channels = 1;
  bool bypass = false;  ///< squares and products are left out

  bool operator==(const LrnLayer&) const = default;
};

/// A stage of the point-wise unit.
struct PointStage {
  bool alu = false;           ///< a sum, maximum or minimum with an operand
  bool mul = false;           ///< a product with an operand, PReLU's slope included
  int64_t operand_reads = 0;  ///< reads of operands per atom, of operands per element

  bool operator==(const PointStage&) const = default;
};

/// A point-wise layer from memory to memory.
struct PointLayer {
  int64_t width = 1, height = 1, channels = 1;
  std::vector<PointStage> stages;  ///< those that aren't bypassed

  bool operator==(const PointLayer&) const = default;
};

/// The events of an LRN layer, as the rules of docs/dot-product.md have them (section "Pooling, LRN
/// and point-wise layers"). Errc::invalid: a size isn't 1 to kMostSideSize. Errc::overflow: cycles
/// leave 64 bits.
Result<SideEvents> time_lrn(const LrnLayer& layer, const SideUnits& units);

/// The events of a point-wise layer, with the errors of time_lrn(). Errc::invalid also: more reads
/// of operands than one per element. Errc::capacity: more stages than there are.
Result<SideEvents> time_point(const PointLayer& layer, const SideUnits& units);

}  // namespace accsim::hw
