#include "sim/validate/program_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "hw/config/load.h"
#include "hw/engines/tiled_program.h"
#include "sim/validate/tiled_kinds.h"
#include "sim/validate/validation_text.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

/// Two programs of one product, and a row of another machine's memory.
Result<Validation> validated(const test::TempFolder& folder) {
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
  const test::TempFolder folder;
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
    EXPECT_LE(p.best->timed, 2 * p.best->candidates);  // two orders
  }
  EXPECT_EQ(rows[0].best->cycles, rows[1].best->cycles);
  EXPECT_LT(rows[2].best->cycles, rows[0].best->cycles);  // a faster memory
  const std::string text = search_text(*v, {.width = 200});
  EXPECT_NE(text.find(rows[0].best->program), std::string::npos) << text;
  EXPECT_NE(to_json(*v).find("\"program\": \"tile "), std::string::npos);
}

TEST(ProgramSearch, IsThereNothingToSayWithoutIt) {
  const test::TempFolder folder;
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
