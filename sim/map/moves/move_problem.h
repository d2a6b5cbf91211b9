#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/map/stream/stream_problem.h"

namespace accsim::sim {

/// A MemoryOp that a machine can make by a program whose addresses are the op's: golden gives what
/// the op gives.
struct MoveProblem {
  VectorOperand in, out;
  std::vector<MoveAxis> axes;    ///< as MemoryOp has them
  std::vector<int64_t> spacing;  ///< spacing_of() it
  int64_t from = 0, to = 0;      ///< elements, as MemoryOp has them
};

/// Tiles of which there are at least so many.
struct MoveCut {
  int64_t chunks = 1;
};
/// "4 chunks".
std::string to_string(const MoveProblem& p, const MoveCut& t);

/// Not where elements that are turned have more than a byte, which the core doesn't turn, nor where
/// there are more axes than its walks have levels.
struct MoveSource : KindSource<MoveProblem, MoveCut> {
  static std::optional<MoveProblem> of_request(const OpRequest& r, const hw::HwConfig& hw);
};
/// May a program with these addresses be written?
bool has_move_commands(const MoveProblem& p);

/// Bytes of a tensor up to the last element that the move reads, or writes.
int64_t bytes_read(const MoveProblem& p);
int64_t bytes_written(const MoveProblem& p);

/// Never more than the cycles of its program.
int64_t lower_bound(const MoveProblem& p, const hw::HwConfig& hw);
/// Does the largest tile fit into an output slot?
bool fits(const MoveProblem& p, const hw::HwConfig& hw, const MoveCut& t);

/// The fixed rule's choice.
std::optional<MoveCut> rule_tiling(const MoveProblem& p, const hw::HwConfig& hw);
/// Every tiling that is tried and fits, with its bound.
std::vector<std::pair<int64_t, MoveCut>> tilings(const MoveProblem& p, const hw::HwConfig& hw);
/// Moves that differ only in where their tensors begin are cut alike.
std::string alike_key(const MoveProblem& p);

}  // namespace accsim::sim
