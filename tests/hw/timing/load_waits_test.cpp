// What a queue is said to wait for when the load that it waits for was held up itself.
#include <gtest/gtest.h>

#include "hw/program/contract.h"
#include "hw/timing/timing.h"
#include "tests/support/machines.h"
#include "tests/support/regions.h"

namespace accsim::hw {
namespace {

using contract::kTokenLatency;
using Waits = std::array<Cycles, kWaits>;

constexpr int64_t kBytes = 64;

HwConfig two_memories() {
  HwConfig hw = test::small_machine(8, 8);
  hw.dram = {{4000}, {2000}, 20};
  hw.shared = {64, {{8000}, {8000}, 5}};
  return hw;
}

/// From the start of a transfer of so many bytes until another queue may act on it.
int64_t near(const HwConfig& hw, int64_t bytes) {
  return hw.shared.channel.read.cycles(bytes) + hw.shared.channel.latency + kTokenLatency;
}
int64_t far(const HwConfig& hw, int64_t bytes) {
  return hw.dram.read.cycles(bytes) + hw.dram.latency + kTokenLatency;
}

/// All gaps are for this reason.
Waits all(Wait why, int64_t cycles) {
  Waits out{};
  out[static_cast<size_t>(why)] = Cycles(cycles);
  return out;
}

Waits of_vector(std::vector<Item> body, const HwConfig& hw,
                const std::vector<ProgramTensor>& regions = {}) {
  Program p = test::program(std::move(body));
  for (const ProgramTensor& t : regions) p.tensors.push_back(t);
  EXPECT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors().front().text();
  return simulate(p, hw).queue(Queue::vector).waits;
}

std::vector<Item> claimed_activations(std::vector<Item> loads) {
  std::vector<Item> out = {test::sync(SyncKind::wait_free, Queue::load, Buffer::activation)};
  test::append(out, std::move(loads));
  out.push_back(test::sync(SyncKind::signal_full, Queue::load, Buffer::activation));
  return out;
}

/// The vector unit reads an activation slot for so many cycles.
std::vector<Item> read_activations(int64_t cycles) {
  VectorCommand c;
  c.in_bytes = 1;
  c.ops[0] = cycles * 8;
  return {test::sync(SyncKind::wait_full, Queue::vector, Buffer::activation), Item{Command{c}},
          test::sync(SyncKind::signal_free, Queue::vector, Buffer::activation)};
}

std::vector<Item> from_region() {
  std::vector<Item> out =
      claimed_activations({test::region_sync(SyncKind::wait_full, Queue::load, 3),
                           test::load(Buffer::activation, kBytes, 3),
                           test::region_sync(SyncKind::signal_free, Queue::load, 3)});
  test::append(out, read_activations(1));
  return out;
}

TEST(LoadWaits, AreForDramWhereAStageBringsWhatIsLoaded) {
  const HwConfig hw = two_memories();
  std::vector<Item> body = {test::region_sync(SyncKind::wait_free, Queue::stage, 3),
                            {Command{StageCommand{0, 3, 0, 0, test::walk(kBytes)}}},
                            test::region_sync(SyncKind::signal_full, Queue::stage, 3)};
  test::append(body, from_region());
  const int64_t staged = far(hw, kBytes) + hw.shared.channel.latency;
  EXPECT_EQ(of_vector(std::move(body), hw, {{"ring", MemoryId::shared, kBytes, 1}}),
            all(Wait::dram_read, staged + near(hw, kBytes)));
}

TEST(LoadWaits, AreForTheStoreThatFillsARegion) {
  const HwConfig hw = two_memories();
  for (const MemoryId memory : {MemoryId::dram, MemoryId::shared}) {
    std::vector<Item> body = {test::sync(SyncKind::wait_free, Queue::load, Buffer::output),
                              test::load(Buffer::output, kBytes),
                              test::sync(SyncKind::signal_full, Queue::load, Buffer::output),
                              test::sync(SyncKind::wait_full, Queue::store, Buffer::output),
                              test::region_sync(SyncKind::wait_free, Queue::store, 3),
                              test::store(kBytes, 3),
                              test::region_sync(SyncKind::signal_full, Queue::store, 3),
                              test::sync(SyncKind::signal_free, Queue::store, Buffer::output)};
    test::append(body, from_region());
    const ChannelConfig& channel = memory == MemoryId::dram ? hw.dram : hw.shared.channel;
    const int64_t stored = channel.write.cycles(kBytes) + channel.latency + kTokenLatency;
    const int64_t loaded = memory == MemoryId::dram ? far(hw, kBytes) : near(hw, kBytes);
    EXPECT_EQ(of_vector(std::move(body), hw, {{"ring", memory, kBytes, 1}}),
              all(memory == MemoryId::dram ? Wait::dram_write : Wait::shared,
                  far(hw, kBytes) + stored + loaded));
  }
}

TEST(LoadWaits, AreForWhatBringsTheIndicesOfAGatheredLoad) {
  const HwConfig hw = two_memories();
  const int64_t items = 4, list = items * Gather::kIndexBytes;
  std::vector<Item> body = test::fill(Buffer::parameter, list);
  body.push_back(test::sync(SyncKind::wait_full, Queue::load, Buffer::parameter));
  test::append(body, claimed_activations(
                         {test::gathered_load(Buffer::activation, items, 1, kBytes / items, 2)}));
  body.push_back(test::sync(SyncKind::signal_free, Queue::load, Buffer::parameter));
  test::append(body, read_activations(1));
  EXPECT_EQ(of_vector(std::move(body), hw),
            all(Wait::dram_read, far(hw, list) + contract::kGatherLatency + near(hw, kBytes)));
}

TEST(LoadWaits, AreForSlotsWhereTheLoadWaitedForOne) {
  HwConfig hw = two_memories();
  hw.buffers[static_cast<size_t>(Buffer::activation)].slots = 1;
  std::vector<Item> body;
  for (int i = 0; i < 2; ++i) {
    test::append(body, claimed_activations({test::load(Buffer::activation, kBytes)}));
    test::append(body, read_activations(30));
  }
  Waits expected = all(Wait::dram_read, far(hw, kBytes));
  expected[static_cast<size_t>(Wait::slot)] = Cycles(kTokenLatency + far(hw, kBytes));
  EXPECT_EQ(of_vector(std::move(body), hw), expected);
}

/// The slot is free long before a stage lets the load have DRAM's channel.
TEST(LoadWaits, AreForDramWhereAStageHasItsChannel) {
  HwConfig hw = two_memories();
  hw.buffers[static_cast<size_t>(Buffer::activation)].slots = 1;
  const int64_t staged = 1000;
  std::vector<Item> body = claimed_activations({test::load(Buffer::activation, kBytes)});
  test::append(body, read_activations(1));
  body.push_back({Command{StageCommand{0, 2, 0, 0, test::walk(staged)}}});
  test::append(body, claimed_activations({test::load(Buffer::activation, kBytes)}));
  test::append(body, read_activations(1));
  // Load, stage and load on the channel, one behind the other; a cycle of the vector unit between.
  const int64_t read = hw.dram.read.cycles(kBytes);
  const int64_t end =
      read + kTokenLatency + hw.dram.read.cycles(staged) + kTokenLatency + far(hw, kBytes);
  EXPECT_EQ(of_vector(std::move(body), hw), all(Wait::dram_read, end - 1));
}

}  // namespace
}  // namespace accsim::hw
