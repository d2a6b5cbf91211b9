#include "sim/quantise/value_machine.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "hw/program/core_runs.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

TEST(ValueMachine, IsASystolicArrayForAnEngineOfDotProducts) {
  const hw::HwConfig small = *hw::load_hw(kSource + "/configs/known/nvdla-nv-small.yaml");
  for (const int64_t atom : {8, 64, 256}) {
    hw::HwConfig engine = small;
    engine.array.rows = engine.array.cols = atom;
    const hw::HwConfig found = value_machine(engine);
    EXPECT_FALSE(found.has_dot_products());
    EXPECT_FALSE(found.has_side_units());
    EXPECT_EQ(found.array.rows, atom);
    const auto read = hw::parse_hw(hw::print_hw(found), "m.yaml");  // by all rules
    EXPECT_TRUE(read.ok()) << read.errors().front().text();
    EXPECT_EQ(hw::core_lacks(found), std::nullopt) << atom;
  }
}

TEST(ValueMachine, AreOtherMachinesThemselves) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  EXPECT_EQ(hw::print_hw(value_machine(hw)), hw::print_hw(hw));
}

}  // namespace
}  // namespace accsim::sim
