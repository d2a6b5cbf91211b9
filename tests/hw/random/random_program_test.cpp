#include "hw/random/random_program.h"

#include <gtest/gtest.h>

#include "hw/program/coverage.h"
#include "hw/random/random_regions.h"
#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

HwConfig machine_of_regions(int64_t shared_kib) {
  HwConfig hw = test::small_machine(8, 8);
  hw.shared.kib = shared_kib;
  hw.vector.mac_lanes = 5;
  return hw;
}

/// What programs of all dataflows cover; all are verified and run on golden.
Coverage covered(const HwConfig& hw, int programs) {
  Coverage out;
  std::mt19937 random(1);
  for (int i = 0; i < programs; ++i) {
    const auto dataflow = static_cast<Dataflow>(i % static_cast<int>(kDataflows));
    auto drawn = random_program(hw, dataflow, random);
    if (!drawn) return out;
    const Status good = verify(drawn->program, hw);
    EXPECT_TRUE(good.ok()) << good.errors().front().text() << program_text(drawn->program);
    const Status ran = run_golden(drawn->program, hw, drawn->image);
    EXPECT_TRUE(ran.ok()) << ran.errors().front().text();
    add_coverage(drawn->program, out);
  }
  return out;
}

/// What programs of several layers have.
bool of_networks(const std::string& what) {
  return what.find("mark") != std::string::npos || what == "layer of another dataflow";
}

bool of_regions(const std::string& what) {
  return what.find("region") != std::string::npos ||
         (what.starts_with("stage") && !of_networks(what));
}

TEST(RandomPrograms, GoEveryWayOverRegions) {
  int64_t rows = 0;
  for (const auto& [what, times] : covered(machine_of_regions(64), 300))
    if (of_regions(what)) {
      ++rows;
      EXPECT_GT(times, 0) << what;
    }
  EXPECT_GT(rows, 20);
}

/// What only programs of the mapper have: windows of more than a line of the tile.
TEST(RandomPrograms, LeaveNothingElseOut) {
  for (const auto& [what, times] : covered(machine_of_regions(64), 300)) {
    const bool window = what == "gemm with padding" || what == "gemm of several kernel lines" ||
                        what == "gemm of several output lines" ||
                        what == "gemm of a part of its window";
    EXPECT_EQ(times > 0, !window && !of_networks(what)) << what;
  }
}

/// Stages need a shared buffer; regions in DRAM, from store to load, don't.
TEST(RandomPrograms, HaveNoStagesWithoutASharedBuffer) {
  Coverage c = covered(machine_of_regions(0), 100);
  for (const auto& [what, times] : c)
    if (what.starts_with("stage") || what.ends_with("shared")) {
      EXPECT_EQ(times, 0) << what;
    }
  EXPECT_GT(c["store to a region"], 0);
  EXPECT_GT(c["load from a region in dram"], 0);
}

/// Nothing else would order them: a tensor that is no region is read only, or written by one queue.
TEST(RandomPrograms, OrderByRegionsWhatOneQueueWritesAndAnotherReads) {
  const HwConfig hw = machine_of_regions(64);
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const auto drawn = random_program(hw, hw.array.dataflows[0], random);
    ASSERT_TRUE(drawn);
    const size_t tensors = drawn->program.tensors.size();
    std::vector<int> read(tensors), stored(tensors), staged(tensors);
    const auto visit = [&](const auto& self, const std::vector<Item>& body) -> void {
      for (const Item& item : body) {
        if (const auto* loop = std::get_if<Loop>(&item.node)) self(self, loop->body);
        const auto* c = std::get_if<Command>(&item.node);
        if (!c) continue;
        const auto at = [](int tensor) { return static_cast<size_t>(tensor); };
        if (const auto* load = std::get_if<LoadCommand>(c)) read[at(load->tensor)] = 1;
        if (const auto* store = std::get_if<StoreCommand>(c)) stored[at(store->tensor)] = 1;
        if (const auto* stage = std::get_if<StageCommand>(c))
          read[at(stage->from)] = staged[at(stage->to)] = 1;
      }
    };
    visit(visit, drawn->program.body);
    for (size_t t = 0; t < tensors; ++t) {
      EXPECT_LE(stored[t] + staged[t], 1) << t;
      if (drawn->program.tensors[t].slots == 0) {
        EXPECT_LE(read[t] + stored[t] + staged[t], 1) << t;
      }
    }
  }
}

/// No ring is fuller than it can be, none is read when it is empty, all parts get through.
TEST(RandomPrograms, HopsKeepToTheSlots) {
  std::mt19937 random(3);
  const std::vector<int64_t> slots = {2, 1, 4};
  for (int64_t parts = 1; parts < 20; ++parts) {
    std::vector<int64_t> there(slots.size(), 0);
    int64_t out = 0;
    for (const size_t hop : draw_hops(slots, parts, random)) {
      if (hop > 0) {
        EXPECT_GE(--there[hop - 1], 0);
      }
      if (hop < slots.size()) {
        EXPECT_LE(++there[hop], slots[hop]);
      } else {
        ++out;
      }
    }
    EXPECT_EQ(out, parts);
    EXPECT_EQ(there, std::vector<int64_t>(slots.size(), 0));
  }
}

}  // namespace
}  // namespace accsim::hw
