#pragma once
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/map/kind.h"

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
/// jumps.
struct StreamProblem {
  std::vector<VectorOperand> inputs, outputs;
  std::array<int64_t, kVectorClasses> ops{};  ///< all zero: a MemoryOp
  int64_t rows = 1;    ///< pieces that must be on chip as a whole to need one pass only
  int64_t passes = 1;  ///< passes over the inputs when a piece doesn't fit

  bool is_vector() const;
};

/// Chunks and passes over the input. Chunks of one operand are equal but for the last, which takes
/// the remainder.
struct StreamCut {
  int64_t chunks = 1, passes = 1;
};
/// "4 chunks, 2 passes".
std::string to_string(const StreamProblem& p, const StreamCut& t);

/// What no commands of its own do.
struct StreamSource : KindSource<StreamProblem, StreamCut> {
  static constexpr std::string_view kUnverifiable = "moves that stand for others";

  /// Always something.
  static std::optional<StreamProblem> of_request(const OpRequest& r, const hw::HwConfig& hw);
};

/// Never more than the cycles of its program: each queue's own time, with the shortest way in
/// before it and out behind it.
int64_t lower_bound(const StreamProblem& p, const hw::HwConfig& hw, const StreamCut& t);

/// Do the largest chunks fit into the slots?
bool fits(const StreamProblem& p, const hw::HwConfig& hw, int64_t chunks);

/// The fixed rule's choice.
std::optional<StreamCut> rule_tiling(const StreamProblem& p, const hw::HwConfig& hw);
/// Every tiling that is tried and fits, with its bound.
std::vector<std::pair<int64_t, StreamCut>> tilings(const StreamProblem& p, const hw::HwConfig& hw);

}  // namespace accsim::sim
