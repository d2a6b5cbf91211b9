#pragma once
#include <optional>
#include <vector>

#include "sim/base/inline_vector.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// Rows of an op that don't depend on one another: row i of what it writes is made of row i of what
/// it reads at one port, and of other operands. Rows lie densely, one behind the other.
struct RowFlow {
  OperandPort in, out;
  int64_t rows = 0;
  int64_t batch = 1;  ///< rows fall into so many equal parts that have operands of their own
  int64_t in_row = 0, out_row = 0;  ///< bytes
  friend bool operator==(const RowFlow&, const RowFlow&) = default;
};
/// Of products of two computed tensors and of softmax and norms; nullopt for all else.
std::optional<RowFlow> row_flow(const OpRequest& request, const hw::HwConfig& hw);

/// Where the pieces of an op find an operand: the digits of a piece's number, outermost first, each
/// with its stride.
struct PieceStrides {
  struct Level {
    int64_t count, bytes;
  };
  InlineVector<Level, 5> levels;
  int64_t offset(int64_t piece) const;
};

/// An op in equal pieces of its rows, in order.
struct OpPieces {
  OpRequest request;  ///< of each piece
  struct Port {
    OperandPort port;
    PieceStrides strides;
  };
  std::vector<Port> ports;  ///< those where not all pieces find the same bytes

  /// Bytes from where the first piece finds an operand.
  int64_t offset(const OperandPort& port, int64_t piece) const;
};
/// In `count` pieces; nullopt when rows don't fall into them. Pieces do the op's work and nothing
/// twice, but for operands that all rows share.
std::optional<OpPieces> cut_request(const OpRequest& request, int64_t count,
                                    const hw::HwConfig& hw);

/// The same with the rows that it reads, or writes, in another memory.
void move_rows(OpRequest& request, bool written, hw::Memory to, const hw::HwConfig& hw);

}  // namespace accsim::sim
