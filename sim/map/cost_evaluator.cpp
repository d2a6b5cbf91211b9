#include "sim/map/cost_evaluator.h"

#include "sim/map/cost_sink.h"
#include "sim/map/describe.h"

namespace accsim::sim {

/// What `take` makes of the sink to which the program of a tiling has been described.
template <class Problem, class Tiling, class Take>
auto CostEvaluator::described(const Problem& p, const Tiling& t, Marks marks, Take take) {
  const auto to = [&](auto sink) {
    describe(p, hw_, t, sink);
    return take(sink);
  };
  if (hw_.dram_model == hw::DramModel::banked)
    return to(CostSink<hw::Affine>(hw_, dataflow_of(t), steps_, marks));
  return to(CostSink<NoAddress>(hw_, dataflow_of(t), steps_, marks));
}

void CostEvaluator::tell_limit(bool timed) {
  if (limit_ == nullptr) return;
  if (timed) limit_->add_timings(1, std::ssize(steps_.steps()));
  const auto walks = steps_.dram_walks();
  for (; told_walks_ < walks.size(); ++told_walks_)
    limit_->add_walk(walks[told_walks_].kind, walks[told_walks_].bursts);
}

template <class Problem, class Tiling>
Cost CostEvaluator::cost(const Problem& p, const Tiling& t) {
  return described(p, t, Marks::no, [&](const auto& sink) -> Cost {
    tell_limit(true);
    return {
        simulator_.run(steps_.steps(), hw_, hw::TimingMode::periodic, nullptr, steps_.regions()),
        sink.counts()};
  });
}

template <class Problem, class Tiling>
CostEvaluator::Traced CostEvaluator::traced(const Problem& p, const Tiling& t) {
  return described(p, t, Marks::yes, [&](auto& sink) -> Traced {
    sink.set_marks();
    tell_limit(false);
    const std::span<const hw::Step> all = steps_.steps();
    return {{{all.begin(), all.end()}, sink.ports(), sink.bytes_of_regions(), sink.shared_bytes()},
            sink.counts()};
  });
}

template Cost CostEvaluator::cost(const GemmProblem&, const Tiling&);
template Cost CostEvaluator::cost(const GemmProblem&, const TapTiling&);
template Cost CostEvaluator::cost(const GemmProblem&, const ProductTiling&);
template Cost CostEvaluator::cost(const LaneProblem&, const LaneTiling&);
template Cost CostEvaluator::cost(const RowProblem&, const RowTile&);
template Cost CostEvaluator::cost(const GatherProblem&, const GatherTile&);
template Cost CostEvaluator::cost(const MoveProblem&, const MoveCut&);
template Cost CostEvaluator::cost(const StreamProblem&, const StreamCut&);
template CostEvaluator::Traced CostEvaluator::traced(const GemmProblem&, const Tiling&);
template CostEvaluator::Traced CostEvaluator::traced(const GemmProblem&, const ProductTiling&);
template CostEvaluator::Traced CostEvaluator::traced(const LaneProblem&, const LaneTiling&);
template CostEvaluator::Traced CostEvaluator::traced(const RowProblem&, const RowTile&);
template CostEvaluator::Traced CostEvaluator::traced(const GatherProblem&, const GatherTile&);
template CostEvaluator::Traced CostEvaluator::traced(const MoveProblem&, const MoveCut&);
template CostEvaluator::Traced CostEvaluator::traced(const StreamProblem&, const StreamCut&);

}  // namespace accsim::sim
