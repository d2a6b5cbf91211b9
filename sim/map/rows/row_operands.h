#pragma once
#include <array>

#include "sim/map/rows/row_problem.h"

namespace accsim::sim {

inline constexpr size_t kPieceLevel = kRowLevels, kRunLevel = kRowLevels + 1;
/// A number for each level of a nest of rows, then for pieces, then for what is contiguous in one.
using RowLevels = std::array<int64_t, kRowLevels + 2>;

/// A part of a tensor, densely in a slot in the order in which it lies in memory.
struct RowPart {
  hw::Walk walk;
  RowLevels
      stride{};  ///< bytes in the slot from one to the next; 0 where there is one, or broadcast
  int64_t bytes = 0;
};
/// `counts` and `strides` by level, in units of `unit` bytes; a stride of 0 is broadcast.
RowPart row_part(const RowLevels& counts, const RowLevels& strides, int64_t unit);

/// Operands of a chunk of `rows`.
RowPart rows_part(const RowProblem& p, const RowNest& rows);
RowPart mask_part(const RowProblem& p, const RowNest& rows);
/// The logarithms, densely behind the rows in the output slot.
RowPart log_part(const RowProblem& p, const RowNest& rows);
/// Bytes of the rows before them.
int64_t log_offset(const RowProblem& p, const RowNest& rows);
/// Of a softmax its tables.
RowPart parameter_part(const RowProblem& p, const RowNest& rows);

/// How many commands a chunk takes, one behind the other.
constexpr int64_t row_commands(const RowTile& t) {
  return t.parameters == RowParameters::halves ? 2 : 1;
}
/// Bytes that a chunk takes of an output slot: what lies behind the rows takes, of halves, what the
/// command for a half writes in place of the other.
int64_t output_bytes(const RowProblem& p, const RowTile& t, const RowNest& rows);

/// The command for a chunk of `rows`, or for its half, all but where its rows, mask, output and
/// parameters begin beyond what slot offsets of a chunk are.
hw::RowCommand row_command(const RowProblem& p, const RowTile& t, const RowNest& rows,
                           int64_t half);

}  // namespace accsim::sim
