#include "hw/timing/loop_history.h"

#include <gtest/gtest.h>

namespace accsim::hw {
namespace {

constexpr size_t kLoad = static_cast<size_t>(Moment::load_free);
constexpr size_t kPending = static_cast<size_t>(Moment::pending_load);

Step loop_that_writes(TouchSet writes, bool stale = false) {
  return {.kind = Step::Kind::loop, .stale = stale, .writes = writes};
}

/// A state in which the load queue is free, and the iteration ends, at a time.
SimulatorState state_at(int64_t time) {
  SimulatorState s{};
  s.moments[kLoad] = s.end = time;
  return s;
}

/// The period after each of these ends of iterations.
std::vector<int64_t> periods_at(const Step& loop, const std::vector<int64_t>& ends,
                                int64_t zero = 0) {
  LoopHistory history;
  history.begin();
  std::vector<int64_t> out;
  for (const int64_t end : ends) {
    history.record(loop, state_at(end), CycleSums{});
    out.push_back(history.find_period(loop, zero));
  }
  return out;
}

TEST(LoopHistory, FindsTheShortestPeriodAsSoonAsItIsThere) {
  const Step loop = loop_that_writes(touch(Moment::load_free));
  EXPECT_EQ(periods_at(loop, {80, 160, 240}), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(periods_at(loop, {80, 80, 80}), (std::vector<int64_t>{0, 0, 0})) << "nothing grows";
}

/// A moment that the body reads and doesn't write could be what counts until now.
TEST(LoopHistory, AsksForTwoPeriodsOfABodyThatReadsWhatItDoesNotWrite) {
  const Step loop = loop_that_writes(touch(Moment::load_free), true);
  EXPECT_EQ(periods_at(loop, {80, 160, 240}), (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(periods_at(loop, {80, 160, 320, 400, 560}), (std::vector<int64_t>{0, 0, 0, 0, 2}));
}

TEST(LoopHistory, WaitsUntilTheQueuesArePastCycleZero) {
  const Step loop = loop_that_writes(touch(Moment::load_free));
  EXPECT_EQ(periods_at(loop, {80, 160, 240, 320}, 160), (std::vector<int64_t>{0, 0, 1, 1}));
}

TEST(LoopHistory, LooksAtWhatTheLoopWritesOnly) {
  for (const bool writes : {false, true}) {
    const Step loop =
        loop_that_writes(touch(Moment::load_free) | (writes ? touch(Moment::post_free) : 0));
    LoopHistory history;
    history.begin();
    for (int64_t i = 1; i <= 2; ++i) {
      SimulatorState s = state_at(80 * i);
      s.moments[static_cast<size_t>(Moment::post_free)] = i * i;
      history.record(loop, s, CycleSums{});
    }
    EXPECT_EQ(history.find_period(loop, 0), writes ? 0 : 1);
  }
}

/// As many periods later everything is as much later, and as much has been summed up; a pending
/// moment that is 0 isn't there.
TEST(LoopHistory, MovesTimesTokensAndSumsAhead) {
  constexpr size_t kRing = 3;
  const Step loop =
      loop_that_writes(touch(Moment::load_free) | touch(Moment::pending_load) | touch_ring(kRing));
  LoopHistory history;
  history.begin();
  SimulatorState s;
  CycleSums sums{};
  for (const int64_t end : {80, 160}) {
    s = state_at(end);
    s.rings[kRing].size = 1;
    s.rings[kRing].at(0) = end - 8;
    for (auto& of_queue : sums) of_queue.fill(end / 2);
    history.record(loop, s, sums);
  }
  ASSERT_EQ(history.find_period(loop, 0), 1);
  EXPECT_EQ(history.growth(1), 80);
  history.move_ahead(loop, 1, 5, s, sums);
  EXPECT_EQ(s.end, 160 + 5 * 80);
  EXPECT_EQ(s.moments[kLoad], 160 + 5 * 80);
  EXPECT_EQ(s.moments[kPending], 0);
  EXPECT_EQ(s.rings[kRing].at(0), 160 - 8 + 5 * 80);
  EXPECT_EQ(sums[Queue::load][0], 80 + 5 * 40) << "of the load queue";
  EXPECT_EQ(sums[Queue::store][0], 80) << "of one that the loop leaves alone";
}

}  // namespace
}  // namespace accsim::hw
