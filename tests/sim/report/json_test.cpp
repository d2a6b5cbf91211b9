#include "sim/report/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "fake_report.h"
#include "sim/report/fields.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::json;

void expect_keys(const Json& json, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(json.contains(key)) << key;
}

TEST(JsonReport, HasItEveryPromisedKey) {
  const Json json = Json::parse(to_json(fake_report()));
  EXPECT_EQ(json.at("schema"), "accsim.report/1");
  expect_keys(json.at("model"), {"name", "file", "opset", "params", "weight_bytes"});
  expect_keys(json.at("hw"), {"name", "file", "clock_mhz", "rows", "cols", "dataflows", "types",
                              "buffers", "dram"});
  expect_keys(json.at("totals"), {"cycles", "seconds", "macs", "params", "utilization",
                                  "dram_read_bytes", "dram_write_bytes", "energy_pj"});
  ASSERT_EQ(json.at("layers").size(), fake_report().layers.size());
  for (const Json& layer : json.at("layers")) {
    expect_keys(layer, {"name", "op_type", "fate", "macs", "params", "cycles", "compute_cycles",
                        "stall_cycles", "utilization", "dram_read_bytes", "dram_write_bytes",
                        "arithmetic_intensity", "bound", "energy_pj", "output_shape"});
  }
  EXPECT_TRUE(json.at("unsupported").is_array());
}

TEST(JsonReport, IsTheAreaOfTheMachineAmongTheTotals) {
  Report report = fake_report();
  report.area_mm2 = 109.5;
  EXPECT_EQ(Json::parse(to_json(report)).at("totals").at("area_mm2"), 109.5);
}

TEST(JsonReport, DoRowsHoldTheFieldListAndNothingElse) {
  const Json json = Json::parse(to_json(fake_report(1)));
  size_t in_layers = 0, in_totals = 0;
  for (const ReportField& field : report_fields()) {
    in_layers += field.in_layers() ? 1 : 0;
    in_totals += field.in_totals() ? 1 : 0;
    EXPECT_EQ(json.at("layers").at(0).contains(field.key), field.in_layers()) << field.key;
    EXPECT_EQ(json.at("totals").contains(field.key), field.in_totals()) << field.key;
  }
  EXPECT_EQ(json.at("layers").at(0).size(), in_layers);
  EXPECT_EQ(json.at("totals").size(), in_totals);
}

TEST(JsonReport, AreCountsExactIntegers) {
  Report report = fake_report(1);
  report.totals.macs = std::numeric_limits<int64_t>::max() - 1;
  const Json json = Json::parse(to_json(report));
  EXPECT_TRUE(json.at("totals").at("macs").is_number_integer());
  EXPECT_EQ(json.at("totals").at("macs").get<int64_t>(), report.totals.macs);
  EXPECT_EQ(json.at("layers").at(0).at("output_shape"), Json({1, 64, 56, 56}));
}

TEST(JsonReport, IsTheMachineWhatItsFileSays) {
  const Report report = fake_report(1);
  const Json hw = Json::parse(to_json(report)).at("hw");
  EXPECT_EQ(hw.at("name"), report.hw.name);
  EXPECT_EQ(hw.at("rows"), report.hw.array.rows);
  EXPECT_EQ(hw.at("cols"), report.hw.array.cols);
  EXPECT_EQ(hw.at("clock_mhz"), report.hw.clock_mhz);
  EXPECT_EQ(hw.at("types").at("accumulator"), name(report.hw.types.accumulator));
  EXPECT_EQ(hw.at("buffers").at("weight").at("kib"), report.hw.buffer(hw::Buffer::weight).kib);
  EXPECT_EQ(hw.at("dram").at("read_bytes_per_cycle"), report.hw.dram.read.value());
  EXPECT_EQ(hw.at("dataflows").size(), report.hw.array.dataflows.size());
}

TEST(JsonReport, AreEnergyComponentsTheirTotal) {
  const Json energy = Json::parse(to_json(fake_report())).at("energy");
  double sum = 0;
  for (const auto& [key, value] : energy.items()) {
    if (key != "total_pj") sum += value.get<double>();
  }
  EXPECT_NEAR(sum, energy.at("total_pj").get<double>(), 1e-6 * sum);
}

TEST(JsonReport, IsItTheSameTextEveryTime) {
  EXPECT_EQ(to_json(fake_report()), to_json(fake_report()));
}

TEST(JsonReport, DoOddNamesStayReadable) {
  Report report = fake_report(1);
  report.layers[0].name = "a \"b\",\n\x1b[31m\\c";
  report.layers[1].name = "bad \xff\xfe utf-8";
  report.unsupported = {"\xc3\x28 (Op)"};
  report.bindings = {{"\x80 symbol", 3}};
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json.at("layers").at(0).at("name"), report.layers[0].name);
  EXPECT_EQ(json.at("layers").at(1).at("name"), "bad \xef\xbf\xbd\xef\xbf\xbd utf-8");
}

TEST(JsonReport, IsNothingBetweenTheBracketsOfAnEmptyNetwork) {
  const Json json = Json::parse(to_json(Report{}));
  EXPECT_TRUE(json.at("layers").empty());
  EXPECT_TRUE(json.at("totals").at("arithmetic_intensity").is_null());
}

TEST(JsonReport, AreInfiniteNumbersNull) {
  Report report = fake_report(1);
  report.hw.clock_mhz = 0;
  report.totals.energy.dram = std::numeric_limits<double>::infinity();
  const std::string text = to_json(report);
  const Json json = Json::parse(text);
  EXPECT_TRUE(json.at("totals").at("seconds").is_null());
  EXPECT_TRUE(json.at("totals").at("energy_pj").is_null());
}

}  // namespace
}  // namespace accsim::sim
