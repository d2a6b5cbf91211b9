#include "hw/dot_product/read_port.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/units.h"

namespace accsim::hw {

void ReadPort::begin_layer(const ReadRequests& demand) {
  demand_ = {demand.features, demand.features_begin, {}};
  for (const EntriesFrom& weights : demand.weights) add(weights);
  features_left_ = demand_.features;
  opened_ = cursor_ = 0;
  open_ = asked_ = 0;
  runs_.clear();
  first_read_ = kNever;
  run_on();
}

void ReadPort::allow(EntriesFrom weights) {
  add(weights);
  run_on();
}

/// Where no more may be asked for than before, nothing changes: the port doesn't wait for that.
void ReadPort::add(EntriesFrom weights) {
  const int64_t before = demand_.weights.empty() ? 0 : demand_.weights.back().entries;
  if (weights.entries > before) demand_.weights.push_back(weights);
}

int64_t ReadPort::weight_read(int64_t n) {
  while (cursor_ < runs_.size() && runs_[cursor_].before + runs_[cursor_].count < n) ++cursor_;
  check(cursor_ < runs_.size() && n > runs_[cursor_].before, "weights that aren't asked for");
  const Run& run = runs_[cursor_];
  return run.cycle + (n - run.before - 1) * run.stride;
}

void ReadPort::run_on() {
  while (step()) {
  }
}

/// One run of reads, or a wait; false when all that may ever be asked for has been.
bool ReadPort::step() {
  for (; opened_ < demand_.weights.size() && demand_.weights[opened_].cycle <= next_; ++opened_)
    open_ = demand_.weights[opened_].entries;
  const int64_t weights = open_ - asked_;
  const int64_t features = demand_.features_begin <= next_ ? features_left_ : 0;
  const int64_t change = next_change();
  if (weights == 0 && features == 0) {
    if (change == kNever) return false;
    next_ = change;
    return true;
  }
  const int64_t most = change == kNever ? kNever : ceil_div(change - next_, interval_);
  if (weights > 0 && features > 0) {
    // Until the one that ends first has ended.
    const int64_t first = features_turn_ ? features : weights;
    const int64_t second = features_turn_ ? weights : features;
    read_in_turns(std::min(most, first <= second ? 2 * first - 1 : 2 * second));
  } else if (weights > 0) {
    read_weights(next_, interval_, std::min(most, weights));
    features_turn_ = true;
  } else {
    read_features(next_, interval_, std::min(most, features));
    features_turn_ = false;
  }
  next_ = last_read_ + interval_;
  return true;
}

/// The first cycle after next_ from which on more may be asked for.
int64_t ReadPort::next_change() const {
  int64_t change = kNever;
  if (opened_ < demand_.weights.size()) change = demand_.weights[opened_].cycle;
  if (features_left_ > 0 && demand_.features_begin > next_)
    change = std::min(change, demand_.features_begin);
  return change;
}

void ReadPort::read_in_turns(int64_t reads) {
  const int64_t first = ceil_div(reads, 2), second = reads / 2;
  const int64_t stride = 2 * interval_, later = next_ + interval_;
  if (features_turn_) {
    read_features(next_, stride, first);
    read_weights(later, stride, second);
  } else {
    read_weights(next_, stride, first);
    read_features(later, stride, second);
  }
  if (reads % 2 == 1) features_turn_ = !features_turn_;
}

void ReadPort::read_weights(int64_t cycle, int64_t stride, int64_t count) {
  if (count == 0) return;
  runs_.push_back({asked_, count, cycle, stride});
  asked_ += count;
  note(cycle, cycle + (count - 1) * stride);
}

void ReadPort::read_features(int64_t cycle, int64_t stride, int64_t count) {
  if (count == 0) return;
  features_left_ -= count;
  last_feature_read_ = cycle + (count - 1) * stride;
  note(cycle, last_feature_read_);
}

void ReadPort::note(int64_t first, int64_t last) {
  first_read_ = std::min(first_read_, first);
  last_read_ = std::max(last_read_, last);
}

}  // namespace accsim::hw
