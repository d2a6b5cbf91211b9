#include "sim/map/cost_evaluator.h"
#include "sim/map/gemm_emitter.h"

namespace accsim::sim {

hw::Program emit(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  ProgramSink sink(t.dataflow);
  GemmEmitter(p, hw, t, sink).run();
  return sink.take();
}

Cost CostEvaluator::cost(const GemmProblem& p, const Tiling& t) {
  CostSink sink(hw_, t.dataflow, steps_);
  GemmEmitter(p, hw_, t, sink).run();
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

}  // namespace accsim::sim
