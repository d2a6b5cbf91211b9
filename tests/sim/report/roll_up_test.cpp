#include "sim/report/roll_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fake_report.h"
#include "sim/report/csv.h"
#include "sim/report/fields.h"
#include "sim/report/json.h"
#include "sim/report/text.h"

namespace accsim::sim {
namespace {

/// Layers in modules of two and three parts, some in none.
Report report_of_modules() {
  Report r = fake_report(6);
  const std::vector<std::string> modules = {"a.x", "b", "a.y.z", "", "a.x", "ab.x"};
  for (size_t i = 0; i < r.layers.size(); ++i) r.layers[i].module = modules[i % modules.size()];
  return r;
}

std::vector<std::string> names_by(std::string_view by, Report r) {
  roll_up(grouping_from(by).value(), r);
  EXPECT_EQ(r.grouped_by, by);
  std::vector<std::string> out;
  for (const LayerGroup& group : r.groups) out.push_back(group.name);
  return out;
}

using Names = std::vector<std::string>;

TEST(RollUp, HasGroupsInTheOrderOfTheirFirstLayers) {
  const Report r = report_of_modules();
  EXPECT_EQ(names_by("module", r), (Names{"a.x", "b", "a.y.z", "(no module)", "ab.x"}));
  EXPECT_EQ(names_by("module:1", r), (Names{"a", "b", "(no module)", "ab"}));
  EXPECT_EQ(names_by("module:2", r), (Names{"a.x", "b", "a.y", "(no module)", "ab.x"}));
  EXPECT_EQ(names_by("module:9", r), (Names{"a.x", "b", "a.y.z", "(no module)", "ab.x"}));
  Names ops, fates;
  for (const LayerReport& l : r.layers) {
    if (std::ranges::find(ops, l.op_type) == ops.end()) ops.push_back(l.op_type);
    const std::string fate(name(l.fate));
    if (std::ranges::find(fates, fate) == fates.end()) fates.push_back(fate);
  }
  EXPECT_EQ(names_by("op", r), ops);
  EXPECT_EQ(names_by("fate", r), fates);
}

TEST(RollUp, AddsUpToTheTotals) {
  for (const char* by : {"module", "module:1", "op", "fate"}) {
    Report r = report_of_modules();
    roll_up(*grouping_from(by), r);
    Costs sum;
    int64_t layers = 0;
    for (const LayerGroup& group : r.groups) {
      sum += group.costs;
      layers += group.layers;
      EXPECT_EQ(group.bound, busiest_bound(group.costs));
    }
    EXPECT_EQ(layers, static_cast<int64_t>(r.layers.size()));
    EXPECT_EQ(sum.cycles, r.totals.cycles);
    EXPECT_EQ(sum.macs, r.totals.macs);
    EXPECT_EQ(sum.dram_read, r.totals.dram_read);
    EXPECT_NEAR(sum.energy.total_pj(), r.totals.energy.total_pj(),
                1e-9 * r.totals.energy.total_pj());
  }
}

TEST(RollUp, IsNotWhatOtherWordsSay) {
  for (const char* by : {"", "modules", "module:", "module:0", "module:-1", "module:1x",
                         "module:99999999999999999999", "module 2", "Op", "layer"})
    EXPECT_FALSE(grouping_from(by)) << by;
}

TEST(RollUp, IsWhatTableFilesAndJsonSay) {
  Report r = report_of_modules();
  roll_up(*grouping_from("module:1"), r);
  const std::string text = to_text(r, {.width = 160});
  EXPECT_NE(text.find("\na ("), std::string::npos) << text;
  EXPECT_NE(text.find("\n(no module) ("), std::string::npos);
  const std::string csv = to_csv(r);
  EXPECT_EQ(csv.substr(0, 12), "name,layers,");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + static_cast<int64_t>(r.groups.size()));
  const auto json = nlohmann::json::parse(to_json(r));
  EXPECT_EQ(json.at("grouped_by"), "module:1");
  ASSERT_EQ(json.at("groups").size(), r.groups.size());
  EXPECT_EQ(json.at("layers").size(), r.layers.size());
  for (size_t i = 0; i < r.groups.size(); ++i) {
    const auto& group = json.at("groups")[i];
    EXPECT_EQ(group.at("name"), r.groups[i].name);
    EXPECT_EQ(group.at("layers"), r.groups[i].layers);
    EXPECT_EQ(group.at("cycles"), r.groups[i].costs.cycles);
    EXPECT_FALSE(group.contains("area_mm2")) << "of the machine, not of layers";
  }
}

}  // namespace
}  // namespace accsim::sim
