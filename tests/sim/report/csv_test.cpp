#include "sim/report/csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fake_report.h"
#include "sim/report/fields.h"

namespace accsim::sim {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// A reader after the grammar of RFC 4180, with bare line feeds.
Table parse(const std::string& text) {
  Table rows(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& cell = rows.back().back();
    if (quoted) {
      if (text[i] != '"') {
        cell += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_TRUE(cell.empty()) << "quote inside a bare cell";
      quoted = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\n') {
      rows.push_back({""});
    } else {
      cell += text[i];
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "ends in a line feed";
  rows.pop_back();
  return rows;
}

size_t column(const Table& table, const std::string& key) {
  for (size_t i = 0; i < table[0].size(); ++i) {
    if (table[0][i] == key) return i;
  }
  ADD_FAILURE() << key;
  return 0;
}

TEST(CsvReport, IsThereOneRowALayerAndOneColumnAField) {
  const Report report = fake_report();
  const Table table = parse(to_csv(report));
  std::vector<std::string> keys;
  for (const ReportField& field : report_fields()) {
    if (field.in_layers()) keys.push_back(field.key);
  }
  ASSERT_EQ(table.size(), report.layers.size() + 1);
  EXPECT_EQ(table[0], keys);
  for (const auto& row : table) EXPECT_EQ(row.size(), keys.size());
}

TEST(CsvReport, DoNamesWithCommasQuotesAndNewlinesComeBack) {
  Report report = fake_report(2);
  report.layers[0].name = "a,b";
  report.layers[1].name = "say \"hi\"";
  report.layers[2].name = "two\nlines\r\n";
  report.layers[3].name = "\"";
  report.layers[4].name = "";
  const Table table = parse(to_csv(report));
  const size_t at = column(table, "name");
  for (size_t i = 0; i < report.layers.size(); ++i)
    EXPECT_EQ(table[i + 1][at], report.layers[i].name);
}

TEST(CsvReport, DoNamesHoldNoTerminalCodes) {
  Report report = fake_report(1);
  report.layers[0].name = "a\x1b]0;x\x07\u009b1m,\u5c64";
  const Table table = parse(to_csv(report));
  EXPECT_EQ(table[1][column(table, "name")], "a\\x1b]0;x\\x07\\u009b1m,\u5c64");
}

TEST(CsvReport, AreCountsExactOthersOfSevenDigitsAndShapesReadable) {
  const Report report = fake_report(1);
  const Table table = parse(to_csv(report));
  const std::vector<std::string>& row = table[1];
  EXPECT_EQ(row[column(table, "cycles")], std::to_string(report.layers[0].costs.cycles));
  const double use = report.utilization(report.layers[0].costs);
  EXPECT_EQ(row[column(table, "utilization")], fmt::format("{:.7g}", use));
  const double energy = report.layers[0].costs.energy.total_pj();
  EXPECT_NEAR(std::stod(row[column(table, "energy_pj")]) / energy, 1, 0.51e-6);
  EXPECT_EQ(row[column(table, "output_shape")], "1x64x56x56");
  EXPECT_EQ(row[column(table, "input_shapes")], "1x64x56x56 64x64x3x3");
  EXPECT_EQ(table[2][column(table, "arithmetic_intensity")], "") << "no traffic, no intensity";
}

TEST(CsvReport, IsAnEmptyNetworkAHeaderAlone) { EXPECT_EQ(parse(to_csv(Report{})).size(), 1u); }

TEST(CsvReport, IsNoTextAFormula) {
  Report report = fake_report();
  const std::vector<std::string> names = {"=1+1", "+x", "-x", "@x", "a=b"};
  ASSERT_GE(report.layers.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) report.layers[i].name = names[i];
  const Table table = parse(to_csv(report));
  const size_t name = column(table, "name");
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(table[i + 1][name], (i < 4 ? "'" : "") + names[i]);
  std::string number;
  append_csv_cell(int64_t{-3}, number);
  EXPECT_EQ(number, "-3") << "numbers are computed with";
}

}  // namespace
}  // namespace accsim::sim
