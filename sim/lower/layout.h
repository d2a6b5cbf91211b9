#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sim/base/dims.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Where a dense tensor's elements lie in memory: its axes in memory, outermost first. Each has its
/// count, and the stride from one of it to the next in the row-major index of the tensor's dims.
/// Axes of one element are left out, and axes that go on in the next one are joined to it. So equal
/// orders have equal layouts. A tensor of one element has no axis. Row-major is {{elements, 1}}.
using Layout = std::vector<MoveAxis>;

/// Places of a tensor's dims in memory, outermost first.
using DimOrder = std::vector<size_t>;

/// A part of a dim: elements step, 2 step, ... (count - 1) step apart.
struct DimPiece {
  size_t dim = 0;
  int64_t step = 1, count = 1;
};

/// Where the element of a row-major index lies.
int64_t place_of(int64_t index, const Layout& layout);
/// Elements in memory from one to the next of `axis.count` elements that are `axis.stride` apart in
/// the row-major index; nullopt when they aren't evenly spaced.
std::optional<int64_t> pitch_of(const MoveAxis& axis, const Layout& layout);

/// As the dims say, the last one innermost.
Layout row_major_layout(const Dims& dims);
/// The dims in that order.
Layout layout_in_order(const Dims& dims, const DimOrder& order);
/// 0, 2, 3, ..., 1: pixel by pixel, the channels of a pixel (dim 1) together.
DimOrder channels_last_order(size_t rank);
/// Of [image, channel, spatial ...]; as the dims say for a rank below 3.
Layout channels_last_layout(const Dims& dims);

/// The layout's axes, outermost first, cut at the borders of the dims; nullopt when an axis isn't
/// made of whole pieces of dims.
std::optional<std::vector<DimPiece>> pieces_of(const Layout& layout, const Dims& dims);
/// The layout that pieces of dims make, outermost first.
Layout layout_of(std::span<const DimPiece> pieces, const Dims& dims);
/// The dims in the order of their innermost pieces; those of one element, and all where the layout
/// isn't made of pieces of dims, stand before the one that follows them.
DimOrder nearest_order(const Layout& layout, const Dims& dims);
/// That order, where the layout is the dims in it.
std::optional<DimOrder> order_of(const Layout& layout, const Dims& dims);

/// The layout of a tensor's transpose with dim i its dim perm[i]: the same bytes.
std::optional<Layout> transposed_layout(const Layout& layout, const Dims& dims,
                                        const std::vector<int64_t>& perm);
/// The layout of a tensor that broadcasts to `dims`, in the same relative order.
std::optional<Layout> broadcast_layout(const Layout& layout, const Dims& dims, const Dims& from);
/// The layout with the dims of `inner` innermost, as they stand there, the others as they were.
std::optional<Layout> with_innermost(const Layout& layout, const Dims& dims,
                                     std::span<const size_t> inner);

/// How a copy from one layout to another reads it: MemoryOp::axes. nullopt when the two don't
/// divide each other.
std::optional<std::vector<MoveAxis>> copy_axes(const Layout& from, const Layout& to);
/// Ports of a copy: an input, what is between its two steps, an output.
struct CopyPorts {
  ValuePort in = 0, between = kInternalPort, out = 0;
};
/// The copy of so many elements; of layouts that don't divide each other element by element. In two
/// steps, another axis innermost between them, where blocks are so narrow that turning them twice
/// along that axis is faster (a channel shuffle: few groups, many pixels).
Work layout_copy(const Layout& from, const Layout& to, int64_t elements, const CopyPorts& ports);

}  // namespace accsim::sim
