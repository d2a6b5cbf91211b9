#include "sim/validate/csv_table.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

std::vector<std::string> errors_of(const std::string& text) {
  const auto table = parse_csv(text, "t.csv");
  EXPECT_FALSE(table.ok()) << text;
  std::vector<std::string> out;
  if (!table)
    for (const Error& e : table.errors()) out.push_back(e.text());
  return out;
}

using Texts = std::vector<std::string>;

TEST(CsvTable, WhatStandsInItsCells) {
  const auto table = parse_csv(
      "# caveats, with \"one quote\n\n"
      "name,\"a, b\",c\r\n"
      "# in between\n"
      "\"say \"\"so\"\"\",,3\n"
      "\"\",x y,\"# no comment\"\n",
      "t.csv");
  ASSERT_TRUE(table.ok()) << table.errors().front().text();
  EXPECT_EQ(table->columns(), (Texts{"name", "a, b", "c"}));
  ASSERT_EQ(table->rows.size(), 2u);
  EXPECT_EQ(table->rows[0][0].text, "say \"so\"");
  EXPECT_EQ(table->rows[0][1].text, "");
  EXPECT_EQ(table->rows[0][2].text, "3");
  EXPECT_EQ(table->rows[1][0].text, "");
  EXPECT_EQ(table->rows[1][1].text, "x y");
  EXPECT_EQ(table->rows[1][2].text, "# no comment");
  EXPECT_EQ(table->column("c"), 2u);
  EXPECT_FALSE(table->column("d"));
}

TEST(CsvTable, WhereEachCellBegins) {
  const auto table = parse_csv("# head\na,b,c\n12,\"3,4\",5\n", "t.csv");
  ASSERT_TRUE(table.ok());
  const auto& row = table->rows.front();
  EXPECT_EQ(row[0].at.line, 3);
  EXPECT_EQ(row[0].at.column, 1);
  EXPECT_EQ(row[1].at.column, 4);
  EXPECT_EQ(row[2].at.column, 10);
}

TEST(CsvTable, IsTheLastLineWholeWithoutALineFeed) {
  const auto table = parse_csv("\xEF\xBB\xBFname,b\n1,", "t.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->head.front().text, "name");
  ASSERT_EQ(table->rows.size(), 1u);
  EXPECT_EQ(table->rows[0][1].text, "");
}

TEST(CsvTable, IsAllThatIsWrongReportedAtOnce) {
  EXPECT_EQ(
      errors_of("a,b,a,\n1,\"2\n1,2,3,4,5\n\"1\"2,3,4,5\n"),
      (Texts{"t.csv:1:5: \"a\" is the name of two columns", "t.csv:1:7: a column without a name",
             "t.csv:2:3: the quote that begins here isn't closed on its line",
             "t.csv:2:3: the row has 2 cells, and the table 4 columns",
             "t.csv:3:9: the row has 5 cells, and the table 4 columns",
             "t.csv:4:4: a comma must follow the quoted text"}));
}

TEST(CsvTable, IsAByteOfZeroRefusedAtItsPlace) {
  const auto table = parse_csv(std::string_view("a,b\n1,2\n3\0,4\n", 13), "t.csv");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.errors().front().where, "t.csv:3:2");
}

TEST(CsvTable, NeedsAHeadAndRows) {
  EXPECT_EQ(errors_of("# nothing\n"),
            Texts{"t.csv:1:1: no line with names of columns; all lines are comments or blank"});
  EXPECT_EQ(errors_of("# head\na,b\n"), Texts{"t.csv:2:1: no rows below the names of columns"});
}

TEST(CsvTable, IsAFileThatCantBeReadAnError) {
  EXPECT_EQ(load_csv("nowhere.csv").errors().front().text(),
            "nowhere.csv: no such file; give the path of a table (CSV)");
  const test::TempFolder folder;
  EXPECT_EQ(load_csv(folder.path()).errors().front().code, Errc::io);
}

/// Longer than what is read at a time.
TEST(CsvTable, AreLongFilesReadWhole) {
  const test::TempFolder folder;
  constexpr size_t kRows = 30'000;
  {
    std::ofstream out(folder.path("t.csv"));
    out << "a,b\n";
    for (size_t i = 0; i < kRows; ++i) out << i << ",x" << i << "\n";
  }
  const auto table = load_csv(folder.path("t.csv"));
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->rows.size(), kRows);
  EXPECT_EQ(table->rows.back()[1].text, "x29999");
}

}  // namespace
}  // namespace accsim::sim
