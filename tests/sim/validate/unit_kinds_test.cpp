#include "sim/validate/unit_kinds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sim/validate/predict.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

/// A table of one row, on a machine that has units.
class UnitRow {
 public:
  UnitRow(const std::string& workload, const std::string& columns, const std::string& cells) {
    std::ofstream(folder_.path("v.yaml"))
        << "source: s\nevidence: simulation\nfitted: no\nmachine: " << kSource
        << "/configs/known/nvdla-nv-small.yaml\ntable: {file: t.csv, workload: " << workload
        << ", columns: {cycles: cycles, " << columns << "}}\n";
    std::ofstream(folder_.path("t.csv")) << "cycles," << cells << "\n";
  }
  /// Predicted cycles; 0 where the row is refused.
  double cycles() const {
    const auto source = load_validation(folder_.path("v.yaml"));
    EXPECT_TRUE(source.ok()) << (source ? "" : source.errors().front().text());
    if (!source) return 0;
    const ValidationPoint& point = source->points.front();
    const auto p = predict_point(point, source->machines.at(point.machine_file), {}, false);
    EXPECT_TRUE(p.ok()) << (p ? "" : p.errors().front().text());
    return p ? p->predicted : 0;
  }
  /// The only error, from the name of the table on.
  std::string error() const {
    const auto source = load_validation(folder_.path("v.yaml"));
    if (source || source.errors().size() != 1) return "no single error";
    const std::string text = source.errors().front().text();
    return text.substr(folder_.path().size() + 1);
  }

 private:
  test::TempFolder folder_;
};

const std::string kStrips =
    "c: 16, h: 6, w: 16, kernel_w: 4, kernel_h: 2, stride: 2, pad_l: 2, pad_r: 2, pad_t: 1, "
    "pad_b: 1, strips: n, strip_first_w: a, strip_mid_w: b, strip_last_w: c, strip_first_out: x, "
    "strip_mid_out: y, strip_last_out: z";

/// Three rows of validation/tables/nvdla_nv_small_rtl.csv, with the cycles that were counted.
TEST(UnitKinds, AreStripsStagesAndBypassesTheRows) {
  EXPECT_EQ(UnitRow("pool", kStrips, "n,a,b,c,x,y,z\n2013,3,2,12,2,1,6,2").cycles(), 2013);
  EXPECT_EQ(UnitRow("lrn", "c: 32, h: 8, w: 8, bypass: off", "off\n2159,1").cycles(), 2160);
  const std::string stages =
      "c: 33, h: 3, w: 3, own_stages: 1, stage2: s, stage2_alu: s, stage2_alu_operand: s";
  EXPECT_EQ(UnitRow("pointwise", stages, "s\n451,1").cycles(), 451);
  // Without stages: 9 positions of 5 atoms, and the way of one.
  EXPECT_EQ(UnitRow("pointwise", stages, "s\n1,0").cycles(), 20 + 32 + 2 * 2 + 25 + 9 * 5 * 8);
}

TEST(UnitKinds, AreStripsThatAreNoneRefused) {
  EXPECT_EQ(UnitRow("pool", kStrips, "n,a,b,c,x,y,z\n2013,3,2,12,2,1,6,3").error(),
            "t.csv:2:1: line 2: there is no such pool: 3 strips have 10 columns of outputs, and "
            "the layer has 9");
  EXPECT_EQ(UnitRow("pool", kStrips, "n,a,b,c,x,y,z\n2013,3,2,11,2,1,6,2").error(),
            "t.csv:2:1: line 2: there is no such pool: 3 strips read 15 columns, and the layer "
            "has 16");
  EXPECT_EQ(UnitRow("pool", kStrips, "n,a,b,c,x,y,z\n2013,two,2,11,2,1,6,2").error(),
            "t.csv:2:6: strips is \"two\"; it must be a number");
}

TEST(UnitKinds, NeedPointWiseLayersFunctionsOrStages) {
  EXPECT_EQ(UnitRow("pointwise", "c: 3, h: 3, w: 3", "s\n1,0").error(),
            "v.yaml:5:8: function is of pointwise layers, and they need it");
}

/// The goal is 10 %. The bounds are what docs/dot-product.md says, rounded up.
TEST(UnitKinds, AreTheVendorsTracesRight) {
  const auto source = load_validation(kSource + "/validation/nvdla-rtl.yaml");
  ASSERT_TRUE(source.ok()) << source.errors().front().text();
  std::vector<ValidationSource> sources;
  sources.push_back(*source);
  const auto v = validate_sources(std::move(sources), {}, false, 1);
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  std::map<std::string, ErrorSummary> families;
  for (const GroupSummary& g : v->sources.front().families) families[g.name] = g.summary;
  for (const auto& [name, rows] :
       {std::pair{"pooling", 11}, std::pair{"LRN", 11}, std::pair{"point-wise", 13}}) {
    EXPECT_EQ(families[name].points, rows) << name;
    EXPECT_LE(families[name].mean_absolute, 0.0005) << name;
    EXPECT_LE(std::abs(families[name].worst), 0.0013) << name;
  }
}

}  // namespace
}  // namespace accsim::sim
