#include "hw/program/coverage.h"

#include <gtest/gtest.h>

#include "tests/hw/program/refused.h"
#include "tests/support/regions.h"

namespace accsim::hw {
namespace {

using test::region_sync;
using test::RegionProgram;

constexpr int64_t kRounds = 5;
constexpr int kRing = 3, kFarRing = 4;  ///< tensors: a region in the shared buffer, one in DRAM

/// Of the rows about regions and stages, those that aren't 0.
std::map<std::string, int64_t> of_regions(const Program& p) {
  Coverage all;
  add_coverage(p, all);
  std::erase_if(all, [](const auto& row) {
    const bool is = row.first.find("region") != std::string::npos || row.first.starts_with("stage");
    return !is || row.second == 0;
  });
  return all;
}

Program rounds(const RegionProgram& r, std::vector<Item> body) {
  const Program p = r.program({{Loop{0, "i", kRounds, std::move(body)}}}, 1);
  EXPECT_EQ(test::error(p), "");
  return p;
}

TEST(Coverage, CountsAWayThroughARing) {
  const RegionProgram r(10);
  std::vector<Item> body = r.filled();
  test::append(body, r.read());
  const std::map<std::string, int64_t> want = {{"stage from dram", kRounds},
                                               {"stage of several runs", kRounds},
                                               {"stage to a region", kRounds},
                                               {"load from a region", kRounds},
                                               {"load from a region to output", kRounds}};
  EXPECT_EQ(of_regions(rounds(r, body)), want);
}

/// From a ring in the shared buffer into one in DRAM and back; what a load does there.
TEST(Coverage, CountsWhatLoadsAndStagesDoWithRegions) {
  RegionProgram r(10);
  r.more.push_back({"far ring", MemoryId::dram, 60, 2});
  r.more.push_back({"last ring", MemoryId::shared, 60, 2});
  std::vector<Item> body = r.filled();
  const auto hop = [&](int from, int to) {
    test::append(body, {region_sync(SyncKind::wait_full, Queue::stage, from),
                        region_sync(SyncKind::wait_free, Queue::stage, to),
                        {Command{StageCommand{from, to, 0, 0, {{}, 30}}}},
                        region_sync(SyncKind::signal_full, Queue::stage, to),
                        region_sync(SyncKind::signal_free, Queue::stage, from)});
  };
  hop(kRing, kFarRing);
  hop(kFarRing, kFarRing + 1);
  LoadCommand turned{Buffer::output, kFarRing + 1, 0, 0, {{{3, 4}}, 5}, {}};
  turned.transposed = 1;
  std::vector<Item> read = r.read();
  read[1] = region_sync(SyncKind::wait_full, Queue::load, kFarRing + 1);
  std::get<LoadCommand>(std::get<Command>(read[2].node)).tensor = kFarRing + 1;
  read[3] = region_sync(SyncKind::signal_free, Queue::load, kFarRing + 1);
  read.insert(read.begin() + 3, Item{Command{turned}});
  test::append(body, read);
  const std::map<std::string, int64_t> want = {
      {"stage from dram", 2 * kRounds},
      {"stage to dram", kRounds},
      {"stage of several runs", kRounds},
      {"stage to a region", 3 * kRounds},
      {"stage from a region", 2 * kRounds},
      {"stage to a region in dram", kRounds},
      {"stage from a region in dram", kRounds},
      {"stage from region to region in dram", kRounds},
      {"stage from region to region in shared", kRounds},
      {"load from a region", 2 * kRounds},
      {"load from a region to output", 2 * kRounds},
      {"load from a region of several runs", kRounds},
      {"load from a region transposed", kRounds},
      {"load from a region, not the slot's first", kRounds}};
  EXPECT_EQ(of_regions(rounds(r, body)), want);
}

TEST(Coverage, CountsStoresToARegionAndGatheredLoadsFromOne) {
  RegionProgram r(10);
  r.more.push_back({"far ring", MemoryId::dram, 60, 2});
  std::vector<Item> body = test::fill(Buffer::parameter, 8);
  body.push_back(test::sync(SyncKind::wait_full, Queue::load, Buffer::parameter));
  test::append(body, test::fill(Buffer::output, 30));
  test::append(body, {test::sync(SyncKind::wait_full, Queue::store, Buffer::output),
                      region_sync(SyncKind::wait_free, Queue::store, kFarRing),
                      {Command{StoreCommand{kFarRing, 0, 0, {{{2, 16}}, 14}}}},
                      region_sync(SyncKind::signal_full, Queue::store, kFarRing),
                      test::sync(SyncKind::signal_free, Queue::store, Buffer::output)});
  std::vector<Item> read = r.read();
  read[1] = region_sync(SyncKind::wait_full, Queue::load, kFarRing);
  read[2] = test::gathered_load(Buffer::output, 2, 1, 15, kFarRing);
  read[3] = region_sync(SyncKind::signal_free, Queue::load, kFarRing);
  test::append(body, read);
  body.push_back(test::sync(SyncKind::signal_free, Queue::load, Buffer::parameter));
  const std::map<std::string, int64_t> want = {{"store to a region", kRounds},
                                               {"store to a region of several runs", kRounds},
                                               {"load from a region", kRounds},
                                               {"load from a region in dram", kRounds},
                                               {"load from a region to output", kRounds},
                                               {"load from a region of several runs", kRounds},
                                               {"load from a region gathered", kRounds}};
  EXPECT_EQ(of_regions(rounds(r, body)), want);
}

}  // namespace
}  // namespace accsim::hw
