#include "sim/report/mode_text.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

LayerReport layer(const std::string& types, const std::string& note, int64_t macs) {
  LayerReport l;
  l.types = types;
  l.types_note = note;
  l.costs.macs = macs;
  return l;
}

TEST(ModeText, SaysWhatEachPairOfTypesHasAndWhyOthersDoNot) {
  Report r;
  r.layers = {layer("int8 x int8", "", 10), layer("int8 x int4", "", 60), layer("", "", 0),
              layer("int8 x int8", "W4A8: why", 10), layer("int8 x int4", "", 20)};
  for (const LayerReport& l : r.layers) r.totals.macs += l.costs.macs;
  EXPECT_EQ(mode_texts(r), (std::vector<std::string>{"int8 x int4: 2 layers, 80.0 % of MACs",
                                                     "int8 x int8: 2 layers, 20.0 % of MACs",
                                                     "W4A8: why (1 layer, 10.0 % of MACs)"}));
}

TEST(ModeText, IsEmptyOnAMachineOfOneMode) {
  Report r;
  r.layers = {layer("", "", 10)};
  EXPECT_TRUE(mode_texts(r).empty());
  EXPECT_EQ(machine_modes_text(r.hw), "");
}

/// MACs of several rates: the peak is their average, and at it the array is used all the time.
TEST(ModeText, UtilisationIsOfTheModesRates) {
  Report r;
  r.hw.array.rows = r.hw.array.cols = 8;
  r.hw.types.modes = {{DType::int8, DType::int4, 2, 1, 0}};
  Costs c;
  c.macs = 64 * 100 + 128 * 100;  // 100 cycles at rate 1, 100 at rate 2
  c.compute_bound = 200 + 7;
  c.vector_bound = 7;
  c.cycles = 400;
  EXPECT_DOUBLE_EQ(r.peak_macs_per_cycle(c), 96);
  EXPECT_DOUBLE_EQ(r.utilization(c), 0.5);
  r.hw.types.modes.clear();
  EXPECT_DOUBLE_EQ(r.utilization(c), static_cast<double>(c.macs) / (400.0 * 64));
}

}  // namespace
}  // namespace accsim::sim
