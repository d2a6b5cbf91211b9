#pragma once
#include "hw/config/hw_config.h"

namespace accsim::hw {

/// A memory of a machine, for energies and areas by technology.
struct MemoryShape {
  int64_t bytes = 0;
  double width = 0;  ///< bytes of an access
};

/// Bytes of all slots of a buffer: its kib. Of dot products' sums as many rows as array.places, in
/// each slot, whatever kib says.
int64_t buffer_bytes(const HwConfig& hw, Buffer b);

/// Copies of a buffer's memory, each with the same bytes: of weights one for each row that goes
/// into the array per cycle. Such rows are of several tiles, at addresses of their own.
int64_t buffer_copies(const HwConfig& hw, Buffer b);

/// A slot of a buffer, which is a memory of its own. Its width is that of the widest of its ports.
/// Beside the load or store port (`width`) these are the array's: a row of activations, one of
/// weights, and one of sums, which are read and written together. The width is never less when a
/// field grows.
MemoryShape slot_memory(const HwConfig& hw, Buffer b);

/// The shared memory: as wide as the faster of its directions, and 8 bytes at least, as a low rate
/// says nothing of the width of an access.
MemoryShape shared_memory(const HwConfig& hw);

}  // namespace accsim::hw
