#include "sim/validate/program_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "hw/config/load.h"
#include "hw/engines/tiled_program.h"
#include "sim/validate/tiled_kinds.h"
#include "sim/validate/validation_text.h"
#include "tests/sim/validate/table_folder.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

/// Two programs of one product, and a row of another machine's memory.
Result<Validation> validated(const accsim::test::TempFolder& folder) {
  std::ofstream(folder.path("v.yaml"))
      << "source: s\nevidence: simulation\nfitted: no\nmachine: " << kSource
      << "/configs/known/vta-16x16.yaml\n"
         "table: {file: t.csv, workload: tiled_gemm, columns: {cycles: c, m: m, k: 64, n: 32,\n"
         "  tile_m: 1, tile_k: 16, tile_n: 16, order: order, micro: micro, sync: sync,\n"
         "  engines.latency: latency}}\n";
  std::ofstream(folder.path("t.csv")) << "c,m,order,micro,sync,latency\n"
                                         "1,24,mn,k,credit,32\n1,24,nm,k,tvm,32\n"
                                         "1,24,mn,k,credit,8\n";
  auto source = load_validation(folder.path("v.yaml"));
  if (!source) return source.errors();
  std::vector<ValidationSource> sources;
  sources.push_back(std::move(*source));
  return validate_sources(std::move(sources), {}, false, 1);
}

TEST(ProgramSearch, IsWhatIsFoundOfTheLayerAndItsMachine) {
  const accsim::test::TempFolder folder;
  Result<Validation> v = validated(folder);
  ASSERT_TRUE(v) << v.errors().front().text();
  std::vector<std::pair<int64_t, int64_t>> told;
  const auto progress = [&](int64_t done, int64_t of) { told.emplace_back(done, of); };
  ASSERT_TRUE(search_programs(*v, 2, progress));
  // The first two rows are one layer on one machine.
  EXPECT_EQ(told, (std::vector<std::pair<int64_t, int64_t>>{{1, 2}, {2, 2}}));
  const std::vector<Prediction>& rows = v->sources.front().predictions;
  for (const Prediction& p : rows) {
    ASSERT_TRUE(p.best);
    EXPECT_LT(static_cast<double>(p.best->cycles), p.predicted);
    EXPECT_EQ(p.best->cycles, std::min(p.best->credit_cycles, p.best->barrier_cycles));
    EXPECT_LE(p.best->timed, p.best->candidates);
  }
  EXPECT_EQ(rows[0].best->cycles, rows[1].best->cycles);
  EXPECT_LT(rows[2].best->cycles, rows[0].best->cycles);  // a faster memory
  const std::string text = search_text(*v, {.width = 200});
  EXPECT_NE(text.find(rows[0].best->program), std::string::npos) << text;
  EXPECT_NE(to_json(*v).find("\"program\": \"tile "), std::string::npos);
  EXPECT_EQ(to_json(*v).find("\"barrier_cycles\": null"), std::string::npos);
}

TEST(ProgramSearch, IsAKindOfSyncLeftOutThatHasNoProgram) {
  const accsim::test::TempFolder folder;
  Result<Validation> v = validated(folder);
  ASSERT_TRUE(v) << v.errors().front().text();
  ASSERT_TRUE(search_programs(*v, 1, [](int64_t, int64_t) {}));
  EXPECT_NE(search_text(*v, {.width = 200}).find("tvm alone"), std::string::npos);
  for (Prediction& p : v->sources.front().predictions) p.best->barrier_cycles.reset();
  EXPECT_EQ(search_text(*v, {.width = 200}).find("tvm alone"), std::string::npos);
  EXPECT_NE(to_json(*v).find("\"barrier_cycles\": null"), std::string::npos);
}

/// Blocks of a window of 40 x 40 take 400 KiB; the machine has 256 KiB for weights.
TEST(ProgramSearch, HasARowWithoutAProgramItsError) {
  const test::TableFolder files(
      "table: {file: t.csv, workload: tiled_conv, columns: {name: id, cycles: c,\n"
      "  c: 16, h: s, w: s, k: 16, kernel: r, tile_h: 1, tile_w: 1, tile_c: 16, tile_k: 16,\n"
      "  order: order, micro: micro}}\n",
      "id,c,s,r,order,micro\nsmall,1,4,3,hwc,ckk\nlarge,1,40,40,hwc,ckk\n");
  std::vector<ValidationSource> sources;
  sources.push_back(*files.load());
  Result<Validation> v = validate_sources(std::move(sources), {}, false, 1);
  ASSERT_TRUE(v) << v.errors().front().text();
  ASSERT_TRUE(search_programs(*v, 1, [](int64_t, int64_t) {}));
  const std::vector<Prediction>& rows = v->sources.front().predictions;
  EXPECT_TRUE(rows[0].best);
  EXPECT_EQ(rows[0].search_error, "");
  EXPECT_FALSE(rows[1].best);
  EXPECT_EQ(rows[1].search_error, "no program of this layer fits into the scratchpads");
  const std::string text = search_text(*v, {.width = 200});
  EXPECT_NE(text.find("large: no program of this layer fits"), std::string::npos) << text;
  EXPECT_NE(text.find("room for 2048 micro-operations"), std::string::npos) << text;
  EXPECT_NE(to_json(*v).find("\"search_error\": \"no program"), std::string::npos);
}

TEST(ProgramSearch, IsThereNothingToSayWithoutIt) {
  const accsim::test::TempFolder folder;
  const Result<Validation> v = validated(folder);
  ASSERT_TRUE(v);
  EXPECT_EQ(search_text(*v, {.width = 200}), "");
  EXPECT_NE(to_json(*v).find("\"best\": null"), std::string::npos);
}

/// VTA's scratchpads by the head of validation/tables/vta_rtl.csv: inp 2048 x 16 B, wgt 1024 x
/// 256 B, acc 2048 x 64 B, out 2048 x 16 B, uop 2048 x 4 B.
TEST(ProgramSearch, AreScratchpadsThoseOfTheBuffers) {
  for (const char* name : {"vta-16x16", "vta-16x16-wide"})
    EXPECT_EQ(room_of(*hw::load_hw(kSource + "/configs/known/" + name + ".yaml")),
              (hw::TileRoom{2048, 1024, 2048, 2048, 2048}))
        << name;
}

}  // namespace
}  // namespace accsim::sim
