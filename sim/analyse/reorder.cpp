#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "sim/analyse/live_set.h"

namespace accsim::sim {
namespace {

/// Of more ready steps than this only the first in the given order are weighed up.
constexpr int kMostCandidates = 512;

/// What the next step is chosen by, first to last.
enum class Prefer { least_left, least_new, latest_ready };

/// A list scheduler, forward or backward in time. Seen from either end a buffer is allocated by the
/// first step that touches it and freed by the last; graph inputs (seen from the back: outputs) are
/// there from the start, outputs (inputs) stay to the end.
class ListScheduler {
 public:
  ListScheduler(const Storage& storage, bool backward)
      : storage_(storage),
        backward_(backward),
        waits_(storage.steps.size(), 0),
        next_(storage.steps.size()),
        started_(storage.buffers.size()),
        left_(started_.size()),
        stays_(started_.size()),
        ready_at_(storage.steps.size(), 0) {
    for (size_t s = 0; s < storage.steps.size(); ++s)
      for (int b : storage.steps[s].before) {
        const size_t from = backward ? s : static_cast<size_t>(b);
        const size_t to = backward ? static_cast<size_t>(b) : s;
        next_[from].push_back(static_cast<int>(to));
        ++waits_[to];
      }
    for (size_t b = 0; b < started_.size(); ++b) {
      const Storage::Buffer& buffer = storage.buffers[b];
      const bool input = buffer.writer < 0;
      started_[b] = backward ? buffer.kept : input;
      stays_[b] = backward ? input : buffer.kept;
      left_[b] = buffer.users.size();
    }
  }

  StepOrder schedule_steps(Prefer prefer) {
    for (size_t s = 0; s < waits_.size(); ++s)
      if (waits_[s] == 0) ready_.insert(position_of(static_cast<int>(s)));
    StepOrder out;
    while (!ready_.empty()) {
      const int chosen = choose_step(prefer);
      ready_.erase(position_of(chosen));
      take_step(chosen, static_cast<int>(out.size()));
      out.push_back(chosen);
    }
    if (backward_) std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  /// Place in the given order, seen from this end; its own inverse.
  int position_of(int step) const {
    return backward_ ? static_cast<int>(storage_.steps.size()) - 1 - step : step;
  }

  int choose_step(Prefer prefer) const {
    using Key = std::tuple<int64_t, int64_t, int64_t>;
    Key best{};
    int chosen = -1, seen = 0;
    for (int at : ready_) {
      if (++seen > kMostCandidates) break;
      const int step = position_of(at);
      const auto [more, less] = memory_change(step);
      const int64_t age = -ready_at_[static_cast<size_t>(step)];
      const Key key = prefer == Prefer::least_left  ? Key{more - less, more, age}
                      : prefer == Prefer::least_new ? Key{less >= more ? 0 : more, more - less, age}
                                                    : Key{age, more - less, more};
      if (chosen >= 0 && !(key < best)) continue;
      best = key;
      chosen = step;
    }
    return chosen;
  }

  /// Bytes that the step allocates, and bytes that are free behind it.
  std::pair<int64_t, int64_t> memory_change(int step) const {
    int64_t more = 0, less = 0;
    for (int id : storage_.steps[static_cast<size_t>(step)].buffers) {
      const auto b = static_cast<size_t>(id);
      if (!started_[b]) more += storage_.buffers[b].bytes;
      if (left_[b] == 1 && !stays_[b]) less += storage_.buffers[b].bytes;
    }
    return {more, less};
  }

  void take_step(int step, int now) {
    for (int b : storage_.steps[static_cast<size_t>(step)].buffers) {
      started_[static_cast<size_t>(b)] = true;
      --left_[static_cast<size_t>(b)];
    }
    for (int s : next_[static_cast<size_t>(step)])
      if (--waits_[static_cast<size_t>(s)] == 0) {
        ready_.insert(position_of(s));
        ready_at_[static_cast<size_t>(s)] = now + 1;
      }
  }

  const Storage& storage_;
  const bool backward_;
  std::vector<int> waits_;              ///< by step: how many must still run before it
  std::vector<std::vector<int>> next_;  ///< by step: who waits for it
  std::vector<bool> started_;           ///< by buffer: allocated
  std::vector<size_t> left_;            ///< by buffer: users still to run
  std::vector<bool> stays_;             ///< by buffer: never freed
  std::vector<int64_t> ready_at_;       ///< by step: when it became ready
  std::set<int> ready_;                 ///< positions
};

}  // namespace

StepOrder reorder_steps(const Storage& storage) {
  StepOrder best = given_order(storage);
  int64_t peak = live_peak(storage, best).bytes;
  for (const bool backward : {false, true})
    for (const Prefer prefer : {Prefer::least_left, Prefer::least_new, Prefer::latest_ready}) {
      StepOrder order = ListScheduler(storage, backward).schedule_steps(prefer);
      const int64_t its = live_peak(storage, order).bytes;
      if (its >= peak) continue;
      peak = its;
      best = std::move(order);
    }
  return best;
}

}  // namespace accsim::sim
