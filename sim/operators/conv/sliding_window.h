#pragma once
#include <string>
#include <vector>

#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// A kernel that slides over up to three spatial dims, leading entries neutral. What convolution
/// and pooling have in common.
struct SlidingWindow {
  size_t rank = 0;  ///< spatial dims in use
  Extent3 in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      pad{0, 0, 0};

  Dims out_dims() const;      ///< the last `rank` entries of out
  int64_t tap_count() const;  ///< elements of the kernel, stopping at kTooMany
};

/// strides, dilations, pads and auto_pad of a node, checked and with defaults filled in.
struct WindowAttrs {
  std::vector<int64_t> strides, dilations, before, after;
  std::string auto_pad;  ///< NOTSET, VALID, SAME_UPPER or SAME_LOWER

  bool has_same_padding() const { return auto_pad.starts_with("SAME"); }
};
/// Of a node with `rank` spatial dims. Errors: lists of another length or out of range, pads
/// beside an auto_pad that sets them.
Result<WindowAttrs> window_attrs(const NodeView& node, size_t rank);

/// Elements from the first to the last that its taps reach.
constexpr int64_t dilated_extent(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}

/// The kernel's extents from attribute kernel_shape; an error when absent, of another length than
/// `rank` or with an entry below 1.
Result<Dims> kernel_shape(const NodeView& node, size_t rank);

/// Slides a kernel over spatial dims as the node's attributes say. With ceil_mode a last, partial
/// window counts only when it starts inside the input or the padding before it.
Result<SlidingWindow> slide_window(const NodeView& node, const Dims& spatial, const Dims& kernel,
                                   bool ceil_mode = false);

/// An error unless `rank` spatial dims are between 1 and 3.
Status want_spatial(const NodeView& node, size_t rank);

}  // namespace accsim::sim
