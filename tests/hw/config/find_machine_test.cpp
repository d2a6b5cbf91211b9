#include "hw/config/find_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "config_fixture.h"
#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

/// A folder of machines: `small` and `both` shipped, `chip` and `both` known.
class FindMachine : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"small", "both", "known/chip", "known/both"}) {
      const fs::path file = folder_.path(std::string(name) + ".yaml");
      fs::create_directories(file.parent_path());
      std::ofstream(file) << "";
    }
  }
  const test::TempFolder folder_;
};

TEST(Configs, IsNoMachineBothShippedAndKnown) {
  const std::vector<std::string> shipped = shipped_machines(test::config_path(""));
  const std::vector<std::string> known = known_machines(test::config_path(""));
  EXPECT_EQ(shipped.size(), test::kShipped.size());
  EXPECT_GE(known.size(), 16u);
  std::vector<std::string> both;
  std::ranges::set_intersection(shipped, known, std::back_inserter(both));
  EXPECT_EQ(both, std::vector<std::string>{});
}

TEST(Configs, IsEachKnownFileNamedAsItsMachine) {
  for (const std::string& name : known_machines(test::config_path(""))) {
    const auto hw = load_hw(machine_file(name, test::config_path("")));
    ASSERT_TRUE(hw.ok()) << name << test::all_text(hw.errors());
    EXPECT_EQ(hw->name, name);
  }
}

TEST_F(FindMachine, WhichNamesThereAre) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(shipped_machines(folder_.path()), (Names{"both", "small"}));
  EXPECT_EQ(known_machines(folder_.path()), (Names{"both", "chip"}));
  EXPECT_EQ(machine_names(folder_.path()), (Names{"both", "small", "both", "chip"}));
  for (const std::string& none : {folder_.path("none"), std::string()})
    EXPECT_EQ(machine_names(none), Names{}) << none;
}

TEST_F(FindMachine, WhichFileANameStandsFor) {
  EXPECT_EQ(machine_file("small", folder_.path()), folder_.path("small.yaml"));
  EXPECT_EQ(machine_file("chip", folder_.path()), folder_.path("known/chip.yaml"));
  EXPECT_EQ(machine_file("both", folder_.path()), folder_.path("both.yaml")) << "shipped wins";
  for (const char* other : {"none", "known/chip", "./small", ""})
    EXPECT_EQ(machine_file(other, folder_.path()), other);
  EXPECT_EQ(machine_file("chip", ""), "chip") << "no folder isn't the current one";
}

TEST_F(FindMachine, WhatIsSaidOfOneThatIsNotThere) {
  EXPECT_EQ(missing_machine("smal", folder_.path()),
            "no such file; did you mean the shipped machine small?");
  EXPECT_EQ(missing_machine("chop", folder_.path()),
            "no such file; did you mean the known machine chip?");
  EXPECT_EQ(missing_machine("chip.yaml", folder_.path()),
            "no such file; did you mean the known machine chip?");
  EXPECT_EQ(missing_machine("something-else", folder_.path()),
            "no such file, and no machine has that name: shipped both, small; known both, chip");
  EXPECT_EQ(missing_machine("something-else", folder_.path("none")), "");
}

}  // namespace
}  // namespace accsim::hw
