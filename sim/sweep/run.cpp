#include "sim/sweep/run.h"

#include <fmt/format.h>

#include "sim/sweep/adaptive.h"
#include "sim/sweep/grid_run.h"

namespace accsim::sim {
namespace {

/// How many stored points can be costed. A sweep without any has no answer.
Status count_stored(SweepStore& store, const SweepSpec& spec, SweepOutcome& out) {
  auto counts = store.database().prepare(
      "SELECT count(*), count(cycles), (SELECT reason FROM points WHERE cycles IS NULL "
      "ORDER BY point LIMIT 1) FROM points");
  if (!counts) return counts.errors();
  if (const auto row = counts->step(); !row) return row.errors();
  out.stored = counts->int_column(0);
  out.feasible = counts->int_column(1);
  if (out.stored == 0 || out.feasible > 0 || out.interrupted) return ok();
  return Error{Errc::invalid,
               fmt::format("none of the {} machines can run the networks; the first because: {}",
                           out.stored, counts->text_column(2)),
               spec.file};
}

}  // namespace

StoreMeta wanted_meta(const SweepSpec& spec, const SweepRun& run, int64_t points) {
  StoreMeta out;
  out.schema = kStoreSchema;
  out.version = run.version;
  out.spec = spec.hash;
  out.shard = run.shard;
  out.points = points;
  return out;
}

Result<SweepOutcome> run_sweep(const SweepSpec& spec, const SweepRun& run) {
  if (spec.strategy == Strategy::pareto && run.shard.of > 1)
    return Error{Errc::usage,
                 "a pareto sweep decides by all results so far and can't be cut into shards; use "
                 "\"strategy: grid\" or random",
                 "--shard"};
  const auto points = count_points(spec);
  if (!points) return points.errors();
  std::vector<Evaluator> evaluators;
  const auto mappings = std::make_shared<MappingMemory>();
  for (int i = 0; i < run.threads; ++i) {
    auto one = Evaluator::create(spec, mappings);
    if (!one) return one.errors();
    evaluators.push_back(std::move(*one));
  }
  auto store = SweepStore::open(run.store, spec, wanted_meta(spec, run, *points));
  if (!store) return store.errors();
  SweepOutcome out;
  out.total = run.shard.count(*points);
  const Status done = spec.strategy == Strategy::pareto
                          ? AdaptiveRun(spec, run, **store, std::move(evaluators), out).run()
                          : GridRun(spec, run, **store, std::move(evaluators), out).run();
  out.lost = (*store)->is_lost();
  if (out.lost) return out;
  if (!done) return done.errors();
  out.interrupted = run.stop != nullptr && *run.stop;
  if (const Status counted = count_stored(**store, spec, out); !counted) return counted.errors();
  out.lost = (*store)->is_lost();
  return out;
}

}  // namespace accsim::sim
