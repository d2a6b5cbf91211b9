#include "hw/timing/bus.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim::hw {

/// Behind all others.
void Bus::keep_gap(const Gap& gap, const Use& use) {
  if (gap.end - gap.begin <= use.to + use.from) return;
  if (count_ == kGaps) {
    std::shift_left(gaps_.begin(), gaps_.end(), 1);
    --count_;
  }
  gaps_[count_++] = gap;
}

Bus::Slot Bus::take(const Use& use, int64_t ready) {
  check(use.to < kLongestTurn && use.from < kLongestTurn, "a turn that takes too long");
  const std::array<Gap, kGaps> gaps = gaps_;
  const uint32_t count = count_;
  Slot out{-1, -1, false};
  int64_t left = use.time;
  const auto piece = [&](int64_t from, int64_t time, bool behind) {
    if (out.begin < 0) out.begin = from, out.behind_write = behind;
    out.end = from + time;
    left -= time;
  };
  uint32_t i = 0;
  while (i < count && gaps[i].end <= ready) ++i;
  count_ = i;
  for (; i < count; ++i) {
    const Gap& g = gaps[i];
    const int64_t from = std::max(ready, g.begin + (g.write_before != use.write ? use.to : 0));
    const int64_t till = g.end - (g.write_after != use.write ? use.from : 0);
    const int64_t time = std::min(left, till - from);
    if (time <= 0) {
      keep_gap(g, use);
      continue;
    }
    piece(from, time, g.write_before);
    keep_gap({g.begin, from, g.write_before, use.write}, use);
    keep_gap({from + time, g.end, use.write, g.write_after}, use);
  }
  if (left == 0) return out;
  const int64_t from = std::max(ready, free_ + (write_ != use.write ? use.to : 0));
  keep_gap({free_, from, write_, use.write}, use);
  free_ = from + left;
  piece(from, left, write_);
  write_ = use.write;
  return out;
}

bool Bus::has_grown(const Bus& before, int64_t growth, int64_t floor) const {
  if (free_ - before.free_ != growth || write_ != before.write_ || count_ != before.count_)
    return false;
  for (uint32_t i = 0; i < count_; ++i) {
    const Gap& was = before.gaps_[i];
    const Gap later = {was.begin + growth, was.end + growth, was.write_before, was.write_after};
    if (gaps_[i] != later && (was.end > floor || gaps_[i] != was)) return false;
  }
  return true;
}

void Bus::move_later(const Bus& before, int64_t ahead) {
  free_ += ahead;
  for (uint32_t i = 0; i < count_; ++i) {
    if (before.gaps_[i] == gaps_[i]) continue;
    gaps_[i].begin += ahead;
    gaps_[i].end += ahead;
  }
}

void Bus::rebase(int64_t floor) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    Gap g = gaps_[i];
    if (g.end <= floor) continue;
    g.begin = std::max(g.begin - floor, -kLongestTurn);
    g.end -= floor;
    gaps_[kept++] = g;
  }
  count_ = kept;
  free_ = std::max(free_ - floor, -kLongestTurn);
}

}  // namespace accsim::hw
