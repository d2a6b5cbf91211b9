#pragma once
#include "hw/timing/simulator.h"
#include "sim/map/gemm_problem.h"
#include "sim/map/vector_tiling.h"

namespace accsim::sim {

/// What timing and counting say of one program.
struct Cost {
  hw::Timing timing;
  hw::Counts counts;
};

/// What the program of a tiling costs, without building the program: equal to simulate() and count() of
/// emit(). Keeps its memory from call to call. Not thread-safe.
class CostEvaluator {
 public:
  explicit CostEvaluator(const hw::HwConfig& hw) : hw_(hw) {}
  CostEvaluator(const CostEvaluator&) = delete;
  CostEvaluator& operator=(const CostEvaluator&) = delete;

  Cost cost(const GemmProblem& p, const Tiling& t);
  Cost cost(const VectorProblem& p, int64_t chunks, int64_t passes);

 private:
  const hw::HwConfig& hw_;
  hw::StepWriter steps_;
  hw::Simulator simulator_;
};

}  // namespace accsim::sim
