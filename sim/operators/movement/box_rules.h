#pragma once
#include <string>
#include <vector>

#include "sim/operators/fold.h"
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// A box of input 0: `dims` elements from `start` on, every `step`-th.
struct Box {
  std::vector<int64_t> start, step;
  Dims dims;
};

/// Axes of a box of so many elements, `in` and `out` apart in the tensors that it moves between.
std::vector<BoxAxis> box_axes(const Dims& dims, const Strides& in, const Strides& out);

/// What Slice cuts out, and what Split's outputs are. The lists must be known.
Result<Box> sliced_box(const NodeView& node);
/// Split's outputs in order, by input or attribute split, or in num_outputs equal parts.
Result<std::vector<Box>> split_boxes(const NodeView& node);

/// Elements added (removed, when negative) before and after each axis of input 0.
struct Padding {
  std::vector<int64_t> before, after;
};
/// What Pad adds. Its lists must be known.
Result<Padding> padding_of(const NodeView& node);
/// Where element i of an axis of `size`, padded by so many, comes from, by Pad's mode; -1: from
/// nowhere. Of a negative pad that much is cropped before anything is repeated, as runtimes do it.
int64_t pad_source(const std::string& mode, int64_t i, int64_t size, int64_t before, int64_t after);

/// Transpose's permutation, checked; axes in reverse when the attribute is absent.
Result<std::vector<int64_t>> permutation_of(const NodeView& node);

}  // namespace accsim::sim
