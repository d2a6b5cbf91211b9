#include "sim/validate/tiled_kinds.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sim/validate/predict.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

/// A validation file with a table of one tiled product.
class TiledProduct {
 public:
  explicit TiledProduct(const std::string& cells) {
    std::ofstream(folder_.path("v.yaml"))
        << "source: s\nevidence: simulation\nfitted: no\nmachine: " << kSource
        << "/configs/known/vta-16x16.yaml\n"
           "table: {file: t.csv, workload: tiled_gemm, columns: {cycles: c, m: m, k: k, n: 16,\n"
           "  tile_m: m, tile_k: 16, tile_n: 16, order: order, micro: micro, sync: sync}}\n";
    std::ofstream(folder_.path("t.csv")) << "c,m,k,order,micro,sync\n" << cells << "\n";
  }
  Result<ValidationSource> load() const { return load_validation(folder_.path("v.yaml")); }
  /// The only error, from the line of the table on.
  std::string error() const {
    const auto source = load();
    if (source || source.errors().size() != 1) return "no single error";
    const std::string text = source.errors().front().text();
    return text.substr(text.find("t.csv"));
  }

 private:
  test::TempFolder folder_;
};

/// Id 0 of validation/tables/vta_rtl.csv: 867 cycles, whatever the machine's file says.
TEST(TiledKinds, AreCyclesThoseOfTheRowsMachine) {
  const auto source = TiledProduct("867,16,16,mn,k,credit").load();
  ASSERT_TRUE(source) << source.errors().front().text();
  const ValidationPoint& point = source->points.front();
  const auto p = predict_row(point);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->predicted, 867);
  EXPECT_EQ(p->low, 867);
  EXPECT_EQ(p->high, 867);
  EXPECT_TRUE(p->effects.empty());
  EXPECT_EQ(p->bound, Bound::none);
  EXPECT_EQ(p->macs, 16 * 16 * 16);
}

TEST(TiledKinds, IsAWordThatNoSizeHasRefused) {
  EXPECT_EQ(TiledProduct("867,16,16,mn,k,barrier").error(),
            "t.csv:2:16: sync is \"barrier\"; valid: credit, tvm");
  EXPECT_EQ(TiledProduct("867,16,16,mk,k,tvm").error(),
            "t.csv:2:11: order is \"mk\"; valid: mn, nm");
}

TEST(TiledKinds, IsALayerThatHasNoWholeTilesRefused) {
  EXPECT_EQ(TiledProduct("867,16,24,mn,k,tvm").error(),
            "t.csv:2:1: line 2: there is no such tiled_gemm: inner: 24 isn't a number of whole "
            "tiles of 16");
}

}  // namespace
}  // namespace accsim::sim
