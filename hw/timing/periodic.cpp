#include "hw/timing/periodic.h"

namespace accsim {

void PeriodDetector::record(const std::vector<int64_t>& state, const std::vector<int64_t>& sums) {
  Snapshot& slot = history_[static_cast<size_t>(recorded_ % kDepth)];
  slot.state = state;
  slot.sums = sums;
  ++recorded_;
}

bool PeriodDetector::repeats(int p) const {
  if (recorded_ < 2 * p + 1) return false;
  const auto& now = back(0).state;
  const auto& before = back(p).state;
  const auto& first = back(2 * p).state;
  if (now.size() != before.size() || now.size() != first.size()) return false;
  if (now[0] != before[0] || now[0] != first[0]) return false;
  const int64_t growth = now[1] - before[1];
  if (growth <= 0 || growth % kTagRange != 0) return false;
  for (size_t i = 1; i < now.size(); ++i) {
    const int64_t late = now[i] - before[i];
    if (late != before[i] - first[i]) return false;
    if (late != growth && late != 0) return false;
  }
  return true;
}

int PeriodDetector::period() const {
  for (int p = 1; p <= kLongest; ++p)
    if (repeats(p)) return p;
  return 0;
}

void PeriodDetector::skip(int period, int64_t periods, std::vector<int64_t>& state,
                          std::vector<int64_t>& sums) const {
  const Snapshot& now = back(0);
  const Snapshot& before = back(period);
  for (size_t i = 0; i < state.size(); ++i) state[i] += (now.state[i] - before.state[i]) * periods;
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += (now.sums[i] - before.sums[i]) * periods;
}

}  // namespace accsim
