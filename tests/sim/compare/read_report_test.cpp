#include "sim/compare/read_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hw/config/load.h"
#include "sim/compare/compare_text.h"
#include "sim/cost/cost.h"
#include "sim/report/json.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;
const Report& costed(const std::string& machine) {
  static std::map<std::string, Report> reports;
  const auto [at, fresh] = reports.try_emplace(machine);
  if (fresh) {
    const auto graph = load_graph(kSource + "/models/bert_base_op17.onnx", {});
    const auto hw = hw::load_hw(kSource + "/configs/" + machine + ".yaml");
    MapOptions options;
    options.effort = MapEffort::rule;
    at->second = cost_network(*graph, *hw, options)->report;
  }
  return at->second;
}

/// The file says all that a comparison needs: both ways give the same side.
TEST(ReadReport, GivesWhatTheReportItselfGives) {
  for (const char* machine : {"64x64", "64x64-ddr4", "16x16", "64x64-modes"}) {
    const Report& report = costed(machine);
    const auto read = parse_report(to_json(report), "r.json");
    ASSERT_TRUE(read.ok()) << read.errors().front().text();
    EXPECT_TRUE(*read == run_side(report)) << machine;
  }
}

/// A report of the time before busy cycles were split by unit.
TEST(ReadReport, SplitsOlderReportsByFate) {
  Json json = Json::parse(to_json(costed("64x64")));
  for (Json& layer : json["layers"])
    for (const char* key : {"vector_cycles", "vector_bound_cycles", "move_cycles"})
      layer.erase(key);
  const auto read = parse_report(json.dump(), "old.json");
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  EXPECT_TRUE(*read == run_side(costed("64x64")));  // BERT has no layer of several units
}

std::string error_of(const Json& json) {
  const auto read = parse_report(json.dump(), "r.json");
  return read ? "none" : read.errors().front().text();
}

TEST(ReadReport, NamesFileAndKeyOfWhatIsWrong) {
  const Json good = Json::parse(to_json(costed("64x64")));
  const std::string anew =
      "is missing: the report isn't whole, or of a version that didn't write it; write it anew "
      "with accsim --hw M model.onnx --json FILE";
  EXPECT_EQ(error_of(Json::array()),
            "r.json: has no \"schema\"; accsim.report/1 is what accsim --json writes");
  Json bad = good;
  bad["schema"] = "accsim.inspect/1";
  EXPECT_EQ(error_of(bad),
            "r.json: is 'accsim.inspect/1', not accsim.report/1, which accsim --json writes");
  bad = good;
  bad["layers"][3].erase("tail_cycles");
  EXPECT_EQ(error_of(bad), "r.json: layers[3].tail_cycles: " + anew);
  bad = good;
  bad.erase("hw");
  EXPECT_EQ(error_of(bad), "r.json: hw: " + anew);
  bad = good;
  bad["layers"][0]["cycles"] = -1;
  EXPECT_EQ(error_of(bad), "r.json: layers[0].cycles: is -1, not a count");
  bad = good;
  bad["layers"][0]["cycles"] = 1e30;
  EXPECT_EQ(error_of(bad), "r.json: layers[0].cycles: is 1e+30, not a count");
  bad = good;
  bad["totals"]["cycles"] = 18446744073709551615u;
  EXPECT_EQ(error_of(bad), "r.json: totals.cycles: is 18446744073709551615, not a count");
  bad = good;
  bad["hw"]["clock_mhz"] = 0;
  EXPECT_EQ(error_of(bad), "r.json: hw.clock_mhz: is 0, not a number of at least 0.001");
  bad = good;
  bad["layers"] = "none";
  EXPECT_EQ(error_of(bad), "r.json: layers: is no list");
}

TEST(ReadReport, RefusesLayersWhosePartsAreNotTheirCycles) {
  Json bad = Json::parse(to_json(costed("64x64")));
  size_t i = 0;
  while (bad["layers"][i]["vector_cycles"] == 0) ++i;
  const auto cycles = bad["layers"][i]["cycles"].get<int64_t>();
  bad["layers"][i]["cycles"] = cycles + 1;
  EXPECT_EQ(error_of(bad),
            fmt::format("r.json: layers[{}].cycles: is {}, but busy cycles, waits and tail add up "
                        "to {}: the report has been changed",
                        i, cycles + 1, cycles));
  bad["layers"][i]["cycles"] = cycles;
  bad["layers"][i]["vector_cycles"] = cycles + 1;
  EXPECT_NE(error_of(bad).find("are more than compute_cycles: the report has been changed"),
            std::string::npos);
}

TEST(ReadReport, SaysWhereTextIsNotJson) {
  const auto read = parse_report("{\n \"schema\": }", "r.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.errors().front().code, Errc::parse);
  EXPECT_TRUE(read.errors().front().text().starts_with(
      "r.json: is not JSON: parse error at line 2, column 12"));
  const auto absent = read_report(test::temp_path("absent.json"));
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.errors().front().code, Errc::io);
}

TEST(CompareText, FitsTheWidthInPrintableAscii) {
  const Comparison c = compare_runs(run_side(costed("16x16")), run_side(costed("64x64")));
  for (const int width : {80, 100, 160}) {
    std::string line;
    for (const char ch : to_text(c, {.width = width, .all_layers = true})) {
      if (ch == '\n') {
        EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
        line.clear();
      } else {
        ASSERT_TRUE(ch >= ' ' && ch <= '~');
        line += ch;
      }
    }
  }
}

TEST(CompareJson, WaterfallAndLayersAddUpToTheDifference) {
  const Comparison c = compare_runs(run_side(costed("64x64")), run_side(costed("64x64-ddr4")));
  const Json json = Json::parse(to_json(std::vector<Comparison>{c}));
  EXPECT_EQ(json["schema"], "accsim.compare/1");
  const Json& one = json["comparisons"][0];
  const int64_t difference = costed("64x64-ddr4").totals.cycles - costed("64x64").totals.cycles;
  EXPECT_EQ(one["difference"], difference);
  int64_t waterfall = 0, layers = 0;
  for (const Json& row : one["waterfall"]) waterfall += row["difference"].get<int64_t>();
  for (const Json& layer : one["layers"])
    for (const Json& cycles : layer["causes"]) layers += cycles.get<int64_t>();
  EXPECT_EQ(waterfall, difference);
  EXPECT_EQ(layers, difference);
  EXPECT_EQ(one["waterfall"].size(), json["causes"].size());
}

}  // namespace
}  // namespace accsim::sim
