#include <algorithm>
#include <atomic>
#include <set>

#include "sim/base/threads.h"
#include "sim/map/mapper.h"

namespace accsim::sim {
namespace {

constexpr size_t kFewOps = 8;  ///< mapped sooner than threads begin

struct AheadJob {
  std::string key;
  const NetworkOp* op;
  std::shared_ptr<const Mapping> found;
  int64_t candidates = 0, evaluated = 0;
};

}  // namespace

void Mapper::map_ahead(std::span<const NetworkOp> ops) {
  std::vector<AheadJob> jobs;
  std::set<std::string> seen;
  for (const NetworkOp& op : ops) {
    // Moves are soon mapped one after the other, those that are alike by what was found before.
    if (std::holds_alternative<MemoryOp>(op.request->item)) continue;
    std::string key = key_of(*op.request) + pin_of(*op.layer).layers;
    if (!cache_.contains(key) && seen.insert(key).second) jobs.push_back({std::move(key), &op, {}});
  }
  const int threads = std::min(options_.threads, static_cast<int>(std::ssize(jobs)));
  if (threads < 2 || jobs.size() < kFewOps) return;
  std::atomic<size_t> next = 0;
  const auto work = [&](int) {
    Mapper mapper(hw_, options_);
    for (size_t i = next++; i < jobs.size(); i = next++) {
      if (mapper.is_over()) return;
      AheadJob& job = jobs[i];
      Result<Mapping> found = mapper.choose_mapping(*job.op->request, *job.op->layer);
      if (!found) continue;
      job.candidates = found->candidates;
      job.evaluated = found->evaluated;
      job.found = std::make_shared<const Mapping>(std::move(*found));
    }
  };
  Threads others(threads - 1, work);
  work(threads - 1);
  others.join();
  for (AheadJob& job : jobs) {
    if (!job.found) continue;
    candidates_ += job.candidates;
    evaluated_ += job.evaluated;
    cache_.emplace(std::move(job.key), std::move(job.found));
  }
}

}  // namespace accsim::sim
