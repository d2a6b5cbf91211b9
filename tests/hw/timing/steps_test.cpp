#include "hw/timing/steps.h"

#include <gtest/gtest.h>

#include "hw/program/contract.h"
#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

StepWriter started(const HwConfig& hw, Dataflow dataflow = Dataflow::weight_stationary) {
  StepWriter w;
  w.start_program(hw, dataflow);
  return w;
}

TEST(Steps, MergeLoopsThatOnlyRepeatALoop) {
  const HwConfig hw = test::small_machine();
  StepWriter w = started(hw);
  for (const int64_t count : {7, 1, 5, 3}) w.open_loop(count);
  w.gemm(8, 8, 8);
  for (int i = 0; i < 4; ++i) w.close_loop();
  ASSERT_EQ(w.steps().size(), 2U);
  EXPECT_EQ(w.steps()[0].kind, Step::Kind::loop);
  EXPECT_EQ(w.steps()[0].count, 7 * 5 * 3);
  EXPECT_EQ(w.steps()[0].span, 1);
}

TEST(Steps, KeepLoopsThatDoMore) {
  const HwConfig hw = test::small_machine();
  StepWriter w = started(hw);
  w.open_loop(7);
  w.open_loop(5);
  w.gemm(8, 8, 8);
  w.close_loop();
  w.gemm(8, 8, 8);
  w.close_loop();
  ASSERT_EQ(w.steps().size(), 4U);
  EXPECT_EQ(w.steps()[0].span, 3);
  EXPECT_EQ(w.steps()[0].work, 5 + 1);
  EXPECT_EQ(w.steps()[1].span, 1);
}

TEST(Steps, DropLoopsThatDoNothing) {
  const HwConfig hw = test::small_machine();
  StepWriter w = started(hw);
  w.open_loop(7);
  w.open_loop(5);
  w.close_loop();
  w.close_loop();
  EXPECT_TRUE(w.steps().empty());
}

/// Occupancies from the contract: the slower of the memory's rate and the slot port.
TEST(Steps, LoadsTakeTheSlowerOfMemoryAndPort) {
  HwConfig hw = test::small_machine();
  hw.dram.read = {4000};
  hw.buffers[static_cast<size_t>(Buffer::weight)].width = 16;
  StepWriter w = started(hw);
  w.load(Buffer::weight, MemoryId::dram, {{}, 160});
  w.load(Buffer::weight, MemoryId::dram, {{{160, 2}}, 1});
  EXPECT_EQ(time_of(w.steps()[0].occupancy), 160 / 4);
  EXPECT_EQ(time_of(w.steps()[1].occupancy), 160) << "a beat moves bytes of one run only";
}

TEST(Steps, TransposedLoadsTakeTheirBlocksAndTheWayOutOfTheLast) {
  HwConfig hw = test::small_machine(8, 4);
  hw.dram.read = {16000};
  hw.buffers[static_cast<size_t>(Buffer::weight)].width = 16;
  StepWriter w = started(hw);
  const auto occupancy = [&](int64_t matrices, int64_t rows, int64_t run, int64_t element) {
    w.load_transposed(Buffer::weight, MemoryId::dram, {{{matrices, rows * run}, {rows, run}}, run},
                      {}, element);
    return time_of(w.steps().back().occupancy);
  };
  // Blocks of 4 x 4: two below each other, three side by side; the last has two columns.
  EXPECT_EQ(occupancy(1, 6, 10, 1), 5 * 4 + 4 + 2);
  // Less than a block: the longer side of each, then the rows of the last one.
  EXPECT_EQ(occupancy(3, 2, 3, 1), 2 * 3 + 2 + 3);
  EXPECT_EQ(occupancy(3, 3, 2, 1), 2 * 3 + 3 + 2);
  // Two elements of 8 bytes are as wide as the port.
  EXPECT_EQ(occupancy(1, 4, 32, 8), 3 * 2 + 2 + 2);
  // 60 bytes at 16 a cycle are faster than 5 blocks, at one a cycle slower.
  hw.dram.read = {1000};
  EXPECT_EQ(occupancy(1, 6, 10, 1), 60 + 2);
  EXPECT_EQ(occupancy(1, 3, 6, 1), 18 + 2) << "bytes of whole blocks";
}

TEST(Steps, ALoopThatSignalsWhatItDoesNotDoIsStale) {
  const HwConfig hw = test::small_machine();
  for (const bool stores : {false, true}) {
    StepWriter w = started(hw);
    w.open_loop(9);
    w.sync(SyncKind::wait_full, Queue::store, Buffer::output);
    if (stores) w.store(MemoryId::dram, {{}, 8});
    w.sync(SyncKind::signal_free, Queue::store, Buffer::output);
    w.close_loop();
    EXPECT_EQ(w.steps()[0].stale, !stores);
  }
}

}  // namespace
}  // namespace accsim::hw
