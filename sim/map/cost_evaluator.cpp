#include "sim/map/cost_evaluator.h"

#include "sim/map/gather_emitter.h"
#include "sim/map/gemm_emitter.h"
#include "sim/map/lane_emitter.h"
#include "sim/map/move_emitter.h"
#include "sim/map/row_emitter.h"
#include "sim/map/vector_emitter.h"

namespace accsim::sim {

namespace {

template <class Sink>
void describe(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, Sink& to) {
  GemmEmitter(p, hw, t, to).run();
}

struct Chunks {
  int64_t chunks, passes;
};
template <class Sink>
void describe(const VectorProblem& p, const hw::HwConfig&, const Chunks& t, Sink& to) {
  if (p.axes.empty())
    VectorEmitter(p, t.chunks, t.passes, to).run();
  else
    MoveEmitter(p, t.chunks, to).run();
}

template <class Sink>
void describe(const RowProblem& p, const hw::HwConfig&, const RowTile& t, Sink& to) {
  RowEmitter(p, t, to).run();
}

template <class Sink>
void describe(const LaneProblem& p, const hw::HwConfig& hw, const LaneTiling& t, Sink& to) {
  LaneEmitter(as_cut(p, t), hw, t, to).run();
}

template <class Sink>
void describe(const GatherProblem& p, const hw::HwConfig&, const GatherTile& t, Sink& to) {
  GatherEmitter(p, t, to).run();
}

hw::Dataflow dataflow(const Tiling& t) { return t.dataflow; }
template <class Tile>
hw::Dataflow dataflow(const Tile&) {
  return hw::Dataflow::weight_stationary;
}

}  // namespace

/// What `take` makes of the sink to which the program of a tiling has been described.
template <class Problem, class Tile, class Take>
auto CostEvaluator::described(const Problem& p, const Tile& t, Marks marks, Take take) {
  const auto to = [&](auto sink) {
    describe(p, hw_, t, sink);
    return take(sink);
  };
  if (hw_.dram_model == hw::DramModel::banked)
    return to(CostSink<hw::Affine>(hw_, dataflow(t), steps_, marks));
  return to(CostSink<NoAddress>(hw_, dataflow(t), steps_, marks));
}

template <class Problem, class Tile>
Cost CostEvaluator::alone(const Problem& p, const Tile& t) {
  return described(p, t, Marks::no, [&](const auto& sink) -> Cost {
    return {
        simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic, nullptr, steps_.regions()),
        sink.counts()};
  });
}

template <class Problem, class Tile>
CostEvaluator::Linked CostEvaluator::in_chain(const Problem& p, const Tile& t) {
  return described(p, t, Marks::yes, [&](auto& sink) -> Linked {
    sink.set_marks();
    const std::span<const hw::Step> all = steps_.steps();
    return {{{all.begin(), all.end()}, sink.ports(), sink.regions(), sink.shared_bytes()},
            sink.counts()};
  });
}

Cost CostEvaluator::cost(const GemmProblem& p, const Tiling& t) { return alone(p, t); }
Cost CostEvaluator::cost(const VectorProblem& p, int64_t chunks, int64_t passes) {
  return alone(p, Chunks{chunks, passes});
}
Cost CostEvaluator::cost(const RowProblem& p, const RowTile& t) { return alone(p, t); }
Cost CostEvaluator::cost(const LaneProblem& p, const LaneTiling& t) { return alone(p, t); }
Cost CostEvaluator::cost(const GatherProblem& p, const GatherTile& t) { return alone(p, t); }

CostEvaluator::Linked CostEvaluator::linked(const GemmProblem& p, const Tiling& t) {
  return in_chain(p, t);
}
CostEvaluator::Linked CostEvaluator::linked(const VectorProblem& p, int64_t chunks,
                                            int64_t passes) {
  return in_chain(p, Chunks{chunks, passes});
}
CostEvaluator::Linked CostEvaluator::linked(const RowProblem& p, const RowTile& t) {
  return in_chain(p, t);
}
CostEvaluator::Linked CostEvaluator::linked(const LaneProblem& p, const LaneTiling& t) {
  return in_chain(p, t);
}
CostEvaluator::Linked CostEvaluator::linked(const GatherProblem& p, const GatherTile& t) {
  return in_chain(p, t);
}

}  // namespace accsim::sim
