#include "sim/report/text.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <limits>
#include <sstream>

#include "fake_report.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Names, counts and lists as long as a file can make them.
Report nasty() {
  Report r = fake_report(3);
  r.model_name = std::string(300, 'm');
  r.model_file = std::string(300, '/');
  r.layers[0].name = std::string(500, 'n') + "\n\x1b[2J\xe2\x82\xac";
  r.layers[0].op_type = std::string(100, 'o');
  r.layers[0].unverifiable = r.layers[3].unverifiable = std::string(200, 'w');
  r.layers[3].op_type = "\x1b[2J\xe2\x82\xac";
  r.layers[0].output_shape = Dims(20, 1'000'000);
  r.layers[3].name = "";
  r.bindings.assign(12, {std::string(30, 's'), 1});
  r.unsupported.assign(40, std::string(90, 'u') + " (Op)");
  r.totals.cycles = std::numeric_limits<int64_t>::max() / 2;
  r.totals.macs = std::numeric_limits<int64_t>::max() / 2;
  r.totals.energy.dram = 1e30;
  r.hw.name = std::string(64, 'h');
  r.hw.file = std::string(200, 'f');
  return r;
}

TEST(TextReport, IsNoLineWiderThanTheTerminal) {
  for (const Report& report : {fake_report(), nasty(), Report{}}) {
    for (const int width : {-1, 0, 20, 60, 61, 72, 80, 100, 120, 160, 200, 400}) {
      for (const bool colour : {false, true}) {
        for (const std::string& line : split(to_text(report, {width, colour, true})))
          EXPECT_LE(visible_width(line), static_cast<size_t>(std::max(60, width))) << line;
      }
    }
  }
}

TEST(TextReport, IsThereNothingThatATerminalObeysWithoutColour) {
  for (const Report& report : {fake_report(), nasty()}) {
    const std::string text = to_text(report, {100, false, true});
    EXPECT_EQ(printable(text, "\n"), text);
  }
}

TEST(TextReport, AreEscapeCodesThereOnlyWhenAskedFor) {
  const std::string plain = to_text(fake_report(), {100, false, false});
  const std::string coloured = to_text(fake_report(), {100, true, false});
  EXPECT_FALSE(contains(plain, "\x1b"));
  EXPECT_TRUE(contains(coloured, "\x1b["));
  // Without the codes and trailing blanks the two are the same.
  const std::vector<std::string> a = split(plain), b = split(coloured);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    std::string stripped;
    for (size_t at = 0; at < b[i].size(); ++at) {
      if (b[i][at] == '\x1b') {
        at = b[i].find('m', at);
      } else {
        stripped += b[i][at];
      }
    }
    stripped.erase(stripped.find_last_not_of(' ') + 1);
    EXPECT_EQ(a[i].substr(0, a[i].find_last_not_of(' ') + 1), stripped);
  }
}

TEST(TextReport, AreRowsThatCostNothingHiddenAndCounted) {
  const Report report = fake_report(5);
  const std::string some = to_text(report, {160, false, false});
  const std::string all = to_text(report, {160, false, true});
  EXPECT_TRUE(contains(some, "10 layers folded or views, cost nothing; --all shows them"));
  EXPECT_FALSE(contains(some, "/Reshape_3"));
  EXPECT_TRUE(contains(all, "/Reshape_3"));
  EXPECT_FALSE(contains(all, "--all"));
}

TEST(TextReport, DoTotalsStandBelowTheLayers) {
  const Report report = fake_report(4);
  const std::string text = to_text(report, {120, false, false});
  const size_t total = text.find("total of 12");
  ASSERT_NE(total, std::string::npos);
  EXPECT_LT(text.find("conv3/Conv"), total);
  const std::string row = text.substr(total, text.find('\n', total) - total);
  EXPECT_TRUE(contains(row, format_count(report.totals.cycles)));
}

