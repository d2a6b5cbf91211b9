#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "sim/map/mapper.h"
#include "sim/work/op_space.h"

namespace accsim::sim {

/// The space of an op that is made slice by slice.
struct SliceSpace {
  /// Where the op finds an operand, or the residual, which lies as the result does.
  struct Operand {
    OperandPort port;
    size_t index;           ///< among the space's operands
    int64_t element_bytes;  ///< as it lies in memory
  };
  OpSpace space;
  InlineVector<size_t, kRowLevels> dims;  ///< that slices are counted by, outermost first
  std::vector<Operand> operands{};

  /// Which there is.
  const Operand& operand(OperandRole role) const;
  const SpaceOperand& axes_of(const Operand& operand) const {
    return space.operands[operand.index];
  }
};

/// An op that makes its result slice by slice: each of some slices of what it reads at one port,
/// and of other operands. Slices lie densely, one behind the other. They are rows of matrices,
/// which don't depend on one another, or lines of images, which windows slide over.
struct OpFlow {
  OperandPort in, out;
  int64_t count = 0;   ///< slices of the result
  int64_t batch = 1;   ///< they fall into so many equal parts that have operands of their own
  LaneSlide window{};  ///< of the slices that it reads
  int64_t in_bytes = 0, out_bytes = 0;  ///< of a slice
  std::shared_ptr<const SliceSpace> slices{};

  /// Slices that it reads, from the first on, for so many of the first ones of its result.
  int64_t slices_needed(int64_t results) const;
};

/// By rows: of products of two computed tensors, and of softmax and norms; nullopt for all else.
std::optional<OpFlow> row_flow(const OpRequest& request, const hw::HwConfig& hw);
/// By lines: of convolutions of one image with constant weights, and of what lane commands do line
/// by line; nullopt for all else.
std::optional<OpFlow> line_flow(const OpRequest& request, const hw::HwConfig& hw);

/// Where equal pieces of an op find its operands.
struct PieceOperands {
  /// A digit of a piece's number, and the bytes from one piece to the next.
  struct Level {
    int64_t count, stride;
  };
  struct Port {
    OperandPort port;
    int64_t first;  ///< bytes from where the op finds the operand to where the first piece does
    InlineVector<Level, kRowLevels> levels{};  ///< outermost first
  };
  InlineVector<Port, kMostOperands> ports{};

  /// Bytes from where the op finds an operand to where a piece does.
  int64_t offset(const OperandPort& port, int64_t piece = 0) const;
};
/// An op in equal pieces, in order, or one piece of it.
struct OpPieces {
  WorkItem item;  ///< of each
  PieceOperands operands{};
};
/// `count` lines of the result of an op that has this line_flow(), from line `first` on.
OpPieces piece_of_lines(const WorkItem& item, const OpFlow& flow, int64_t first, int64_t count);
/// An op that has this row_flow() in `count` pieces of its rows; nullopt when rows don't fall into
/// them. Pieces do the op's work and nothing twice, but for operands that all rows share.
std::optional<OpPieces> pieces_of_rows(const WorkItem& item, const OpFlow& flow, int64_t count);

/// The same with the rows that it reads, or writes, in another memory.
void move_rows(OpRequest& request, const OpFlow& flow, bool written, hw::MemoryId to);

}  // namespace accsim::sim
