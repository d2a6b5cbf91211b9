#include "hw/timing/loop_history.h"

#include <algorithm>
#include <bit>

namespace accsim::hw {

void LoopHistory::record(const Step& loop, const SimulatorState& state, const CycleSums& sums) {
  Snapshot& to = snapshots_[static_cast<size_t>(recorded_++ % kDepth)];
  to.moments = state.moments;
  for (TouchSet left = (loop.writes & kAllRings) >> kMoments; left != 0; left &= left - 1) {
    const auto r = static_cast<size_t>(std::countr_zero(left));
    to.rings[r] = state.rings[r];
  }
  if (loop.writes & touch(Moment::bus)) to.bus = state.bus;
  to.end = state.end;
  to.sums = sums;
}

int64_t LoopHistory::find_period(const Step& loop, int64_t zero) const {
  const Snapshot& now = ago(0);
  const int64_t confirm = loop.stale ? 2 : 1;
  for (int64_t p = 1; p <= kLongestPeriod && confirm * p < recorded_; ++p) {
    const Snapshot& before = ago(p);
    const int64_t grown = now.end - before.end;
    if (grown > 0 && has_grown(loop, now, before, grown) && has_begun(loop, before, zero) &&
        (!loop.stale || has_grown(loop, before, ago(2 * p), grown)))
      return p;
  }
  return 0;
}

/// Are all queues of the body past cycle 0, so that nothing more will be hidden?
bool LoopHistory::has_begun(const Step& loop, const Snapshot& at, int64_t zero) {
  return std::ranges::all_of(kQueueMoments, [&](const QueueMoments& q) {
    return (loop.writes & touch(q.free)) == 0 || at.moments[static_cast<size_t>(q.free)] >= zero;
  });
}

namespace {

/// Before which none of a body's queues asks for the bus any more.
int64_t bus_floor(const Step& loop, const std::array<int64_t, kMoments>& moments) {
  int64_t floor = INT64_MAX;
  for (const Moment m : {Moment::load_free, Moment::store_free, Moment::stage_free})
    if ((loop.writes & touch(m)) != 0) floor = std::min(floor, moments[static_cast<size_t>(m)]);
  return floor;
}

}  // namespace

/// Has all that a loop's body writes grown by so much? A pending moment may be 0 before and after;
/// times of the bus that nobody asks for any more may stay, or make way for later ones, period by
/// period.
bool LoopHistory::has_grown(const Step& loop, const Snapshot& now, const Snapshot& before,
                            int64_t growth) {
  constexpr TouchSet kStrict = (TouchSet{1} << kFirstPending) - 1;
  if ((loop.writes & touch(Moment::bus)) != 0 &&
      !now.bus.has_grown(before.bus, growth, bus_floor(loop, before.moments)))
    return false;
  for (TouchSet left = loop.writes & ~kAllRings & ~touch(Moment::bus); left != 0;
       left &= left - 1) {
    const auto m = static_cast<size_t>(std::countr_zero(left));
    const int64_t after = now.moments[m], earlier = before.moments[m];
    const bool may_be_none = (kStrict >> m & 1) == 0;
    if (after - earlier != growth && !(may_be_none && after == 0 && earlier == 0)) return false;
  }
  for (TouchSet left = (loop.writes & kAllRings) >> kMoments; left != 0; left &= left - 1) {
    const auto r = static_cast<size_t>(std::countr_zero(left));
    const TokenRing &after = now.rings[r], &earlier = before.rings[r];
    if (after.size != earlier.size) return false;
    for (uint32_t k = 0; k < after.size; ++k)
      if (after.at(k) - earlier.at(k) != growth) return false;
  }
  return true;
}

void LoopHistory::move_ahead(const Step& loop, int64_t period, int64_t periods,
                             SimulatorState& state, CycleSums& sums) const {
  const Snapshot &now = ago(0), &before = ago(period);
  const int64_t ahead = (now.end - before.end) * periods;
  constexpr TouchSet kAllMoments = (TouchSet{1} << kMoments) - 1;
  for (TouchSet left = loop.writes & kAllMoments; left != 0; left &= left - 1) {
    int64_t& moment = state.moments[static_cast<size_t>(std::countr_zero(left))];
    if (moment != 0) moment += ahead;
  }
  for (TouchSet left = (loop.writes & kAllRings) >> kMoments; left != 0; left &= left - 1) {
    TokenRing& r = state.rings[static_cast<size_t>(std::countr_zero(left))];
    for (uint32_t k = 0; k < r.size; ++k) r.at(k) += ahead;
  }
  if (loop.writes & touch(Moment::bus)) state.bus.move_later(before.bus, ahead);
  state.end += ahead;
  for (const Queue q : Queue::all()) {
    if ((loop.writes & touch(kQueueMoments[q].free)) == 0) continue;
    for (size_t i = 0; i < kQueueSums; ++i)
      sums[q][i] += (now.sums[q][i] - before.sums[q][i]) * periods;
  }
}

}  // namespace accsim::hw
