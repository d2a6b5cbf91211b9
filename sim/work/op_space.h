#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/inline_vector.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// An op as a space of points and operands that are read and written at each of them. A box of the
/// space says which part of each operand is touched (region()), and is an op itself (tile()).
/// All that cuts ops goes by these two. All in elements of the operands as they lie in memory.

/// How points along a dim belong together.
enum class DimKind : uint8_t {
  parallel,   ///< each has results of its own
  reduction,  ///< summed, or otherwise put together, to one result
  window,     ///< reduction over the taps of a window, which slides over an axis of an operand
};
/// A dim of a space: indices 0 .. length - 1.
struct SpaceDim {
  DimKind kind;
  int64_t length;
};

/// Indices first, first + 1, ..., first + count - 1.
struct DimRange {
  int64_t first, count;
  int64_t end() const { return first + count; }
  friend bool operator==(const DimRange&, const DimRange&) = default;
};

inline constexpr size_t kMostSpaceDims = 20;
inline constexpr size_t kMostOperandAxes = 10;
inline constexpr size_t kMostOperands = 5;
/// A part of a space: an interval of each dim.
using SpaceBox = InlineVector<DimRange, kMostSpaceDims>;

/// An axis of an operand in memory: at a point of the space, the coordinate is the sum of the
/// terms' factors times the point's indices, plus `shift`. Coordinates outside [0, extent) aren't
/// there (padding).
struct OperandAxis {
  struct Term {
    size_t dim;
    int64_t factor;
  };
  int64_t stride = 1;  ///< elements from one coordinate to the next
  int64_t extent = 1;
  InlineVector<Term, 2> terms{};
  int64_t shift = 0;
};

/// What an op does with an operand.
enum class OperandRole : uint8_t {
  a,       ///< the first operand; of a product the activations
  b,       ///< the second one; of a product the weights
  mask,    ///< added before a softmax
  result,  ///< what is written
  log,     ///< logarithms of a softmax' sums, written
};

/// A tensor that an op reads or writes, by the points that touch its elements.
struct SpaceOperand {
  OperandRole role = OperandRole::a;
  ValuePort port = 0;  ///< of the op: of the node's outputs where it is written, else of its inputs
  bool dense = false;  ///< the op has no strides for it: its elements follow one another
  std::vector<OperandAxis> axes{};  ///< outermost first

  bool written() const { return role == OperandRole::result || role == OperandRole::log; }
  /// Elements from where a point finds the operand to where the next one along a dim does; 0 where
  /// it is the same for all.
  int64_t stride_along(size_t dim) const;
  /// The axis that a dim leads along, counted from the innermost one, which is 1; nullopt where it
  /// leads along none. Of a product of matrices those are the last axes of the tensors, too.
  std::optional<size_t> axis_from_back(size_t dim) const;
};

/// All points of an op, and its operands.
struct OpSpace {
  InlineVector<SpaceDim, kMostSpaceDims> dims;
  std::vector<SpaceOperand> operands;  ///< of different roles, the first operand first

  SpaceBox whole_box() const;
  /// Of the op; nullptr if it has none.
  const SpaceOperand* operand(OperandRole role) const;
};

/// The dims of a product's space, in order. Reductions stand behind the results.
enum class GemmDim : uint8_t { batch, image, depth, height, width, output, channel, taps };

/// The space of a product, lane or row operation; nullopt of other work, and of products that say
/// no layout for all of their operands (a batch of convolutions that aren't groups). The dims of a
/// lane operation are those of its axes, in order, then `across`, then the windows of its axes; of
/// a row operation the levels of its nest, the pieces and the run.
std::optional<OpSpace> space_of(const WorkItem& item);

/// Coordinates of an operand, by axis.
using Region = InlineVector<DimRange, kMostOperandAxes>;
/// Those that the points of a box need or make. A dim that is whole in the box has all of its axis,
/// also what no point needs. Empty intervals begin at 0.
Region region(const OpSpace& space, const SpaceOperand& operand, const SpaceBox& box);
/// Where the first element of a region lies, from the operand's first one on.
int64_t first_element(const SpaceOperand& operand, const Region& region);

/// Elements from the first one of a region to its last.
int64_t elements_spanned(const SpaceOperand& operand, const Region& region);

/// An op on a box of another one's space. It finds each operand where the region of that begins.
struct SpaceTile {
  WorkItem item;
  InlineVector<Region, kMostOperands> regions;  ///< by operand of the space
};
/// nullopt where no op says that: results would be parts of sums, or an operand without strides
/// would lie in several pieces, or counts of operations don't fall into equal parts (row
/// operations).
std::optional<SpaceTile> tile(const WorkItem& item, const OpSpace& space, const SpaceBox& box);
/// A product on any box of its space that has all taps, of tensors that have no more than it needs,
/// but an element at least.
GemmOp product_on(const GemmOp& op, const OpSpace& space, const SpaceBox& box);

}  // namespace accsim::sim
