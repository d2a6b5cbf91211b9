#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/work/port.h"

namespace accsim::sim {

/// What an operator does with rows of a tensor, so that a machine with such commands can do just
/// that. RowMeaning is the operator's view, and RowWork has the tensors as they lie in memory.

/// Softmax, normalisation by mean and deviation, or by the root of the mean square.
enum class RowKind : uint8_t { softmax, layer_norm, rms_norm };

/// An axis of the tensor that is worked on.
struct RowAxis {
  int64_t count = 1;
  int64_t stride = 1;       ///< in the row-major index of the tensor's dims
  bool reduced = false;     ///< its elements are of one row
  bool channel = false;     ///< each index has a gain and shift of its own
  int64_t mask_stride = 0;  ///< of the addend, in elements as it lies in memory; 0: broadcast
};

/// An operation on all rows of one tensor, whatever its layout.
struct RowMeaning {
  RowKind kind = RowKind::softmax;
  std::vector<RowAxis> axes;  ///< all of the tensor, in the order of its dims
  /// Axes behind the first that are the channels of a tensor N x C x spatial, as convolutions have;
  /// 0: another tensor.
  size_t channel_axes = 0;
  ValuePort in_port = 0, out_port = 0;
  std::optional<ValuePort> mask_port = std::nullopt;  ///< softmax: what is added before it
  /// Softmax: output for the logarithm of each row's sum of exponentials.
  std::optional<ValuePort> log_port = std::nullopt;
  /// rms_norm: rows of length 1, not of mean square 1. Costs the same: a gain of the commands.
  bool unit_length = false;
};

/// Counts of a nest of rows, outermost first.
inline constexpr size_t kRowLevels = 4;
using RowNest = std::array<int64_t, kRowLevels>;  ///< counts, or strides, by level

/// Where the addend of a softmax lies, in elements; as the rows but for broadcast strides of 0.
struct RowMask {
  ValuePort port = 0;
  int64_t elements = 0;  ///< that the rows reach
  RowNest row_stride{};
  int64_t piece_stride = 0;
  friend bool operator==(const RowMask&, const RowMask&) = default;
};

/// Where the logarithms of a softmax' sums lie, an element a row: densely, in the nest's order.
struct RowLog {
  ValuePort port = 0;  ///< an output
  RowNest row_stride{};
  friend bool operator==(const RowLog&, const RowLog&) = default;
};

/// Rows as they lie in memory, in elements. A row is `pieces` pieces of `run` contiguous elements;
/// input and output lie alike. Of a normalisation element e of each piece is of channel
/// e / per_channel, counted from the row's index times channel_stride on.
struct RowWork {
  RowKind kind = RowKind::softmax;
  RowNest rows{1, 1, 1, 1};
  RowNest row_stride{};
  int64_t pieces = 1, piece_stride = 0, run = 1;
  int64_t per_channel = 1;
  RowNest channel_stride{};
  ValuePort in_port = 0, out_port = 0;
  std::optional<RowMask> mask = std::nullopt;
  std::optional<RowLog> log = std::nullopt;

  int64_t row_count() const { return rows[0] * rows[1] * rows[2] * rows[3]; }
  int64_t row_length() const { return pieces * run; }
  int64_t element_count() const { return row_count() * row_length(); }
  friend bool operator==(const RowWork&, const RowWork&) = default;
};

}  // namespace accsim::sim
