#include "sim/report/table.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

using Lines = std::vector<std::string>;

TEST(TextTable, AreColumnsOfTheLeastImportanceDroppedFirst) {
  TextTable table({{"name", "", true}, {"aa", "", false, 2}, {"bb", ""}, {"cc", "", false, 1}});
  table.add({{"x", "1", "2", "3"}});
  EXPECT_EQ(table.lines(16, false), (Lines{"name  aa  bb  cc", "----------------",  //
                                           "x      1   2   3"}));
  EXPECT_EQ(table.lines(15, false).front(), "name  bb  cc");
  EXPECT_EQ(table.lines(11, false).front(), "name  bb");
}

TEST(TextTable, IsNothingDroppedWhenFolded) {
  TextTable table({{"name", "", true}, {"aa", "", false, 2}, {"bb", ""}, {"cc", "", false, 1}});
  table.add({{"x", "1", "2", "3"}});
  EXPECT_EQ(table.folded_lines(16, false), table.lines(16, false));
  EXPECT_EQ(table.folded_lines(12, false),
            (Lines{"name  aa  bb", "------------", "x      1   2", "",  //
                   "name  cc", "--------", "x      3"}));
  // One column at least stands beside the first, cut to what is left.
  TextTable wide({{"name", "", true}, {"value", "", true}});
  wide.add({{"x", std::string(100, 'y')}});
  for (const std::string& line : wide.folded_lines(40, false)) EXPECT_LE(line.size(), 40U);
}

TEST(TextTable, DoNotesStandBelowTheirRow) {
  TextTable table({{"name", "", true}, {"value", ""}});
  table.add({{"x", "1"}, false, {"one two three"}});
  table.add({{"sum", "1"}, true});
  EXPECT_EQ(table.lines(12, false),
            (Lines{"name  value", "-----------", "x         1", "    one two", "    three",
                   "-----------", "sum       1"}));
}

TEST(TextTable, IsATotalOfNothingRuledOffOnce) {
  TextTable table({{"name", "", true}, {"value", ""}});
  table.add({{"sum", "0"}, true});
  EXPECT_EQ(table.lines(12, false), (Lines{"name  value", "-----------", "sum       0"}));
}

TEST(TextTable, AreNamesOfEveryScriptAligned) {
  TextTable table({{"name", "", true}, {"v", ""}});
  table.add({{"\u5c64\u5c64", "1"}});
  table.add({{"e\u0301", "2"}});
  table.add({{"\u00fcber", "3"}});
  EXPECT_EQ(table.lines(40, false),
            (Lines{"name  v", "-------", "\u5c64\u5c64  1", "e\u0301     2", "\u00fcber  3"}));
}

TEST(TextTable, DoNoTerminalCodesComeOut) {
  TextTable table({{"na\x1b[2Jme", "", true}, {"v", ""}});
  table.add({{"a\x1b]0;x\x07", "\u009b"}, false, {"note\x1b[1m"}});
  for (const std::string& line : table.lines(40, false)) EXPECT_EQ(printable(line), line);
  EXPECT_EQ(table.lines(40, false)[2].substr(0, 14), "a\\x1b]0;x\\x07 ");
}

TEST(TextTable, AreBarsAsWideAsTheyLook) {
  EXPECT_EQ(visible_width("█▍x"), 3U);
  TextTable table({{"name", "", true}, {"", "", true}, {"v", ""}});
  table.add({{"x", "██", "1"}});
  table.add({{"y", "█", "2"}});
  EXPECT_EQ(table.lines(40, false), (Lines{"name      v", "-----------",  //
                                           "x     ██  1", "y     █   2"}));
}

}  // namespace
}  // namespace accsim::sim
