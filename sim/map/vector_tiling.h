#pragma once
#include <vector>

#include "sim/map/gemm_problem.h"

namespace accsim::sim {

/// One side of a vector or memory op on a machine.
struct VectorOperand {
  Place place;
  int64_t elements = 0;
  int64_t element_bytes = 1;
  int64_t run = 0;  ///< elements of one contiguous piece; 0: all of them

  int64_t bytes() const { return elements * element_bytes; }
};

/// A VectorOp or MemoryOp on a machine: its traffic goes through the slots in equal chunks. The
/// programs are for costing: runs stand one behind the other in the tensor, where the op really
/// jumps. Only those of moves with `axes` are true (has_true_program()): golden gives what the op
/// gives.
struct VectorProblem {
  std::vector<VectorOperand> inputs, outputs;
  std::array<int64_t, kVectorClasses> ops{};  ///< all zero: a MemoryOp
  int64_t rows = 1;                ///< pieces that must be on chip as a whole to need one pass only
  int64_t passes = 1;              ///< passes over the inputs when a piece doesn't fit
  std::vector<MoveAxis> axes{};    ///< of a move whose program is true: as MemoryOp has them
  std::vector<int64_t> spacing{};  ///< spacing_of() it
  int64_t from = 0, to = 0;        ///< elements, as MemoryOp has them

  bool is_vector() const;
};

/// The same for a vector or memory op: chunks and passes over the input.
struct VectorCut {
  int64_t chunks = 1, passes = 1;
};

/// Can a machine make the move of `axes` by a program whose addresses are the op's? Not when
/// elements that are turned have more than a byte, which the core doesn't turn, nor when there are
/// more axes than its walks have levels.
bool has_true_program(const VectorProblem& p);

/// Bytes of a tensor up to the last element that such a move reads, or writes.
int64_t bytes_read(const VectorProblem& p);
int64_t bytes_written(const VectorProblem& p);

/// The program that moves the op in `chunks` chunks and `passes` passes; chunks of one operand
/// are equal but for the last, which takes the remainder.
hw::Program emit(const VectorProblem& p, const hw::HwConfig& hw, int64_t chunks, int64_t passes);

/// Never more than the cycles of that program: each queue's own time, with the shortest way in
/// before it and out behind it.
int64_t lower_bound(const VectorProblem& p, const hw::HwConfig& hw, int64_t chunks, int64_t passes);

/// Do the largest chunks fit into the slots?
bool fits(const VectorProblem& p, const hw::HwConfig& hw, int64_t chunks);

/// lower_bound() of a move whose program is true.
int64_t move_bound(const VectorProblem& p, const hw::HwConfig& hw);
/// Does the largest tile of such a move fit into an output slot?
bool move_fits(const VectorProblem& p, const hw::HwConfig& hw, int64_t chunks);

}  // namespace accsim::sim
