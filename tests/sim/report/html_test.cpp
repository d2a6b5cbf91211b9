#include "sim/report/html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_report.h"
#include "sim/report/fields.h"
#include "sim/report/json.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::json;

HtmlContext context() {
  HtmlContext c;
  c.command = "accsim --hw 'my machine.yaml' x.onnx";
  c.version = "accsim 1";
  c.machine = "name: \"m\"\n";
  return c;
}

TEST(HtmlReport, IsItsDataTheJsonReportWithTheFieldList) {
  const Json data = Json::parse(page_data(fake_report(), context()));
  EXPECT_EQ(data.at("report"), Json::parse(to_json(fake_report())));
  EXPECT_EQ(data.at("command"), context().command);
  EXPECT_EQ(data.at("machine_yaml"), context().machine);
  ASSERT_EQ(data.at("fields").size(), report_fields().size());
  for (size_t i = 0; i < report_fields().size(); ++i) {
    EXPECT_EQ(data.at("fields")[i].at("key"), report_fields()[i].key);
    EXPECT_EQ(data.at("fields")[i].at("unit"), report_fields()[i].unit);
    EXPECT_EQ(data.at("fields")[i].at("description"), report_fields()[i].description);
  }
  EXPECT_FALSE(data.contains("timeline"));
}

TEST(HtmlReport, IsATimelineTakenOver) {
  HtmlContext c = context();
  c.timeline = R"({"unit":"cycles","layers":[]})";
  EXPECT_EQ(Json::parse(page_data(fake_report(), c)).at("timeline").at("unit"), "cycles");
}

TEST(HtmlReport, AreNamesInTheTableWithoutScriptsEscaped) {
  Report report = fake_report();
  report.layers.at(0).name = "<i>&</i>";
  const std::string html = to_html(report, context());
  EXPECT_NE(html.find("<td>&lt;i&gt;&amp;&lt;/i&gt;</td>"), std::string::npos);
  EXPECT_EQ(html.find("<i>&"), std::string::npos);
}

}  // namespace
}  // namespace accsim::sim
