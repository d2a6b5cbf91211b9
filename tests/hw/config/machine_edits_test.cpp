#include "hw/config/machine_edits.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "tests/support/field_machines.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

HwConfig base() { return *load_hw(kSource + "/configs/64x64.yaml"); }

TEST(MachineEdits, NoneGiveTheMachineBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const HwConfig hw = test::draw_machine(base(), random);
    const EditedMachine edited = edit_machine(hw, {});
    ASSERT_TRUE(edited.errors.empty());
    EXPECT_EQ(print_hw(edited.hw), print_hw(hw));
  }
}

TEST(MachineEdits, SetFieldsOfEveryKind) {
  const EditedMachine edited =
      edit_machine(base(), {{"array.rows", 32.0},
                            {"clock_mhz", 812.5},
                            {"dram.read_bytes_per_cycle", 51.2},
                            {"types.weight", std::string("int16")},
                            {"array.dataflows", std::vector<std::string>{"input_stationary"}},
                            {"name", std::string("mine 2")}});
  ASSERT_TRUE(edited.errors.empty()) << edited.errors.front().message;
  EXPECT_EQ(edited.hw.array.rows, 32);
  EXPECT_EQ(edited.hw.clock_mhz, 812.5);
  EXPECT_EQ(edited.hw.dram.read.milli, 51200);
  EXPECT_EQ(edited.hw.types.weight, DType::int16);
  EXPECT_EQ(edited.hw.array.dataflows, std::vector{Dataflow::input_stationary});
  EXPECT_EQ(edited.hw.name, "mine 2");
}

TEST(MachineEdits, NameEveryFieldThatIsWrong) {
  const EditedMachine edited = edit_machine(
      base(), {{"array.rows", 0.0}, {"array.cols", 1.5}, {"dram.latency", std::string("a: b")}});
  ASSERT_EQ(edited.errors.size(), 3u);
  EXPECT_EQ(edited.errors[0].path, "dram.latency");
  EXPECT_EQ(edited.errors[1].path, "array.rows");
  EXPECT_EQ(edited.errors[2].path, "array.cols");
}

/// A field that is there only while another has a word comes and goes with that word.
TEST(MachineEdits, FieldsComeAndGoWithTheWordsThatTheyNeed) {
  const std::string int4 = "int4";
  const EditedMachine narrow = edit_machine(base(), {{"types.weight", int4}});
  ASSERT_TRUE(narrow.errors.empty()) << narrow.errors.front().message;
  EXPECT_EQ(narrow.hw.types.weight, DType::int4);
  for (const bool first : {true, false}) {
    MachineEdits edits = {{"types.weight", int4}, {"types.weight_group", 64.0}};
    if (!first) std::swap(edits[0], edits[1]);
    const EditedMachine grouped = edit_machine(base(), edits);
    ASSERT_TRUE(grouped.errors.empty()) << grouped.errors.front().message;
    EXPECT_EQ(grouped.hw.types.weight_group, 64);
    const EditedMachine wide = edit_machine(grouped.hw, {{"types.weight", std::string("int8")}});
    ASSERT_TRUE(wide.errors.empty()) << wide.errors.front().message;
    EXPECT_EQ(print_hw(wide.hw), print_hw(base()));
  }
  const EditedMachine wrong = edit_machine(base(), {{"types.weight_group", 64.0}});
  ASSERT_EQ(wrong.errors.size(), 1u);
  EXPECT_EQ(wrong.errors[0].message, "is only there when types.weight is int4");
}

TEST(MachineEdits, WordsCantBringKeysOfTheirOwn) {
  for (const char* word : {"x\"\narray: 3", "\\", "int8, int16", "a\nb"}) {
    EXPECT_FALSE(edit_machine(base(), {{"name", std::string(word)}}).errors.empty());
    EXPECT_FALSE(edit_machine(base(), {{"types.weight", std::string(word)}}).errors.empty());
    EXPECT_FALSE(
        edit_machine(base(), {{"array.dataflows", std::vector<std::string>{word}}}).errors.empty());
  }
}

}  // namespace
}  // namespace accsim::hw
