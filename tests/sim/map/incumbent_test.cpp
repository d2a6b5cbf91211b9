#include "sim/map/product/incumbent.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

Candidate candidate(int64_t cycles, double energy_traffic = 0) {
  return {.tiling = {},
          .bound = cycles,
          .sharp = cycles,
          .score_bound = static_cast<double>(cycles),
          .energy_traffic = energy_traffic};
}

Found found(int64_t cycles, double energy_traffic, int64_t its_cycles) {
  return {static_cast<double>(cycles), cycles, energy_traffic, its_cycles};
}

/// Without slack a candidate is looked at for fewer cycles alone.
TEST(Incumbent, ExcludesWhatIsNoFasterWithoutSlack) {
  const SpaceOptions options;
  Incumbent best(options);
  EXPECT_FALSE(best.is_hopeless(1e12)) << "nothing has been found";
  best.start_from({1000, 1000});
  EXPECT_TRUE(best.is_promising(candidate(999)));
  EXPECT_FALSE(best.is_promising(candidate(1000)));
  EXPECT_FALSE(best.may_save(candidate(1000)));
  EXPECT_TRUE(best.is_hopeless(1000));
  EXPECT_FALSE(best.is_hopeless(999));
  EXPECT_FALSE(best.is_worth_timing(candidate(1001)));
}

/// With slack also for less energy times traffic within (1 + slack) times the fewest cycles, and
/// for less cycles than that which has it, as its own may be beyond the slack of a faster one.
TEST(Incumbent, KeepsWhatMaySaveWithinTheSlack) {
  const SpaceOptions options{.dataflows = {}, .objective = {.slack = 0.5}};
  Incumbent best(options);
  best.start_from(found(1000, 70, 1400));
  EXPECT_TRUE(best.may_save(candidate(1500, 69)));
  EXPECT_FALSE(best.may_save(candidate(1501, 69))) << "beyond the slack";
  EXPECT_FALSE(best.may_save(candidate(1400, 70))) << "no less of either";
  EXPECT_TRUE(best.may_save(candidate(1399, 70)));
  EXPECT_TRUE(best.is_within_slack(1500));
  EXPECT_TRUE(best.is_hopeless(1501));
  EXPECT_TRUE(best.is_worth_timing(candidate(1500, 69)));
  EXPECT_FALSE(best.is_worth_timing(candidate(1500, 71)));
}

/// Where less DRAM traffic is looked for, only energy times traffic counts.
TEST(Incumbent, LooksForNoFewerCyclesBelowATraffic) {
  const SpaceOptions options{.dataflows = {}, .objective = {.slack = 0.5}, .below_dram_bytes = 10};
  Incumbent best(options);
  best.start_from(found(1000, 70, 1400));
  EXPECT_FALSE(best.is_promising(candidate(900)));
  EXPECT_FALSE(best.may_save(candidate(1399, 70)));
  EXPECT_TRUE(best.may_save(candidate(1399, 69)));
}

/// After so many have been timed, less than a thousandth is no reason to time more.
TEST(Incumbent, WantsAThousandthAfterManyHaveBeenTimed) {
  const SpaceOptions options;
  Incumbent best(options);
  const Found so_far{100'000, 100'000};
  for (int64_t i = 0; i < Incumbent::kTimedForAnything; ++i) {
    EXPECT_TRUE(best.is_promising(candidate(99'999)));
    best.update(so_far);
  }
  EXPECT_EQ(best.timed(), Incumbent::kTimedForAnything);
  EXPECT_FALSE(best.is_promising(candidate(99'999)));
  EXPECT_TRUE(best.is_hopeless(99'901));
  EXPECT_TRUE(best.is_promising(candidate(99'899)));
  EXPECT_FALSE(best.is_hopeless(99'899));
}

}  // namespace
}  // namespace accsim::sim
