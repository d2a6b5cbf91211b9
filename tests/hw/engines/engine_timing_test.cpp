#include "hw/engines/engine_timing.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

enum Kind : int64_t { kRead, kCompute, kWrite };

/// Two engines, a token queue from the first to the second, a kind of each work.
EngineMachine two_engines() {
  EngineMachine machine;
  machine.queues = {{"load", 4}, {"compute", 4}};
  machine.token_queues = {{0, 1}};
  machine.kinds.resize(3);
  machine.kinds[kRead].name = "read";
  machine.kinds[kRead].work = CommandWork::read;
  machine.kinds[kCompute].name = "compute";
  machine.kinds[kCompute].engine = 1;
  machine.kinds[kCompute].item_cycles = 3;
  machine.kinds[kCompute].pipeline_cycles = 5;
  machine.kinds[kWrite].name = "write";
  machine.kinds[kWrite].engine = 1;
  machine.kinds[kWrite].work = CommandWork::write;
  return machine;
}

EngineCommand compute(int64_t items) {
  EngineCommand command;
  command.kind = kCompute;
  command.items = items;
  return command;
}

EngineCommand rows_of(int64_t kind, int64_t row_bytes, int64_t rows, int64_t pitch) {
  EngineCommand command;
  command.kind = kind;
  command.row_bytes = row_bytes;
  command.rows = rows;
  command.pitch = pitch;
  return command;
}

/// Request in 2, beats in 34 and 35, dispatch two cycles later, start two cycles later.
TEST(EngineTiming, DoesACommandWaitForItsFetch) {
  const std::vector<CommandSpan> times = *time_commands({compute(7)}, two_engines());
  EXPECT_EQ(times, (std::vector<CommandSpan>{{39, 39 + 7 * 3 + 5 - 1}}));
}

TEST(EngineTiming, DoCommandsOfAnEngineFollowOneAnother) {
  const std::vector<CommandSpan> times = *time_commands({compute(7), compute(1)}, two_engines());
  EXPECT_EQ(times[1].start, times[0].end + 2);
}

/// Rows of 4 beats, in requests that overlap.
TEST(EngineTiming, DoesAReadPayTheLatencyOnce) {
  const CommandSpan read = time_commands({rows_of(kRead, 32, 5, 64)}, two_engines())->front();
  EXPECT_EQ(read.end - read.start, 1 + 32 + 5 * 4 - 1 + 2 + 1);
}

/// Without overlap each request waits for the last beat of the one before.
TEST(EngineTiming, DoReadsOneByOnePayTheLatencyEach) {
  EngineMachine machine = two_engines();
  machine.reads_overlap = 0;
  const CommandSpan read = time_commands({rows_of(kRead, 32, 5, 64)}, machine)->front();
  EXPECT_EQ(read.end - read.start, 1 + 5 * (32 + 4) - 1 + 2 + 1);
}

/// A burst per row: two cycles, 2 beats per item, a gap between items, the latency.
TEST(EngineTiming, IsEachBurstOfAWriteAnswered) {
  const CommandSpan write = time_commands({rows_of(kWrite, 64, 16, 512)}, two_engines())->front();
  EXPECT_EQ(write.end - write.start + 1, 16 * (2 + 4 * 2 + 3 + 32));
}

/// Items of padding fill the latency first, then go on behind the beats.
TEST(EngineTiming, DoesPaddingWaitForBeats) {
  for (const int64_t pads : {1, 10, 33, 34, 35, 100}) {
    EngineCommand command = rows_of(kRead, 80, 1, 0);
    command.padding.below = pads;
    const CommandSpan read = time_commands({command}, two_engines())->front();
    const int64_t first = read.start + 1 + 32 + 2, last = first + 9;
    const int64_t before = first - (read.start + 1);
    EXPECT_EQ(read.end, last + std::max<int64_t>(pads - before, 0) + 1) << pads;
  }
}

TEST(EngineTiming, DoesATokenHoldAnEngine) {
  EngineCommand read = rows_of(kRead, 8, 1, 0), work = compute(1);
  read.posts = work.takes = 1;
  const std::vector<CommandSpan> times = *time_commands({read, work}, two_engines());
  EXPECT_EQ(times[1].start, times[0].end + 2);
}

/// Head of line: the fifth command waits until the first has ended, and another engine's behind it.
TEST(EngineTiming, DoesAFullQueueHoldAllDispatch) {
  EngineProgram program(5, compute(1000));
  program.push_back(rows_of(kRead, 8, 1, 0));
  const std::vector<CommandSpan> times = *time_commands(program, two_engines());
  EXPECT_EQ(times[5].start, times[0].end + 1 + 1 + 2);
}

TEST(EngineTiming, IsAProgramThatWaitsForEverRefused) {
  EngineCommand work = compute(1);
  work.takes = 1;
  const auto times = time_commands({work}, two_engines());
  ASSERT_FALSE(times);
  EXPECT_NE(times.errors().front().text().find("for ever"), std::string::npos);
}

TEST(EngineTiming, IsALostTokenRefused) {
  EngineMachine machine = two_engines();
  EngineCommand read = rows_of(kRead, 8, 1, 0);
  read.posts = 1;
  machine.token_limit = 4;
  EXPECT_TRUE(time_commands(EngineProgram(4, read), machine));
  const auto times = time_commands(EngineProgram(5, read), machine);
  ASSERT_FALSE(times);
  EXPECT_NE(times.errors().front().text().find("lost"), std::string::npos);
}

TEST(EngineTiming, IsAnEmptyProgramDoneAtOnce) {
  EXPECT_EQ(time_engine_program({}, two_engines())->count(), 0);
}

/// On measured programs: requests that take turns could make exceptions.
TEST(EngineTiming, IsAMachineWithLongerWaysSlower) {
  for (const MeasuredRow& row : measured_rows("vta_rtl.csv")) {
    if (number(row, "n_instr") > 100) continue;
    const EngineProgram program =
        make_tiled_program(measured_layer(row), measured_machine(row))->commands;
    const EngineMachine machine = measured_machine(row);
    const int64_t cycles = time_engine_program(program, machine)->count();
    for (int64_t EngineMachine::*way :
         {&EngineMachine::dispatch_to_start, &EngineMachine::end_to_start,
          &EngineMachine::token_to_start, &EngineMachine::fetch_cycles,
          &EngineMachine::launch_cycles}) {
      EngineMachine longer = machine;
      longer.*way += 100;
      EXPECT_GT(time_engine_program(program, longer)->count(), cycles) << row.at("id");
    }
  }
}

/// Where last beats hold requests up, a longer latency may move them out of the way.
TEST(EngineTiming, IsALongerLatencyNeverFasterForAReadAlone) {
  std::mt19937 random(1);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < 300; ++i) {
    EngineMachine machine = two_engines();
    machine.outstanding = draw(1, 20);
    machine.page_beats = int64_t{2} << draw(0, 6);
    machine.client_cycles = draw(1, 4);
    machine.last_beat_holds = 0;
    const EngineCommand read = rows_of(kRead, draw(1, 200), draw(1, 40), draw(0, 300));
    int64_t before = 0;
    for (const int64_t latency : {1, 8, 32, 128}) {
      machine.latency = latency;
      const CommandSpan times = time_commands({read}, machine)->front();
      EXPECT_GE(times.end - times.start, before) << i;
      before = times.end - times.start;
    }
  }
}

}  // namespace
}  // namespace accsim::hw
