#include "sim/sweep/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/sweep/merge.h"
#include "sim/sweep/space.h"
#include "tests/support/source.h"
#include "tests/support/stored.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

SweepSpec load(const std::string& more) {
  const std::string path = test::temp_path("run.yaml");
  std::ofstream(path) << "base: " << kSource << "/configs/64x64.yaml\nmodels: [{file: " << kSource
                      << "/models/squeezenet1_1_op13.onnx}]\neffort: rule\n"
                      << R"(axes:
  act: {field: buffers.activation.kib, values: [1, 64, 128]}
  lanes: {field: vector.lanes.pool, powers_of_two: [16, 64]}
  gbps: {field: dram.read_bytes_per_cycle, range: {from: 10, to: 60, step: 1}}
)" << more;
  auto spec = load_sweep(path);
  EXPECT_TRUE(spec.ok()) << spec.errors().front().text();
  return std::move(*spec);
}

std::string fresh(const std::string& name) {
  const std::string path = test::temp_path(name);
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  return path;
}

SweepRun run_on(const std::string& store, int threads) {
  SweepRun run;
  run.store = store;
  run.version = "test";
  run.threads = threads;
  return run;
}

class Run : public testing::TestWithParam<const char*> {};

TEST_P(Run, GivesTheSameStoreForAnyNumberOfThreadsAndInterruptions) {
  const SweepSpec spec = load(GetParam());
  const std::string whole = fresh("whole.sqlite"), other = fresh("other.sqlite");
  const auto one = run_sweep(spec, run_on(whole, 1));
  ASSERT_TRUE(one.ok()) << one.errors().front().text();
  EXPECT_EQ(one->stored, one->evaluated);
  std::atomic<bool> stop{false};
  SweepRun run = run_on(other, 4);
  run.stop = &stop;
  run.progress = [&](const SweepProgress&) { stop = true; };
  int64_t evaluated = 0;
  for (int i = 0; i < 3; ++i) {
    stop = false;
    const auto part = run_sweep(spec, run);
    ASSERT_TRUE(part.ok()) << part.errors().front().text();
    evaluated += part->evaluated;
  }
  run.stop = nullptr;
  const auto rest = run_sweep(spec, run);
  ASSERT_TRUE(rest.ok()) << rest.errors().front().text();
  EXPECT_EQ(evaluated + rest->evaluated, one->evaluated) << "a point was costed twice";
  EXPECT_TRUE(test::dump(other) == test::dump(whole));
}

INSTANTIATE_TEST_SUITE_P(Strategies, Run,
                         testing::Values("strategy: grid\n",
                                         "strategy: random\ncount: 300\nseed: 5\n",
                                         "strategy: pareto\nobjectives: [cycles, area]\n"));

TEST(Shards, OfASweepMakeTheWholeInAnyNumber) {
  const SweepSpec spec = load("constraints: [act > 1 || gbps < 20]\n");
  const std::string whole = fresh("whole.sqlite");
  ASSERT_TRUE(run_sweep(spec, run_on(whole, 2)).ok());
  for (const int64_t n : {2, 7}) {
    std::vector<std::string> shards;
    for (int64_t i = 1; i <= n; ++i) {
      shards.push_back(fresh("shard" + std::to_string(i) + ".sqlite"));
      SweepRun run = run_on(shards.back(), 2);
      run.shard = {i, n};
      const auto done = run_sweep(spec, run);
      ASSERT_TRUE(done.ok()) << done.errors().front().text();
      EXPECT_EQ(done->stored, done->total);
    }
    const std::string merged = fresh("merged.sqlite");
    const auto outcome = merge_stores(merged, shards);
    ASSERT_TRUE(outcome.ok()) << outcome.errors().front().text();
    EXPECT_EQ(test::dump(merged), test::dump(whole));
  }
}

TEST(LostStore, EndsTheRunAndSaysSo) {
  for (const char* strategy :
       {"strategy: grid\n", "strategy: pareto\nobjectives: [cycles, area]\n"})
    for (const bool replaced : {false, true}) {
      const SweepSpec spec = load(strategy);
      const std::string store = fresh("lost.sqlite");
      SweepRun run = run_on(store, 1);
      bool taken = false;
      run.progress = [&](const SweepProgress&) {
        if (taken) return;
        taken = true;
        std::filesystem::rename(store, fresh("away.sqlite"));
        if (replaced) std::ofstream(store) << "";
      };
      const auto outcome = run_sweep(spec, run);
      ASSERT_TRUE(outcome.ok()) << outcome.errors().front().text();
      EXPECT_TRUE(taken);
      EXPECT_TRUE(outcome->lost);
    }
}

TEST(StrangeStore, IsRefusedWhenItIsShown) {
  const SweepSpec spec = load("strategy: grid\n");
  const auto shown = [&](const std::string& sql) -> std::string {
    const std::string store = fresh("strange.sqlite");
    EXPECT_TRUE(run_sweep(spec, run_on(store, 1)).ok());
    auto db = Database::open(store, Database::Mode::create);
    EXPECT_TRUE(db.ok() && db->run_sql(sql).ok());
    const auto read = SweepStore::open_for_reading(store);
    const auto again = run_sweep(spec, run_on(store, 1));
    EXPECT_EQ(read.ok(), again.ok()) << "what is shown and what is gone on with are the same";
    return read ? "" : read.errors().front().message;
  };
  EXPECT_EQ(shown("DELETE FROM points WHERE point = 0"), "") << "a run that isn't finished";
  const auto count = count_points(spec);
  ASSERT_TRUE(count.ok());
  EXPECT_NE(shown("CREATE TEMP TABLE more AS SELECT * FROM points WHERE point = 0;"
                  "UPDATE more SET point = 1000000, config = 'x';"
                  "INSERT INTO points SELECT * FROM more")
                .find(fmt::format("{} points of {}", *count + 1, *count)),
            std::string::npos);
  const int64_t feasible = 100;
  for (const auto& [column, value] :
       {std::pair{"cycles", "'many'"}, {"energy_pj", "-1"}, {"time_us", "9e999"}, {"macs", "NULL"}})
    EXPECT_NE(
        shown(fmt::format("UPDATE points SET {} = {} WHERE point = {}", column, value, feasible))
            .find(fmt::format("no such {} as point {} has", column, feasible)),
        std::string::npos)
        << column;
}

}  // namespace
}  // namespace accsim::sim
