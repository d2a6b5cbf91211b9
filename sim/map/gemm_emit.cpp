#include "sim/map/gemm_emitter.h"

namespace accsim::sim {

hw::Program emit(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  ProgramSink sink(t.dataflow);
  GemmEmitter(p, hw, t, sink).run();
  return sink.take();
}

}  // namespace accsim::sim
