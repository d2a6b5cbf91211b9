#include "sim/sweep/grid_run.h"

#include <algorithm>
#include <system_error>

#include "sim/base/threads.h"
#include "sim/sweep/process_identity.h"

namespace accsim::sim {
namespace {

constexpr size_t kSpan = 16;          // points that are claimed together at least
constexpr size_t kMostSpans = 32;     // claimed in one transaction
constexpr size_t kCommitRows = 2048;  // rows of a transaction, unless kCommitTime comes first
constexpr size_t kQueueRows = 4 * kCommitRows;
constexpr auto kCommitTime = std::chrono::seconds(1);
constexpr auto kClaimTime = std::chrono::milliseconds(200);  // that claimed points should last
constexpr auto kWait = std::chrono::milliseconds(100);       // for other processes

}  // namespace

GridRun::GridRun(const SweepSpec& spec, const SweepRun& run, SweepStore& store,
                 std::vector<Evaluator> evaluators, SweepOutcome& outcome)
    : spec_(spec),
      run_(run),
      store_(store),
      evaluators_(std::move(evaluators)),
      outcome_(outcome),
      owner_(process_owner()),
      source_(spec) {
  if (bind_axes(spec) == 0) return;
  machines_ = 1;
  for (size_t a = bind_axes(spec); a < spec.axes.size(); ++a)
    machines_ *= std::ssize(spec.axes[a].steps);
}

Status GridRun::run() {
  const Status done = all_points();
  const Status freed = store_.release_claims(owner_);
  return done ? freed : done;
}

Status GridRun::all_points() {
  if (const Status freed = store_.release_dead(owner_is_dead); !freed) return freed;
  run_pass();
  while (errors_.empty() && !is_stopped() && !elsewhere_.empty()) {
    // Their owners finish them, or die and leave them to us.
    if (const Status freed = store_.release_dead(owner_is_dead); !freed) return freed;
    const size_t before = elsewhere_.size();
    again_.swap(elsewhere_);
    run_pass();
    if (elsewhere_.size() == before) std::this_thread::sleep_for(kWait);
  }
  if (!errors_.empty()) return errors_;
  for (const std::vector<PointRange>* left : {&elsewhere_, &again_})
    for (const PointRange& span : *left) outcome_.elsewhere += std::ssize(span.points);
  return ok();
}

/// Until there are neither points of the source left nor spans to be tried again.
void GridRun::run_pass() {
  // Their number is known before any of them is done: working_ is changed and read under the lock.
  std::unique_lock lock(queue_mutex_);
  Threads threads(static_cast<int>(evaluators_.size()),
                  [this](int i) { try_work(evaluators_[static_cast<size_t>(i)]); });
  working_ = threads.count();
  lock.unlock();
  if (threads.count() == 0)
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "no thread for the sweep");
  try {
    write_queue();
  } catch (...) {
    give_up();
    throw;  // when the threads have seen it
  }
  threads.join();
}

/// Lets all threads end: one has thrown, and what it had to do won't be done.
void GridRun::give_up() {
  const std::lock_guard lock(queue_mutex_);
  failed_ = true;
  filled_.notify_all();
  drained_.notify_all();
}

/// cost_points(); a thread that ends early says so, for the writer waits for it.
void GridRun::try_work(Evaluator& evaluator) {
  const auto leave = [this] {
    const std::lock_guard lock(queue_mutex_);
    --working_;
    filled_.notify_one();
  };
  try {
    cost_points(evaluator);
  } catch (...) {
    give_up();
    leave();
    throw;
  }
  leave();
}

void GridRun::fail(const Status& status) {
  const std::lock_guard lock(queue_mutex_);
  if (!failed_.exchange(true)) errors_ = status.errors();
  filled_.notify_all();
  drained_.notify_all();
}

/// Nothing at the end. Called with source_mutex_ held, like refill_pending() and take_spans().
std::optional<PointRange> GridRun::next_span() {
  if (!again_.empty()) {
    PointRange out = std::move(again_.back());
    again_.pop_back();
    return out;
  }
  PointRange out;
  while (out.points.size() < kSpan) {
    const int64_t point = source_.next_point();
    if (point < 0) break;
    if (position_++ % run_.shard.of == run_.shard.index - 1) out.points.push_back(point);
  }
  if (out.points.empty()) return std::nullopt;
  out.number = span_++;
  return out;
}

/// Draws points until some are ours to do. False at the end.
bool GridRun::refill_pending() {
  while (pending_.empty() && !is_stopped()) {
    const auto now = std::chrono::steady_clock::now();
    const bool soon = now - refilled_ < kClaimTime;
    claimed_together_ = soon ? std::min(kMostSpans, claimed_together_ * 2)
                             : std::max(size_t{1}, claimed_together_ / 2);
    refilled_ = now;
    std::vector<PointRange> spans;
    while (spans.size() < claimed_together_) {
      auto span = next_span();
      if (!span) break;
      spans.push_back(std::move(*span));
    }
    if (spans.empty()) return false;
    if (const Status taken = take_spans(std::move(spans)); !taken) fail(taken);
  }
  return !pending_.empty() && !is_stopped();
}

/// Of the spans that no other process has, the points that aren't stored.
Status GridRun::take_spans(std::vector<PointRange> spans) {
  size_t asked = 0, missing = 0;
  for (const PointRange& span : spans) asked += span.points.size();
  {
    const std::lock_guard lock(store_mutex_);
    if (const Status claimed = store_.claim_spans(spans, owner_); !claimed) return claimed;
  }
  for (PointRange& span : spans) {
    missing += span.points.size();
    if (span.points.empty()) continue;
    if (span.ours)
      pending_.insert(pending_.end(), span.points.begin(), span.points.end());
    else
      elsewhere_.push_back(std::move(span));
  }
  std::reverse(pending_.begin(), pending_.end());
  const std::lock_guard lock(queue_mutex_);
  done_ += static_cast<int64_t>(asked - missing);
  return ok();
}

/// One, or more of one workload, whose networks a thread makes ready once. Nothing at the end.
std::vector<int64_t> GridRun::next_points() {
  const std::lock_guard lock(source_mutex_);
  std::vector<int64_t> out;
  if (!refill_pending()) return out;
  const auto workload = [this](int64_t point) { return point / machines_; };
  do {
    out.push_back(pending_.back());
    pending_.pop_back();
  } while (machines_ > 0 && out.size() < kSpan && !pending_.empty() &&
           workload(pending_.back()) == workload(out.front()));
  return out;
}

void GridRun::cost_points(Evaluator& evaluator) {
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
  for (auto points = next_points(); !points.empty(); points = next_points())
    for (const int64_t point : points) {
      if (is_stopped()) break;
      rows.push_back(evaluator.evaluate_point(point));
      const auto now = std::chrono::steady_clock::now();
      if (rows.size() < 32 && now - last < std::chrono::milliseconds(100)) continue;
      last = now;
      hand_over();
    }
  hand_over();
}

/// Commits rows until all threads are done. A failed transaction ends the run.
void GridRun::write_queue() {
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

}  // namespace accsim::sim
