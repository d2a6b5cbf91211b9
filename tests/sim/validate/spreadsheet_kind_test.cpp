#include "sim/validate/spreadsheet_kind.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sim/validate/predict.h"
#include "tests/support/measured_rows.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

const std::string kTable = kSource + "/validation/tables/nvdla_sheet.csv";

/// The cells of 104 layers on 7 machines, and the product that their shapes are.
TEST(SpreadsheetKind, IsEachRowOfTheSheetPredicted) {
  auto source = load_validation(kSource + "/validation/nvdla.yaml", kTable);
  ASSERT_TRUE(source) << source.errors().front().text();
  const auto rows = measured_rows("nvdla_sheet.csv");
  ASSERT_EQ(rows.size(), 104U * 7);
  const auto v = validate_sources({*source}, {}, true, 1);
  ASSERT_TRUE(v);
  const ValidatedSource& s = v->sources.front();
  ASSERT_EQ(s.predictions.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const ValidationPoint& point = s.source.points[i];
    const Prediction& p = s.predictions[i];
    const double cycles = std::stod(row.at("cycles"));
    const auto n = [&](const char* column) { return std::stoll(row.at(column)); };
    EXPECT_EQ(point.name, fmt::format("{} {}, {} MACs", row.at("network"), n("layer"), n("macs")));
    EXPECT_EQ(point.family, row.at("macs") + " MACs");
    EXPECT_EQ(point.measured, cycles);
    EXPECT_NEAR(p.predicted, cycles, 1e-9 * cycles) << point.name;
    EXPECT_EQ(p.bound, row.at("bound") == "MAC" ? Bound::compute : Bound::dram) << point.name;
    EXPECT_EQ(p.macs, n("P") * n("Q") * n("C") * n("R") * n("S") * n("K")) << point.name;
    EXPECT_EQ(s.source.machine_name(point), "");
  }
  EXPECT_EQ(s.families.size(), 7U);
  EXPECT_LT(s.rows.mean_absolute, 1e-12);
}

/// A row of the sheet's table: a convolution of 3x3 over 14 x 14 x 256 to 8 kernels, on 64 MACs.
class SheetRow {
 public:
  /// With `cell` in a column in place of its own.
  std::string error(const std::string& column, const std::string& cell) const {
    std::string head, row;
    for (const auto& [name, text] : kCells) {
      head += (head.empty() ? "" : ",") + name;
      row += (row.empty() ? "" : ",") + (name == column ? cell : text);
    }
    std::ofstream(folder_.path("t.csv")) << head << "\n" << row << "\n";
    const auto v = load_validation(kSource + "/validation/nvdla.yaml", folder_.path("t.csv"));
    if (v) return "";
    const std::string text = v.errors().front().text();
    return v.errors().size() == 1 ? text.substr(text.find("t.csv")) : "more than one error";
  }

 private:
  const std::vector<std::pair<std::string, std::string>> kCells = {
      {"network", "ResNet50"},
      {"layer", "7"},
      {"sheet_row", "17"},
      {"kind", "conv"},
      {"C", "256"},
      {"H", "14"},
      {"W", "14"},
      {"K", "8"},
      {"R", "3"},
      {"S", "3"},
      {"pad", "1"},
      {"stride_h", "1"},
      {"stride_w", "1"},
      {"P", "14"},
      {"Q", "14"},
      {"out_h", "14"},
      {"out_w", "14"},
      {"macs", "64"},
      {"cbuf_kib", "128"},
      {"dram_gb_per_s", "1"},
      {"clock_mhz", "1000"},
      {"fc_batch", "1"},
      {"winograd", "1"},
      {"cycles", "1"},
  };
  test::TempFolder folder_;
};