TEST(TextReport, DoesAWideTerminalShowWhatANarrowOneDrops) {
  const auto header = [](int width) {
    for (const std::string& line : split(to_text(fake_report(), {width, false, false}))) {
      if (line.starts_with("layer ")) return line;
    }
    return std::string();
  };
  for (const char* column : {"cycles", "util", "bound"})
    for (const int width : {60, 80, 120, 200}) EXPECT_TRUE(contains(header(width), column));
  EXPECT_FALSE(contains(header(60), "achieved"));
  for (const char* column : {"op", "output", "time", "MACs", "DRAM rd", "MAC/B", "energy", "roof"})
    EXPECT_TRUE(contains(header(200), column)) << column;
}

TEST(TextReport, IsTheAreaOfTheMachineSaidWithItsUnit) {
  Report report = fake_report();
  report.area_mm2 = 109.4857;
  EXPECT_TRUE(contains(to_text(report, {}), "area 109.5 mm2")) << to_text(report, {});
}

TEST(TextReport, IsADefaultedSymbolSaidPlainly) {
  const std::string text = to_text(fake_report(), {120, false, false});
  EXPECT_TRUE(contains(text, "batch = 1 (default; set with --bind batch=N), sequence = 128"));
}

/// 100 cycles a layer; of the seventh kind a half.
TEST(TextReport, IsSaidWhatGoldenAndTheCoreDoNotRun) {
  Report r;
  const std::array<const char*, 7> kinds{"Conv", "A", "B", "C", "D", "E", "F"};
  for (const char* kind : kinds) {
    LayerReport layer;
    layer.op_type = kind;
    layer.costs.cycles = 100;
    layer.costs.verifiable_cycles = kind == kinds[0] ? 100 : kind == kinds[6] ? 50 : 0;
    if (kind != kinds[0]) layer.unverifiable = kind == kinds[1] ? "walks" : "moves";
    r.layers.push_back(layer);
    r.totals += layer.costs;
  }
  const std::string text = to_text(r, {400, false, true});
  EXPECT_TRUE(contains(text, "21.4 % of cycles are commands that golden and the RTL core run"))
      << text;  // 150 of 700
  EXPECT_TRUE(contains(text,
                       "; moves: 64.3 %, B, C, D, E, ...; walks: 14.3 %, A; no run confirms "
                       "the total\n"))
      << text;
  EXPECT_FALSE(contains(to_text(Report{}, {400, false, true}), "verifiable"));
}

TEST(TextReport, AreUnsupportedNodesNamed) {
  Report report = fake_report(1);
  EXPECT_FALSE(contains(to_text(report, {}), "UNSUPPORTED"));
  report.unsupported = {"/x (Foo)", "/y (Bar)"};
  EXPECT_TRUE(
      contains(to_text(report, {}), "2 nodes costed as memory traffic only: /x (Foo), /y (Bar)"));
}

TEST(TextReport, IsNanOrInfNeverPrinted) {
  Report broken = fake_report(2);
  broken.hw.clock_mhz = 0;
  broken.totals.energy.mac = std::numeric_limits<double>::quiet_NaN();
  for (const Report& report : {Report{}, broken}) {
    const std::string text = to_text(report, {200, false, true});
    for (const std::string& line : split(text)) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        EXPECT_FALSE(word.starts_with("nan") || word.starts_with("-nan")) << line;
        EXPECT_FALSE(word == "inf" || word == "-inf" || word == "inf%") << line;
      }
    }
  }
}

TEST(TextReport, AreTheSlowestLayersNamedInOrder) {
  const std::string text = to_text(fake_report(12), {120, false, false});
  const std::string top = text.substr(text.find("slowest layers"));
  size_t at = 0;
  for (const int i : {11, 10, 9, 8, 7}) {
    const size_t found = top.find(fmt::format("conv{}/", i), at);
    ASSERT_NE(found, std::string::npos) << i;
    at = found;
  }
  EXPECT_FALSE(contains(top, "conv6/"));
}

}  // namespace
}  // namespace accsim::sim
