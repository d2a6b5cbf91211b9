#include "sim/map/coster.h"
#include "sim/map/gemm_emitter.h"

namespace accsim {

Program emit(const GemmProblem& p, const HwConfig& hw, const Tiling& t) {
  ProgramSink sink(t.dataflow);
  GemmEmitter(p, hw, t, sink).run();
  return sink.take();
}

Cost Coster::cost(const GemmProblem& p, const Tiling& t) {
  CostSink sink(hw_, t.dataflow, steps_);
  GemmEmitter(p, hw_, t, sink).run();
  return {simulator_.run(steps_.steps(), hw_, TimingMode::periodic), sink.counts()};
}

}  // namespace accsim