TEST(SpreadsheetKind, AreBadCellsNamed) {
  const SheetRow row;
  const std::string no_such = "t.csv:2:1: ResNet50 7, 64 MACs: there is no such spreadsheet: ";
  EXPECT_EQ(row.error("", ""), "");
  EXPECT_EQ(row.error("network", "VGG"),
            "t.csv:2:1: sheet is \"VGG\"; valid: ResNet50, AlexNet, GoogLeNet");
  EXPECT_EQ(row.error("kind", "pool"),
            "t.csv:2:15: form is \"pool\"; valid: conv, conv + elwise, fc");
  EXPECT_EQ(row.error("macs", "many"), "t.csv:2:54: macs is \"many\"; it must be a number");
  EXPECT_EQ(row.error("dram_gb_per_s", "2.01"), "") << "2.01 * 1000 isn't 2010 in a double";
  EXPECT_EQ(row.error("dram_gb_per_s", "0.0005"),
            "t.csv:2:61: dram_mb_per_s is 0.5; it must be a whole number of 1..2147483648");
  EXPECT_EQ(row.error("P", "7"),
            no_such + "a window doesn't make 14 x 7 (width x height) of 14 x 14");
  EXPECT_EQ(row.error("Q", "17"),
            no_such + "a window doesn't make 17 x 14 (width x height) of 14 x 14");
  EXPECT_EQ(row.error("out_h", "15"), no_such + "pooling doesn't make results larger");
  EXPECT_EQ(row.error("fc_batch", "16"),
            no_such + "fc_batch must be 1: how a batch counts isn't described");
  EXPECT_EQ(row.error("cbuf_kib", "1"), no_such + "what is to stay fills the spreadsheet's buffer");
  EXPECT_EQ(row.error("clock_mhz", "2000000"), "");
  EXPECT_EQ(row.error("cbuf_kib", "2000000"),
            no_such + "sizes of a spreadsheet's layer and machine are out of range");
}

/// GoogLeNet's sheet has Winograd's weights up to row 19: 16/9 of 256 x 9 x 256 bytes, and no more
/// of these bytes behind it. At 1 byte per cycle (1024 bytes count as 1000) DRAM decides.
TEST(SpreadsheetKind, HasGoogLeNetWinogradsWeightsInItsFirstRowsAlone) {
  const LayerKind kind = spreadsheet_kind();
  LayerSizes sizes;
  sizes.values = {{"sheet", 2},
                  {"row", 19},
                  {"c", 256},
                  {"h", 7},
                  {"w", 7},
                  {"k", 256},
                  {"kernel_h", 3},
                  {"kernel_w", 3},
                  {"padded", 1},
                  {"conv_h", 7},
                  {"conv_w", 7},
                  {"winograd", 1},
                  {"macs", 4096},
                  {"buffer_kib", 1024},
                  {"dram_mb_per_s", 1000},
                  {"clock_mhz", 1000}};
  fill_sizes(kind, sizes);
  const double moved = 2 * 7 * 7 * 256, weights = 256 * 9 * 256;
  EXPECT_EQ(kind.cost(sizes)->cycles, std::ceil((moved + weights * 16 / 9) / 1.024));
  EXPECT_EQ(kind.cost(sizes)->bound, Bound::dram);
  sizes.values["row"] = 20;
  EXPECT_EQ(kind.cost(sizes)->cycles, std::ceil((moved + weights) / 1.024));
  sizes.values["macs"] = 1;
  EXPECT_EQ(kind.cost(sizes)->cycles, 256.0 * 49 * 256 * 9 / 2.25);
  EXPECT_EQ(kind.cost(sizes)->bound, Bound::compute);
}

/// Nothing but cycles follows from a row that says its machine, and no machine is needed.
TEST(SpreadsheetKind, IsMeasuredInCycles) {
  const test::TempFolder folder;
  std::ofstream(folder.path("v.yaml"))
      << "source: s\nevidence: estimate\nfitted: no\n"
         "table: {file: t.csv, workload: spreadsheet, columns: {us: c, sheet: 0, c: c, h: c,\n"
         "  w: c, k: c, kernel_h: 1, kernel_w: 1, padded: 0, conv_h: c, conv_w: c, macs: c,\n"
         "  buffer_kib: c, dram_mb_per_s: c, clock_mhz: c}}\n";
  std::ofstream(folder.path("t.csv")) << "c\n16\n";
  const auto v = load_validation(folder.path("v.yaml"));
  ASSERT_FALSE(v);
  ASSERT_EQ(v.errors().size(), 1U);
  EXPECT_EQ(v.errors().front().text(),
            folder.path("v.yaml") + ":4:59: spreadsheet has no us: its cycles alone are predicted");
}

}  // namespace
}  // namespace accsim::sim
