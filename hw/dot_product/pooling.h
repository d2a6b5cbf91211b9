#pragma once
#include <cstdint>
#include <vector>

#include "hw/dot_product/engine_fields.h"

namespace accsim::hw {

/// In which cycle a unit beside the engine reads and writes, counted from time zero.
struct SideEvents {
  int64_t first_read = 0;
  int64_t first_write = 0, last_write = 0;

  bool operator==(const SideEvents&) const = default;
};

/// A vertical strip of a pooling layer whose lines don't fit into the buffer. Strips after the
/// first read the columns at the cut again.
struct PoolStrip {
  int64_t width = 1;      ///< columns that it reads
  int64_t out_width = 1;  ///< outputs that it writes

  bool operator==(const PoolStrip&) const = default;
};

/// A pooling layer from memory to memory. Maximum, minimum and average take the same cycles. What
/// is padded on the right and below follows from the outputs.
struct PoolLayer {
  int64_t width = 1, height = 1, channels = 1;  ///< of the input
  int64_t kernel_width = 1, kernel_height = 1;
  int64_t stride_x = 1, stride_y = 1;
  int64_t pad_left = 0, pad_top = 0;
  int64_t out_width = 1, out_height = 1;
  std::vector<PoolStrip> strips;  ///< none: the whole width at once

  bool operator==(const PoolLayer&) const = default;
};

/// What the machine's registers hold: taps and strides of a direction (docs/dot-product.md,
/// "Pooling").
inline constexpr int64_t kMostPoolTaps = 8, kMostPoolStride = 16;
/// Columns, lines and channels of a layer of the units beside the engine.
inline constexpr int64_t kMostSideSize = 1 << 16;
/// Its cycles: sums of several layers still fit into 64 bits.
inline constexpr int64_t kMostSideCycles = int64_t{1} << 59;

/// The fewest strips, of about equal outputs, whose lines fit into the line buffer (section
/// "Pooling", rule 6); none where whole lines do, or where not even one output fits. The layer's
/// own strips don't count.
std::vector<PoolStrip> fewest_strips(const PoolLayer& layer, const SideUnits& units);

/// The events of a pooling layer, exactly as the rules of docs/dot-product.md have them. The work
/// grows with the strips. Errc::invalid: a size is out of range, a pad isn't less than the kernel,
/// or strips don't add up. Errc::capacity: a line of outputs doesn't fit into the line buffer.
Result<SideEvents> time_pooling(const PoolLayer& layer, const SideUnits& units);

}  // namespace accsim::hw
