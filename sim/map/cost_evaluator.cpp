#include "sim/map/cost_evaluator.h"

#include "sim/map/gemm_emitter.h"
#include "sim/map/move_emitter.h"
#include "sim/map/vector_emitter.h"

namespace accsim::sim {

Cost CostEvaluator::cost(const GemmProblem& p, const Tiling& t) {
  CostSink sink(hw_, t.dataflow, steps_);
  GemmEmitter(p, hw_, t, sink).run();
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

Cost CostEvaluator::cost(const VectorProblem& p, int64_t chunks, int64_t passes) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_);
  if (p.axes.empty())
    VectorEmitter(p, chunks, passes, sink).run();
  else
    MoveEmitter(p, chunks, sink).run();
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

}  // namespace accsim::sim
