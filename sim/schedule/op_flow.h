#pragma once
#include <optional>
#include <vector>

#include "sim/map/mapper.h"
#include "sim/work/op_space.h"

namespace accsim::sim {

/// An op that makes its result slice by slice: each of some slices of what it reads at one port,
/// and of other operands. Slices lie densely, one behind the other. They are rows of matrices,
/// which don't depend on one another, or lines of images, which windows slide over.
struct OpFlow {
  OperandPort in, out;
  int64_t count = 0;   ///< slices of the result
  int64_t batch = 1;   ///< they fall into so many equal parts that have operands of their own
  LaneSlide window{};  ///< of the slices that it reads
  int64_t in_bytes = 0, out_bytes = 0;  ///< of a slice

  /// Slices that it reads, from the first on, for so many of the first ones of its result.
  int64_t slices_needed(int64_t results) const;
  friend bool operator==(const OpFlow&, const OpFlow&) = default;
};

/// By rows: of products of two computed tensors, and of softmax and norms; nullopt for all else.
std::optional<OpFlow> row_flow(const OpRequest& request, const hw::HwConfig& hw);
/// By lines: of convolutions of one image with constant weights, and of what lane commands do line
/// by line; nullopt for all else.
std::optional<OpFlow> line_flow(const OpRequest& request, const hw::HwConfig& hw);

/// A part of an op, and where it finds its operands.
struct OpTile {
  OpRequest request;
  struct Port {
    OperandPort port;
    int64_t offset = 0;  ///< bytes from where the op finds the operand
  };
  std::vector<Port> ports{};

  int64_t offset(const OperandPort& port) const;
};
/// `count` lines of the result of an op that has a line_flow(), from line `first` on.
OpTile tile_of_lines(const OpRequest& request, int64_t first, int64_t count,
                     const hw::HwConfig& hw);

/// Where the pieces of an op find an operand: the digits of a piece's number, outermost first, each
/// with its stride.
struct PieceStrides {
  struct Level {
    int64_t count, bytes;
  };
  InlineVector<Level, kMostSpaceDims> levels;
  int64_t offset(int64_t piece) const;
};

/// An op in equal pieces of its rows, in order.
struct OpPieces {
  OpRequest request;  ///< of each piece
  struct Port {
    OperandPort port;
    PieceStrides strides;
  };
  std::vector<Port> ports;

  /// Bytes from where the first piece finds an operand.
  int64_t offset(const OperandPort& port, int64_t piece) const;
};
/// In `count` pieces; nullopt when rows don't fall into them. Pieces do the op's work and nothing
/// twice, but for operands that all rows share.
std::optional<OpPieces> pieces_of_rows(const OpRequest& request, int64_t count,
                                       const hw::HwConfig& hw);

/// The same with the rows that it reads, or writes, in another memory.
void move_rows(OpRequest& request, bool written, hw::Memory to, const hw::HwConfig& hw);

}  // namespace accsim::sim
