#pragma once
#include "hw/timing/simulator.h"
#include "sim/map/gemm_problem.h"
#include "sim/map/row_problem.h"
#include "sim/map/vector_tiling.h"

namespace accsim::sim {

struct LaneProblem;
struct LaneTiling;
struct GatherProblem;
struct GatherTile;
enum class Marks : uint8_t;

/// What a program costs: its cycles with all waits, and all that it moves and computes.
struct Cost {
  hw::Timing timing;
  hw::Counts counts;
};

/// A program as a link of a network's chain: its steps, with waits for marks before the first load
/// of each operand that isn't constant and marks behind its last store, and whose they are: tensor
/// i of the steps is ports[i].
struct ChainLink {
  std::vector<hw::Step> steps;
  std::vector<OperandPort> ports;
  std::vector<int64_t> regions = {};  ///< bytes of each that it stages in
  /// By tensor: bytes in the shared buffer that it has up to its last one; none of constants.
  std::vector<int64_t> shared = {};
};

/// What the program of a tiling costs, without building the program: equal to simulate() and
/// count() of emit(). Keeps its memory from call to call. Not thread-safe.
class CostEvaluator {
 public:
  explicit CostEvaluator(const hw::HwConfig& hw) : hw_(hw) {}
  CostEvaluator(const CostEvaluator&) = delete;
  CostEvaluator& operator=(const CostEvaluator&) = delete;

  /// Of emit(p, hw, t); the tiling fits.
  Cost cost(const GemmProblem& p, const Tiling& t);
  /// Of emit(p, hw, chunks, passes); the chunks fit.
  Cost cost(const VectorProblem& p, int64_t chunks, int64_t passes);
  /// Of emit(p, hw, t); the tile fits.
  Cost cost(const RowProblem& p, const RowTile& t);
  Cost cost(const LaneProblem& p, const LaneTiling& t);
  Cost cost(const GatherProblem& p, const GatherTile& t);

  /// The same programs in a chain.
  ChainLink link(const GemmProblem& p, const Tiling& t) { return linked(p, t).link; }
  ChainLink link(const VectorProblem& p, int64_t chunks, int64_t passes) {
    return linked(p, chunks, passes).link;
  }
  ChainLink link(const RowProblem& p, const RowTile& t) { return linked(p, t).link; }
  ChainLink link(const LaneProblem& p, const LaneTiling& t) { return linked(p, t).link; }
  ChainLink link(const GatherProblem& p, const GatherTile& t) { return linked(p, t).link; }

  /// And all that they move and compute, without the cycles that they take alone.
  struct Linked {
    ChainLink link;
    hw::Counts counts;
  };
  Linked linked(const GemmProblem& p, const Tiling& t);
  Linked linked(const VectorProblem& p, int64_t chunks, int64_t passes);
  Linked linked(const RowProblem& p, const RowTile& t);
  Linked linked(const LaneProblem& p, const LaneTiling& t);
  Linked linked(const GatherProblem& p, const GatherTile& t);

 private:
  template <class Problem, class Tile, class Take>
  auto described(const Problem& p, const Tile& t, Marks marks, Take take);
  template <class Problem, class Tile>
  Cost alone(const Problem& p, const Tile& t);
  template <class Problem, class Tile>
  Linked in_chain(const Problem& p, const Tile& t);

  const hw::HwConfig& hw_;
  hw::StepWriter steps_;
  hw::Simulator simulator_;
};

}  // namespace accsim::sim
