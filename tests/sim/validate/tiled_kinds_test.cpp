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
  /// `more`: of the columns; `head`: of the file.
  explicit TiledProduct(const std::string& cells, const std::string& more = "",
                        const std::string& head = "", const std::string& machine = "vta-16x16") {
    std::ofstream(folder_.path("v.yaml"))
        << "source: s\nevidence: simulation\nfitted: no\nmachine: " << kSource << "/configs/known/"
        << machine << ".yaml\n"
        << head
        << "table: {file: t.csv, workload: tiled_gemm, columns: {cycles: c, m: m, k: k, n: 16,\n"
           "  tile_m: m, tile_k: 16, tile_n: 16, order: order, micro: micro, sync: sync"
        << more << "}}\n";
    std::ofstream(folder_.path("t.csv")) << "c,m,k,order,micro,sync\n" << cells << "\n";
  }
  Result<ValidationSource> load() const { return load_validation(folder_.path("v.yaml")); }
  /// The prediction for the only row, or an error.
  Result<Prediction> predict() const {
    const auto source = load();
    if (!source) return source.errors();
    const ValidationPoint& point = source->points.front();
    return predict_point(point, source->machines.at(point.machine_file), {}, true);
  }
  /// The only error, from the line of the table or file on.
  std::string error() const {
    const auto source = load();
    if (source || source.errors().size() != 1) return "no single error";
    const std::string text = source.errors().front().text();
    return text.substr(text.find_last_of('/') + 1);
  }

 private:
  test::TempFolder folder_;
};

const char* const kRow = "867,16,16,mn,k,credit";

/// Id 0 of validation/tables/vta_rtl.csv: 867 cycles. No field that decides them is assumed.
TEST(TiledKinds, AreCyclesThoseOfTheMachinesEngines) {
  const auto p = TiledProduct(kRow).predict();
  ASSERT_TRUE(p) << p.errors().front().text();
  EXPECT_EQ(p->predicted, 867);
  EXPECT_EQ(p->low, 867);
  EXPECT_EQ(p->high, 867);
  EXPECT_TRUE(p->effects.empty());
  EXPECT_EQ(p->bound, Bound::none);
  EXPECT_EQ(p->macs, 16 * 16 * 16);
}

/// The program waits for the memory's latency at its commands; at the first operand, and again at
/// its last row, since the 16 requests before are still to be answered; at the second operand; and
/// at each of 16 rows of its result.
TEST(TiledKinds, DoEditsOfTheMachineChangeThem) {
  const int64_t waits = 1 + 2 + 1 + 16;
  const auto slower =
      TiledProduct(kRow, "", "set: [{field: engines.latency, value: 33, source: a bench}]\n")
          .predict();
  ASSERT_TRUE(slower) << slower.errors().front().text();
  EXPECT_EQ(slower->predicted, 867 + waits);
  const auto row = TiledProduct(kRow, ", engines.latency: 33").predict();
  ASSERT_TRUE(row) << row.errors().front().text();
  EXPECT_EQ(row->predicted, slower->predicted);
  const auto words =
      TiledProduct(kRow, ", engines.latency: {column: sync, words: {credit: 33, tvm: 34}}")
          .predict();
  ASSERT_TRUE(words) << words.errors().front().text();
  EXPECT_EQ(words->predicted, slower->predicted);
}

TEST(TiledKinds, AreFieldsThatARowCantSetRefused) {
  EXPECT_EQ(TiledProduct(kRow, ", engines.latency: c / 0").error(),
            "t.csv:2:1: engines.latency is \"inf\"; it must be a whole number (1..1048576)");
  EXPECT_EQ(TiledProduct(kRow, ", engines.latency: 0").error(),
            "t.csv:2:1: engines.latency is 0, out of range; it must be 1..1048576 cycles");
  EXPECT_EQ(TiledProduct(kRow, ", engines.latency: {column: sync, words: {tvm: 3}}").error(),
            "t.csv:2:16: sync is \"credit\"; valid: tvm");
  const auto page = TiledProduct(kRow, ", engines.page_beats: 3").predict();
  ASSERT_FALSE(page);
  EXPECT_NE(page.errors().front().text().find("with this row: engines.command_bytes"),
            std::string::npos)
      << page.errors().front().text();
  const auto none = TiledProduct(kRow, ", array.stripe: 16").predict();
  ASSERT_FALSE(none);
  EXPECT_NE(none.errors().front().text().find("vta-16x16 has no array.stripe"), std::string::npos);
}

TEST(TiledKinds, AreMachinesWithoutEnginesRefused) {
  const auto p = TiledProduct(kRow, "", "", "tpu-v1").predict();
  ASSERT_FALSE(p);
  EXPECT_NE(p.errors().front().text().find("has no section engines"), std::string::npos);
}

TEST(TiledKinds, AreTheirCyclesAllThatIsPredicted) {
  EXPECT_EQ(TiledProduct(kRow, ", feature_banks: 1, weight_banks: 1").load().errors().size(), 2U);
  TiledProduct power(kRow, ", mw: c");
  const auto source = power.load();
  ASSERT_FALSE(source);
  bool told = false;
  for (const Error& e : source.errors())
    told |= e.message == "tiled_gemm has no mw: its cycles alone are predicted";
  EXPECT_TRUE(told);
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

TEST(TiledKinds, HasABiasTwoWords) {
  EXPECT_EQ(TiledProduct(kRow, ", bias: m").error(), "t.csv:2:5: bias is \"16\"; valid: 0, 1");
}

}  // namespace
}  // namespace accsim::sim
