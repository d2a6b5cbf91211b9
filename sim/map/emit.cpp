#include "sim/map/describe.h"
#include "sim/map/program_sink.h"

namespace accsim::sim {

template <class Problem, class Tiling>
hw::Program emit(const Problem& p, const hw::HwConfig& hw, const Tiling& t) {
  ProgramSink sink(dataflow_of(t));
  describe(p, hw, t, sink);
  return sink.take_program();
}

template hw::Program emit(const GemmProblem&, const hw::HwConfig&, const Tiling&);
template hw::Program emit(const GemmProblem&, const hw::HwConfig&, const TapTiling&);
template hw::Program emit(const GemmProblem&, const hw::HwConfig&, const ProductTiling&);
template hw::Program emit(const LaneProblem&, const hw::HwConfig&, const LaneTiling&);
template hw::Program emit(const RowProblem&, const hw::HwConfig&, const RowTile&);
template hw::Program emit(const GatherProblem&, const hw::HwConfig&, const GatherTile&);
template hw::Program emit(const MoveProblem&, const hw::HwConfig&, const MoveCut&);
template hw::Program emit(const StreamProblem&, const hw::HwConfig&, const StreamCut&);

}  // namespace accsim::sim
