#include "hw/dot_product/spreadsheet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/hw/dot_product/measured.h"

namespace accsim::hw {
namespace {

const std::map<std::string, SpreadsheetRules> kSheets{
    {"ResNet50", kResNet50Sheet}, {"AlexNet", kAlexNetSheet}, {"GoogLeNet", kGoogLeNetSheet}};

/// The layer of a row. GoogLeNet's sheet enlarges weights in some of its rows alone.
SpreadsheetLayer layer_of(const MeasuredRow& row) {
  const auto n = [&](const char* column) { return number(row, column); };
  const bool enlarged = row.at("network") != "GoogLeNet" || n("sheet_row") <= 19;
  return {n("W"),
          n("H"),
          n("C"),
          n("K"),
          n("S"),
          n("R"),
          n("stride_w"),
          n("stride_h"),
          n("pad") == 1,
          n("out_w"),
          n("out_h"),
          row.at("kind").ends_with("elwise"),
          n("winograd") == 1 && enlarged};
}

SpreadsheetMachine machine_of(const MeasuredRow& row) {
  return {number(row, "macs"), number(row, "cbuf_kib"), std::stod(row.at("dram_gb_per_s")),
          std::stod(row.at("clock_mhz"))};
}

/// All cells of 104 layers on 7 machines, as far as the table's numbers go.
TEST(Spreadsheet, AreAllCellsThoseOfTheTable) {
  size_t rows = 0;
  for (const MeasuredRow& row : measured_rows("nvdla_sheet.csv")) {
    const Result<SpreadsheetCost> cost =
        spreadsheet_cost(layer_of(row), machine_of(row), kSheets.at(row.at("network")));
    ASSERT_TRUE(cost) << row.at("name");
    const std::map<std::string, double> cells{{"input_kib", cost->input_bytes / 1024},
                                              {"weight_kib", cost->weight_bytes / 1024},
                                              {"output_kib", cost->output_bytes / 1024},
                                              {"dram_traffic_kib", cost->traffic_bytes / 1024},
                                              {"dram_cycles", cost->dram_cycles},
                                              {"mac_cycles", cost->mac_cycles},
                                              {"cycles", cost->cycles}};
    for (const auto& [column, cell] : cells)
      EXPECT_NEAR(cell, std::stod(row.at(column)), 1e-9 * (1 + cell))
          << row.at("network") << " row " << row.at("sheet_row") << ", " << row.at("macs")
          << " MACs, " << column;
    ++rows;
  }
  EXPECT_EQ(rows, 104U * 7);
}

/// The primer's frames per second for ResNet-50 at 1 GHz are sums of the sheet.
TEST(Spreadsheet, AreThePrimersRatesItsSums) {
  const std::map<int64_t, double> primer{{2048, 269}, {1024, 153}, {512, 93}, {256, 46},
                                         {128, 20},   {64, 7.3},   {32, 3.6}};
  std::map<int64_t, double> cycles;
  for (const MeasuredRow& row : measured_rows("nvdla_sheet.csv"))
    if (row.at("network") == "ResNet50")
      cycles[number(row, "macs")] +=
          spreadsheet_cost(layer_of(row), machine_of(row), kResNet50Sheet)->cycles;
  for (const auto& [macs, rate] : primer) {
    const double unit = rate < 10 ? 0.1 : 1;  // of the primer's last digit
    EXPECT_NEAR(1e9 / cycles.at(macs), rate, unit / 2) << macs;
  }
}

TEST(Spreadsheet, ReadsTheInputAgainForWeightsThatDoNotFit) {
  // 8 MiB of weights beside a line of 64 KiB: 9 times 4096 lines of 64 KiB.
  SpreadsheetLayer layer;
  layer.width = 4096;
  layer.height = 4096;
  layer.channels = 16;
  layer.kernels = 512 * 1024;
  layer.out_width = layer.width;
  layer.out_height = layer.height;
  const SpreadsheetCost cost = *spreadsheet_cost(layer, {1024, 1024, 10, 1000}, kResNet50Sheet);
  EXPECT_EQ(cost.traffic_bytes - cost.weight_bytes - cost.output_bytes, 9.0 * 4096 * 65536);
  EXPECT_EQ(spreadsheet_cost(layer, {1024, 1024, 10, 1000}, kAlexNetSheet)->traffic_bytes,
            cost.input_bytes + cost.weight_bytes + cost.output_bytes);
}

TEST(Spreadsheet, AreNumbersOutOfRangeRefused) {
  const auto code = [](SpreadsheetLayer layer, SpreadsheetMachine machine) {
    return spreadsheet_cost(layer, machine, kResNet50Sheet).errors().front().code;
  };
  SpreadsheetLayer layer;
  layer.kernels = 0;
  EXPECT_EQ(code(layer, {}), Errc::invalid);
  layer = {};
  layer.kernel_width = 2;  // without padding
  EXPECT_EQ(code(layer, {}), Errc::invalid);
  EXPECT_EQ(code({}, {2048, 512, 0, 1000}), Errc::invalid);
  EXPECT_EQ(code({}, {2048, 512, 20, std::nan("")}), Errc::invalid);
  layer = {};
  layer.width = 1 << 20;
  EXPECT_EQ(code(layer, {64, 1, 1, 1000}), Errc::capacity);
}

}  // namespace
}  // namespace accsim::hw
