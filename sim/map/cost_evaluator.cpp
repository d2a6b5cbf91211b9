#include "sim/map/cost_evaluator.h"

#include "sim/map/gather_emitter.h"
#include "sim/map/gemm_emitter.h"
#include "sim/map/lane_emitter.h"
#include "sim/map/move_emitter.h"
#include "sim/map/row_emitter.h"
#include "sim/map/vector_emitter.h"

namespace accsim::sim {

namespace {

void describe(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, CostSink& to) {
  GemmEmitter(p, hw, t, to).run();
}

void describe(const VectorProblem& p, int64_t chunks, int64_t passes, CostSink& to) {
  if (p.axes.empty())
    VectorEmitter(p, chunks, passes, to).run();
  else
    MoveEmitter(p, chunks, to).run();
}

/// Of the program that has been described to `sink`.
CostEvaluator::Linked take_link(CostSink& sink, const hw::StepWriter& steps) {
  sink.set_marks();
  const std::span<const hw::Step> all = steps.steps();
  return {{{all.begin(), all.end()}, sink.ports(), sink.regions()}, sink.counts()};
}

}  // namespace

Cost CostEvaluator::cost(const GemmProblem& p, const Tiling& t) {
  CostSink sink(hw_, t.dataflow, steps_);
  describe(p, hw_, t, sink);
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic, nullptr, steps_.regions()),
          sink.counts()};
}

Cost CostEvaluator::cost(const VectorProblem& p, int64_t chunks, int64_t passes) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_);
  describe(p, chunks, passes, sink);
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

Cost CostEvaluator::cost(const RowProblem& p, const RowTile& t) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_);
  RowEmitter(p, t, sink).run();
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

CostEvaluator::Linked CostEvaluator::linked(const GemmProblem& p, const Tiling& t) {
  CostSink sink(hw_, t.dataflow, steps_, CostSink::Marks::yes);
  describe(p, hw_, t, sink);
  return take_link(sink, steps_);
}

CostEvaluator::Linked CostEvaluator::linked(const VectorProblem& p, int64_t chunks,
                                            int64_t passes) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_, CostSink::Marks::yes);
  describe(p, chunks, passes, sink);
  return take_link(sink, steps_);
}

CostEvaluator::Linked CostEvaluator::linked(const RowProblem& p, const RowTile& t) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_, CostSink::Marks::yes);
  RowEmitter(p, t, sink).run();
  return take_link(sink, steps_);
}

Cost CostEvaluator::cost(const LaneProblem& p, const LaneTiling& t) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_);
  LaneEmitter(as_cut(p, t), t, sink).run();
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

CostEvaluator::Linked CostEvaluator::linked(const LaneProblem& p, const LaneTiling& t) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_, CostSink::Marks::yes);
  LaneEmitter(as_cut(p, t), t, sink).run();
  return take_link(sink, steps_);
}

Cost CostEvaluator::cost(const GatherProblem& p, const GatherTile& t) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_);
  GatherEmitter(p, t, sink).run();
  return {simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic), sink.counts()};
}

CostEvaluator::Linked CostEvaluator::linked(const GatherProblem& p, const GatherTile& t) {
  CostSink sink(hw_, hw::Dataflow::weight_stationary, steps_, CostSink::Marks::yes);
  GatherEmitter(p, t, sink).run();
  return take_link(sink, steps_);
}

}  // namespace accsim::sim
