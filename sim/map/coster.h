#pragma once
#include "hw/timing/simulator.h"
#include "sim/map/gemm_problem.h"
#include "sim/map/stream.h"

namespace accsim {

struct Cost {
  Timing timing;
  Counts counts;
};

/// What the program of a tiling costs, without building the program: equal to simulate() and count() of
/// emit(). Keeps its memory from call to call. Not thread-safe.
class Coster {
 public:
  explicit Coster(const HwConfig& hw) : hw_(hw) {}
  Coster(const Coster&) = delete;
  Coster& operator=(const Coster&) = delete;

  Cost cost(const GemmProblem& p, const Tiling& t);
  Cost cost(const StreamProblem& p, int64_t chunks, int64_t passes);

 private:
  const HwConfig& hw_;
  StepWriter steps_;
  Simulator simulator_;
};

}  // namespace accsim
