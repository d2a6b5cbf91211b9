#include "sim/sweep/stream.h"

#include <algorithm>
#include <thread>

#include "sim/sweep/owner.h"

namespace accsim {
namespace {

constexpr size_t kSpan = 512;         // points that are claimed together
constexpr size_t kCommitRows = 2048;  // rows of a transaction, unless kCommitTime comes first
constexpr size_t kQueueRows = 4 * kCommitRows;
constexpr auto kCommitTime = std::chrono::seconds(1);

}  // namespace

StreamRun::StreamRun(const SweepSpec& spec, const SweepRun& run, Store& store,
                     std::vector<Evaluator> evaluators, SweepOutcome& outcome)
    : spec_(spec),
      run_(run),
      store_(store),
      evaluators_(std::move(evaluators)),
      outcome_(outcome),
      owner_(process_owner()),
      source_(spec) {}

Status StreamRun::run() {
  if (const Status freed = store_.release_dead(owner_is_dead); !freed) return freed;
  while (true) {
    const int64_t before = outcome_.evaluated;
    pass();
    if (!errors_.empty()) return errors_;
    if (elsewhere_ == 0 || stopped()) break;
    // Others had claimed points. Take over what they left behind if they have died meanwhile.
    if (const Status freed = store_.release_dead(owner_is_dead); !freed) return freed;
    if (outcome_.evaluated == before) break;
  }
  outcome_.elsewhere = elsewhere_;
  return store_.release(owner_);
}

/// Once over all points.
void StreamRun::pass() {
  source_.rewind();
  position_ = span_ = elsewhere_ = done_ = 0;
  exhausted_ = false;
  working_ = static_cast<int>(evaluators_.size());
  std::vector<std::thread> threads;
  for (Evaluator& evaluator : evaluators_)
    threads.emplace_back([this, &evaluator] { work(evaluator); });
  write();
  for (std::thread& t : threads) t.join();
}

void StreamRun::fail(const Status& status) {
  const std::lock_guard lock(queue_mutex_);
  if (!failed_) errors_ = status.errors();
  failed_ = true;
  filled_.notify_all();
  drained_.notify_all();
}

/// Draws points until some are ours to do. False at the end. Called with source_mutex_ held.
bool StreamRun::refill() {
  while (pending_.empty() && !exhausted_ && !stopped()) {
    std::vector<int64_t> points;
    while (points.size() < kSpan) {
      const int64_t point = source_.next();
      if (point < 0) {
        exhausted_ = true;
        break;
      }
      if (position_++ % run_.shard.of == run_.shard.index - 1) points.push_back(point);
    }
    if (points.empty()) break;
    if (const Status taken = take_span(points, span_++); !taken) fail(taken);
  }
  return !pending_.empty() && !stopped();
}

/// Of a span, the points that aren't stored, if the span isn't another process's.
Status StreamRun::take_span(const std::vector<int64_t>& points, int64_t span) {
  const std::lock_guard lock(store_mutex_);
  const auto stored = store_.stored(points);
  if (!stored) return stored.errors();
  const auto have = static_cast<int64_t>(stored->size());
  std::vector<int64_t> missing;
  for (const int64_t p : points)
    if (!stored->contains(p)) missing.push_back(p);
  {
    const std::lock_guard queue(queue_mutex_);
    done_ += have;
  }
  if (missing.empty()) return ok();
  const auto ours = store_.claim(span, owner_);
  if (!ours) return ours.errors();
  if (!*ours) {
    elsewhere_ += static_cast<int64_t>(missing.size());
    return ok();
  }
  pending_.assign(missing.rbegin(), missing.rend());
  return ok();
}

int64_t StreamRun::next_point() {
  const std::lock_guard lock(source_mutex_);
  if (!refill()) return -1;
  const int64_t point = pending_.back();
  pending_.pop_back();
  return point;
}

void StreamRun::work(Evaluator& evaluator) {
  std::vector<PointRow> rows;
  const auto hand_over = [&] {
    std::unique_lock lock(queue_mutex_);
    drained_.wait(lock, [this] { return queue_.size() < kQueueRows || failed_; });
    outcome_.evaluated += static_cast<int64_t>(rows.size());
    std::move(rows.begin(), rows.end(), std::back_inserter(queue_));
    rows.clear();
    filled_.notify_one();
  };
  auto last = std::chrono::steady_clock::now();
  for (int64_t point = next_point(); point >= 0; point = next_point()) {
    rows.push_back(evaluator.point(point));
    const auto now = std::chrono::steady_clock::now();
    if (rows.size() < 32 && now - last < std::chrono::milliseconds(100)) continue;
    last = now;
    hand_over();
  }
  hand_over();
  const std::lock_guard lock(queue_mutex_);
  --working_;
  filled_.notify_one();
}

/// Commits rows until all threads are done. A failed transaction ends the run.
void StreamRun::write() {
  while (true) {
    std::vector<PointRow> rows;
    bool last = false;
    SweepProgress progress;
    {
      std::unique_lock lock(queue_mutex_);
      filled_.wait_for(lock, kCommitTime,
                       [this] { return queue_.size() >= kCommitRows || working_ == 0 || failed_; });
      rows.swap(queue_);
      last = working_ == 0;
      drained_.notify_all();
      done_ += static_cast<int64_t>(rows.size());
      progress = {done_, outcome_.total, outcome_.evaluated};
    }
    if (!rows.empty() && !failed_) {
      const std::lock_guard lock(store_mutex_);
      if (const Status written = store_.write(rows, {}); !written) fail(written);
    }
    if (run_.progress) run_.progress(progress);
    if (last) return;
  }
}

}  // namespace accsim
