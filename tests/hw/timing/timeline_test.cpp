#include "hw/timing/timeline.h"

#include <gtest/gtest.h>

#include "hw/timing/simulator.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

/// Every command of a program, stepped: what the slices of a timeline must be made of.
class SteppedCommands : public Watcher {
 public:
  struct Timed {
    int64_t free, start, end, finish;
    Wait why;
  };
  SteppedCommands(const Program& p, const HwConfig& hw) {
    StepWriter writer;
    write_steps(p, hw, writer);
    timing = Simulator().run(writer.steps(), hw, TimingMode::step, this, writer.regions());
  }
  void on_command(const TimedStep& c) override {
    queues[c.queue].push_back({c.free, c.start, c.end, c.finish, c.why});
  }

  Timing timing;
  PerQueue<std::vector<Timed>> queues;
};

/// Takes the commands of each slice off the stepped ones.
void expect_made_of(const Timeline& t, const SteppedCommands& s, const std::string& where) {
  int64_t last = 0;
  for (const Queue q : Queue::all()) {
    size_t next = 0;
    for (const Slice& slice : t.queues[q]) {
      Slice sum;
      ASSERT_GT(slice.count, 0) << where;
      ASSERT_LE(next + static_cast<size_t>(slice.count), s.queues[q].size()) << where;
      for (int64_t i = 0; i < slice.count; ++i) {
        const SteppedCommands::Timed& c = s.queues[q][next++];
        if (i == 0) sum.start = c.start;
        sum.end = c.end;
        sum.visible = std::max(sum.visible, c.finish);
        sum.busy += c.end - c.start;
        sum.waits[static_cast<size_t>(c.why)] += c.start - c.free;
      }
      ASSERT_EQ(slice.start, sum.start) << where;
      ASSERT_EQ(slice.end, sum.end) << where;
      ASSERT_EQ(slice.visible, sum.visible) << where;
      ASSERT_EQ(slice.busy, sum.busy) << where;
      ASSERT_EQ(slice.waits, sum.waits) << where;
      last = std::max(last, slice.visible);
    }
    ASSERT_EQ(next, s.queues[q].size()) << where;
  }
  EXPECT_EQ(t.total, s.timing.total) << where;
  EXPECT_EQ(last, t.total.count()) << where;
}

int64_t count_slices(const Timeline& t) {
  int64_t out = 0;
  for (const auto& queue : t.queues) out += std::ssize(queue);
  return out;
}

TEST(Timeline, GroupsAreWhereTheirCommandsAreWhateverTheLimit) {
  std::mt19937 random(21);
  int64_t summarised = 0;
  for (int programs = 0; programs < 100;) {
    const HwConfig hw = test::random_machine(random);
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    ++programs;
    const SteppedCommands stepped(p, hw);
    for (const int64_t limit : {0, 4, 9, 30, 100, 1000, 1'000'000}) {
      const Timeline t = timeline(p, hw, limit);
      expect_made_of(t, stepped, program_text(p));
      EXPECT_LE(count_slices(t), std::max<int64_t>(limit, Queue::kCount)) << program_text(p);
      EXPECT_TRUE(!t.summarised || count_program(p, hw).commands > limit);
      summarised += t.summarised ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(summarised, 100);  // else the random programs are too small to say anything
}

Program tile_loop(int64_t times) {
  return test::program({{Loop{0, "t", times, test::tile(64, 8, 8)}}}, 1);
}

TEST(Timeline, TakesNoLongerForMoreIterations) {
  const HwConfig hw = test::small_machine();
  const Timeline t = timeline(tile_loop(1'000'000'000), hw, 100);
  EXPECT_TRUE(t.summarised);
  EXPECT_LE(count_slices(t), 100);
  EXPECT_EQ(t.total, simulate(tile_loop(1'000'000'000), hw).total);
  int64_t commands = 0;
  for (const auto& queue : t.queues)
    for (const Slice& s : queue) commands += s.count;
  EXPECT_EQ(commands, 5'000'000'000);
}

TEST(Timeline, NamesCommandsAndTheTokensTheyWaitedFor) {
  const HwConfig hw = test::small_machine();
  const Timeline t = timeline(tile_loop(3), hw, 100);
  EXPECT_FALSE(t.summarised);
  const auto& loads = t.queues[Queue::load];
  const auto& gemms = t.queues[Queue::execute];
  const auto& stores = t.queues[Queue::store];
  ASSERT_EQ(loads.size(), 6U);
  EXPECT_EQ(command_names(loads[0].commands | loads[1].commands), "load activation + load weight");
  EXPECT_EQ(loads[0].token, Slice::kNoToken);  // slots are free at the start
  ASSERT_EQ(gemms.size(), 3U);
  EXPECT_EQ(command_names(gemms[0].commands), "gemm");
  EXPECT_GT(gemms[0].start, loads[1].end);  // the first waits for the operand that comes last
  EXPECT_NE(gemms[0].token, Slice::kNoToken);
  EXPECT_EQ(token_name(gemms[0].token).substr(0, 7), "a full ");
  ASSERT_EQ(stores.size(), 3U);
  EXPECT_EQ(token_name(stores[0].token), "a full output slot");
  EXPECT_EQ(stores[0].written[MemoryId::dram], 64 * 8);
}

TEST(Timeline, NamesTokensOfRegions) {
  EXPECT_EQ(token_name(static_cast<int>(region_ring(0, false))), "a free slot of region 0");
  EXPECT_EQ(token_name(static_cast<int>(region_ring(3, true))), "a full slot of region 3");
}

TEST(Timeline, AddsUpBytes) {
  std::mt19937 random(4);
  int stages = 0;
  for (int programs = 0; programs < 50;) {
    const HwConfig hw = test::random_machine(random);
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok()) continue;
    ++programs;
    const Counts counts = count_program(p, hw);
    const Timeline t = timeline(p, hw, 20);
    PerMemory<int64_t> read, written;
    for (const auto& queue : t.queues)
      for (const Slice& s : queue) {
        read += s.read;
        written += s.written;
      }
    for (const MemoryId m : MemoryId::all()) {
      EXPECT_EQ(read[m], counts.read[m].count());
      EXPECT_EQ(written[m], counts.written[m].count());
    }
    for (const Slice& s : t.queues[Queue::stage]) {
      // What is read of the one memory is written to the other.
      EXPECT_EQ(s.read[MemoryId::dram], s.written[MemoryId::shared]);
      EXPECT_EQ(s.read[MemoryId::shared], s.written[MemoryId::dram]);
      EXPECT_GT(s.read[MemoryId::dram] + s.read[MemoryId::shared], 0);
      ++stages;
    }
  }
  EXPECT_GT(stages, 0);
}

}  // namespace
}  // namespace accsim::hw
