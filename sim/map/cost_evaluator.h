#pragma once
#include "hw/timing/simulator.h"
#include "sim/map/request.h"
#include "sim/map/search_limit.h"

namespace accsim::sim {

enum class Marks : uint8_t;

/// What a program costs: its cycles with all waits, and all that it moves and computes.
struct Cost {
  hw::Timing timing;
  hw::Counts counts;
};

/// What a network's chain knows of a program. Its steps have waits for marks before the first load
/// of each operand that isn't constant, and marks behind its last store. Tensor i of the steps is
/// ports[i].
struct OpTrace {
  std::vector<hw::Step> steps;
  std::vector<OperandPort> ports;
  std::vector<int64_t> regions = {};  ///< bytes of each that it stages in
  /// By tensor: bytes in the shared buffer that it has up to its last one; none of constants.
  std::vector<int64_t> shared = {};
};

/// What the program of a tiling costs, of any kind (kind.h), without building the program: equal to
/// simulate() and count() of emit(). Keeps its memory from call to call. Not thread-safe.
class CostEvaluator {
 public:
  /// `limit` is told of each program that is timed; null: nobody is.
  explicit CostEvaluator(const hw::HwConfig& hw, SearchLimit* limit = nullptr)
      : hw_(hw), limit_(limit) {}
  CostEvaluator(const CostEvaluator&) = delete;
  CostEvaluator& operator=(const CostEvaluator&) = delete;

  /// Of a tiling that fits.
  template <class Problem, class Tiling>
  Cost cost(const Problem& p, const Tiling& t);

  /// The same program in a chain, and all that it moves and computes, without the cycles that it
  /// takes alone.
  struct Traced {
    OpTrace trace;
    hw::Counts counts;
  };
  template <class Problem, class Tiling>
  Traced traced(const Problem& p, const Tiling& t);

 private:
  template <class Problem, class Tiling, class Take>
  auto described(const Problem& p, const Tiling& t, Marks marks, Take take);

  /// Of the program that was written last, and whether it was timed.
  void tell_limit(bool timed);

  const hw::HwConfig& hw_;
  SearchLimit* const limit_;
  size_t told_walks_ = 0;
  hw::StepWriter steps_;
  hw::Simulator simulator_;
};

}  // namespace accsim::sim
