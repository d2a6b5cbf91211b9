#include "hw/random/random_marks.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

constexpr int kPrograms = 200;

HwConfig copying_machine(int64_t shared_kib = 64) {
  HwConfig hw = test::small_machine();
  hw.dram = {{16000}, {16000}, 12};
  hw.shared = {shared_kib, {{16000}, {8000}, 5}};
  return hw;
}

std::vector<ProgramWithImage> copies(const HwConfig& hw, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ProgramWithImage> out;
  for (int i = 0; i < kPrograms; ++i)
    out.push_back(random_marks(hw, Dataflow::input_stationary, random));
  return out;
}

TEST(RandomMarks, IsAProgramOfTheMachine) {
  for (const int64_t shared_kib : {0, 64}) {
    const HwConfig hw = copying_machine(shared_kib);
    for (ProgramWithImage& drawn : copies(hw, 1)) {
      const Status good = verify(drawn.program, hw);
      ASSERT_TRUE(good) << good.errors().front().text();
      EXPECT_EQ(drawn.program.dataflow, Dataflow::input_stationary);
      for (const ProgramTensor& t : drawn.program.tensors)
        EXPECT_TRUE(t.memory == MemoryId::dram || shared_kib > 0);
      EXPECT_TRUE(run_golden(drawn.program, hw, drawn.image));
    }
  }
}

/// Co-simulation compares what is written with what golden has in the end.
TEST(RandomMarks, WritesNoByteTwice) {
  for (const ProgramWithImage& drawn : copies(copying_machine(), 3)) {
    std::vector<std::set<int64_t>> written(drawn.program.tensors.size());
    const auto write = [&](int tensor, int64_t at, const Walk& walk) {
      const Walk::Level level = walk.levels.empty() ? Walk::Level{1, 0} : walk.levels[0];
      for (int64_t run = 0; run < level.count; ++run)
        for (int64_t b = 0; b < walk.run; ++b)
          ASSERT_TRUE(
              written[static_cast<size_t>(tensor)].insert(at + run * level.stride + b).second);
    };
    for (const Item& item : drawn.program.body) {
      const auto* command = std::get_if<Command>(&item.node);
      if (!command) continue;
      if (const auto* store = std::get_if<StoreCommand>(command))
        write(store->tensor, store->target.base, store->walk);
      const auto* stage = std::get_if<StageCommand>(command);
      if (!stage) continue;
      const auto to = static_cast<size_t>(stage->to);
      const bool dense = drawn.program.tensors[to].memory == MemoryId::shared;
      write(stage->to, stage->target.base, dense ? Walk{{}, stage->walk.bytes()} : stage->walk);
    }
  }
}

}  // namespace
}  // namespace accsim::hw
