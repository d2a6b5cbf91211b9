#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/timings.h"

namespace accsim::hw {
namespace {

using test::append;
using test::sync;

// Tensors: program()'s, then others in DRAM and in the shared buffer that are only read or written.
constexpr int kIn = 0, kOut = 1, kNear = 2, kMore = 3, kNearMore = 4, kLast = 5, kNearLast = 6;
// Of small_machine(): bytes a cycle and latencies of its memories, bytes of a port.
constexpr int64_t kRead = 4, kWrite = 2, kLatency = 20;
constexpr int64_t kShared = 8, kSharedLatency = 5, kPort = 16;

Item mark(Queue q, int tensor) { return {Mark{false, q, tensor}}; }
Item wait(Queue q, int tensor) { return {Mark{true, q, tensor}}; }

std::vector<Item> loaded(int64_t bytes, int from) {
  return {sync(SyncKind::wait_free, Queue::load, Buffer::output),
          test::load(Buffer::output, bytes, from),
          sync(SyncKind::signal_full, Queue::load, Buffer::output)};
}
std::vector<Item> stored(int64_t bytes, int to) {
  return {sync(SyncKind::wait_full, Queue::store, Buffer::output), test::store(bytes, to),
          sync(SyncKind::signal_free, Queue::store, Buffer::output)};
}
/// A load that nothing waits for but the end of the program.
std::vector<Item> aside(int64_t bytes, int from) {
  return {sync(SyncKind::wait_free, Queue::load, Buffer::activation),
          test::load(Buffer::activation, bytes, from),
          sync(SyncKind::signal_full, Queue::load, Buffer::activation),
          sync(SyncKind::wait_full, Queue::execute, Buffer::activation),
          sync(SyncKind::signal_free, Queue::execute, Buffer::activation)};
}
Item staged(int64_t bytes, int from, int to) {
  return {Command{StageCommand{from, to, 0, 0, test::walk(bytes)}}};
}
std::vector<Item> joined(std::initializer_list<std::vector<Item>> parts) {
  std::vector<Item> out;
  for (const auto& part : parts) append(out, part);
  return out;
}

Program network(std::vector<Item> body, int loops = 0) {
  Program p = test::program(std::move(body), loops);
  for (const MemoryId m : {MemoryId::dram, MemoryId::shared, MemoryId::dram, MemoryId::shared})
    p.tensors.push_back({"more", m, 512});
  return p;
}

/// The commands of a queue: when they start, when their results are visible.
std::vector<CommandTime> times(const Program& p, Queue q,
                               const HwConfig& hw = test::small_machine()) {
  EXPECT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors().front().text();
  std::vector<CommandTime> out;
  simulate(p, hw, TimingMode::step, [&](const CommandTime& t) {
    if (t.queue == q) out.push_back(t);
  });
  return out;
}
std::vector<CommandTime> times(std::vector<Item> body, Queue q) {
  return times(network(std::move(body)), q);
}

TEST(MarkTiming, LoadsWhatAStoreHasBroughtToMemory) {
  constexpr int64_t kBytes = 64;
  for (const int to : {kOut, kNear}) {
    const bool shared = to == kNear;
    const int other = shared ? kNearMore : kMore;
    const auto body = [&](std::vector<Item> between, int from) {
      return joined({loaded(kBytes, kIn), stored(kBytes, to), std::move(between),
                     loaded(kBytes, from), stored(kBytes, kLast)});
    };
    const int64_t full = kBytes / kRead + kLatency;
    const int64_t visible =
        full + 1 + kBytes / (shared ? kShared : kWrite) + (shared ? kSharedLatency : kLatency);
    const std::vector<Item> marked = body({mark(Queue::store, to), wait(Queue::load, to)}, to);
    EXPECT_EQ(times(marked, Queue::store)[0].finish, visible);
    EXPECT_EQ(times(marked, Queue::load)[1].start, visible + 1);
    // Without a wait, or without a mark before it, it is loaded at once.
    EXPECT_EQ(times(body({mark(Queue::store, to)}, other), Queue::load)[1].start, kBytes / kRead);
    EXPECT_EQ(
        times(body({wait(Queue::load, to), mark(Queue::store, to)}, other), Queue::load)[1].start,
        kBytes / kRead);
    EXPECT_EQ(
        times(body({mark(Queue::store, to), wait(Queue::load, kIn)}, other), Queue::load)[1].start,
        kBytes / kRead)
        << "a wait for another tensor";
  }
}

TEST(MarkTiming, StoresOverWhatHasBeenAskedFor) {
  constexpr int64_t kBytes = 64, kLonger = 400;
  const std::vector<Item> body = joined({loaded(kBytes, kIn),
                                         aside(kLonger, kIn),
                                         {mark(Queue::load, kIn), wait(Queue::store, kIn)},
                                         stored(kBytes, kIn)});
  const int64_t end = (kBytes + kLonger) / kRead;
  EXPECT_EQ(times(body, Queue::load)[1].finish, end + kLatency);
  EXPECT_EQ(times(body, Queue::store)[0].start, end + 1) << "at the load's end, not its result's";
}

TEST(MarkTiming, LoadsWhatAStageHasBroughtToMemory) {
  constexpr int64_t kBytes = 400;
  // A port takes more than DRAM gives.
  ASSERT_LT(kBytes / kPort, kBytes / kRead);
  const std::vector<Item> body =
      joined({{staged(kBytes, kIn, kNear), mark(Queue::stage, kNear), wait(Queue::load, kNear)},
              loaded(64, kNear),
              stored(64, kOut)});
  const int64_t visible = kBytes / kRead + kLatency + kSharedLatency;
  EXPECT_EQ(times(body, Queue::stage)[0].finish, visible);
  EXPECT_EQ(times(body, Queue::load)[0].start, visible + 1);
}

TEST(MarkTiming, StagesWhatAStoreHasBroughtToMemory) {
  const std::vector<Item> body =
      joined({loaded(64, kIn),
              stored(64, kNear),
              {mark(Queue::store, kNear), wait(Queue::stage, kNear), staged(64, kNear, kOut)}});
  const int64_t visible = 64 / kRead + kLatency + 1 + 64 / kShared + kSharedLatency;
  EXPECT_EQ(times(body, Queue::stage)[0].start, visible + 1);
}

/// Whichever of two marks on a tensor is reached last holds the wait; one behind it doesn't.
TEST(MarkTiming, WaitsForAllMarksOfATensor) {
  for (const int64_t bytes : {16, 400}) {
    const std::vector<Item> both = {mark(Queue::store, kNear), mark(Queue::stage, kNear)};
    const std::vector<Item> turned = {mark(Queue::stage, kNear), mark(Queue::store, kNear)};
    for (const auto& marks : {both, turned}) {
      // The stage reads its DRAM behind the load: they have one channel.
      const std::vector<Item> body = joined({loaded(64, kIn),
                                             {staged(bytes, kIn, kNearMore)},
                                             stored(64, kNear),
                                             marks,
                                             {wait(Queue::load, kNear)},
                                             loaded(64, kNear),
                                             stored(64, kOut)});
      const int64_t staged = 64 / kRead + 1 + bytes / kRead + kLatency + kSharedLatency;
      const int64_t stored = 64 / kRead + kLatency + 1 + 64 / kShared + kSharedLatency;
      ASSERT_EQ(staged > stored, bytes == 400) << "either is the last one";
      EXPECT_EQ(times(body, Queue::load)[1].start, std::max(staged, stored) + 1);
    }
    std::vector<Item> early =
        joined({loaded(64, kIn),
                {staged(bytes, kIn, kNearMore)},
                stored(64, kNear),
                {mark(Queue::store, kNear), wait(Queue::load, kNear), mark(Queue::stage, kNear)},
                loaded(64, kNear),
                stored(64, kOut)});
    const int64_t stored = 64 / kRead + kLatency + 1 + 64 / kShared + kSharedLatency;
    EXPECT_EQ(times(early, Queue::load)[1].start, stored + 1);
  }
}

TEST(MarkTiming, DoesNotUseThemUp) {
  const std::vector<Item> again = joined({loaded(64, kIn),
                                          stored(64, kOut),
                                          {mark(Queue::store, kOut)},
                                          {wait(Queue::load, kOut), wait(Queue::load, kOut)},
                                          loaded(64, kOut),
                                          stored(64, kLast),
                                          {wait(Queue::load, kOut)},
                                          loaded(64, kOut),
                                          stored(64, kLast)});
  const int64_t start = 64 / kRead + kLatency + 1 + 64 / kWrite + kLatency + 1;
  EXPECT_EQ(times(again, Queue::load)[1].start, start);
  EXPECT_EQ(times(again, Queue::load)[2].start, start + 64 / kRead);
}

/// Only the queue's next command waits: a signal behind the wait is given before.
TEST(MarkTiming, HoldsNothingButACommand) {
  std::vector<Item> first = loaded(64, kIn);
  first.insert(first.end() - 1, wait(Queue::load, kIn));  // before its signal
  const std::vector<Item> body =
      joined({aside(400, kIn), {mark(Queue::load, kIn)}, first, stored(64, kOut)});
  const int64_t end = (400 + 64) / kRead;
  EXPECT_EQ(times(body, Queue::store)[0].start, end + kLatency + 1);
}

/// n copies of 64 bytes, each of which waits for the mark of a store that takes long. With two
/// slots two copies follow one another, then the next two wait for slots.
TEST(MarkTiming, SkipsAheadOverWaitsInALoop) {
  constexpr int64_t kBytes = 64, kCopies = 1000;
  for (const int64_t latency : {20, 5000}) {
    HwConfig hw = test::small_machine();
    hw.dram.latency = latency;
    hw.shared.channel.latency = 5;
    std::vector<Item> looped = {wait(Queue::load, kOut)};
    append(looped, loaded(kBytes, kNear));
    append(looped, stored(kBytes, kNearLast));
    std::vector<Item> body = joined({loaded(kBytes, kIn),
                                     stored(kBytes, kOut),
                                     {mark(Queue::store, kOut)},
                                     {{Loop{0, "i", kCopies, looped}}}});
    const Program p = network(body, 1);
    const auto loads = times(p, Queue::load, hw);
    const int64_t held = kBytes / kRead + latency + 1 + kBytes / kWrite + latency + 1;
    EXPECT_EQ(loads[1].start, held);
    int64_t seen = 0;
    const Timing step = simulate(p, hw, TimingMode::step);
    const Timing fast = simulate(p, hw, TimingMode::periodic, [&](const CommandTime&) { ++seen; });
    EXPECT_TRUE(test::equal(step, fast));
    EXPECT_LT(seen, 100);
    // Full at held + 8 + 5, stored a cycle later for 8 cycles; the slot is loaded again a cycle
    // after that: 8 + 5 + 1 + 8 + 1 cycles for every two copies.
    constexpr int64_t kTransfer = kBytes / kShared;
    constexpr int64_t kPeriod = kTransfer + kSharedLatency + 1 + kTransfer + 1;
    const int64_t second = held + 2 * kTransfer + kSharedLatency + 1;  // store of the second copy
    EXPECT_EQ(step.total.count(),
              second + (kCopies / 2 - 1) * kPeriod + kTransfer + kSharedLatency);
  }
}

// ---- layers -------------------------------------------------------------------------------------

constexpr int64_t kRows = 8, kCols = 6, kM = 4, kN = 6, kPasses = 100;
constexpr int64_t kToSums = kRows + kCols - 1 + 4;

int64_t stream_of(Dataflow d) { return d == Dataflow::weight_stationary ? kM : kN; }
int64_t fill_of(Dataflow d) { return d == Dataflow::weight_stationary ? kRows : kCols; }

/// Products of 100 passes each, a layer each: their operands are long there when the array is
/// free.
std::vector<CommandTime> layers(std::initializer_list<Dataflow> dataflows) {
  const HwConfig hw = test::small_machine(kRows, kCols);
  std::vector<Item> body;
  for (const Dataflow d : dataflows) {
    body.push_back({LayerHead{"l", d}});
    append(body, test::tile(kM, 8, kN, kPasses));
  }
  Program p = test::program(body);
  p.dataflow = *dataflows.begin();
  return times(p, Queue::execute, hw);
}

TEST(LayerTiming, ADataflowOfItsOwnTakesItsOwnCycles) {
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::input_stationary}) {
    const auto gemms = layers({d});
    for (size_t i = 1; i < gemms.size(); ++i)
      EXPECT_EQ(gemms[i].start - gemms[i - 1].start, std::max(stream_of(d), fill_of(d)));
    EXPECT_EQ(gemms[0].finish - gemms[0].start, stream_of(d) + kToSums);
  }
}

TEST(LayerTiming, ALayerOfTheSameDataflowCostsNothing) {
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::input_stationary}) {
    const auto gemms = layers({d, d});
    EXPECT_EQ(gemms[kPasses].start - gemms[kPasses - 1].start, std::max(stream_of(d), fill_of(d)));
  }
}

/// The fill waits for an empty array, then the stream waits for the fill; the next gemms don't.
TEST(LayerTiming, AChangeOfDataflowEmptiesTheArray) {
  constexpr auto kWs = Dataflow::weight_stationary, kIs = Dataflow::input_stationary;
  const auto gemms = layers({kWs, kIs, kWs, kWs});
  const Dataflow now[] = {kWs, kIs, kWs, kWs};
  for (size_t layer = 1; layer < 3; ++layer) {
    const CommandTime& last = gemms[layer * kPasses - 1];
    const CommandTime& next = gemms[layer * kPasses];
    EXPECT_EQ(last.finish, last.start + stream_of(now[layer - 1]) + kToSums);
    EXPECT_EQ(next.start, last.finish + 1 + fill_of(now[layer]));
    EXPECT_EQ(gemms[layer * kPasses + 1].start - next.start,
              std::max(stream_of(now[layer]), fill_of(now[layer])));
  }
}

/// A loop whose gemms have the dataflow of what is before it: only its first pass waits.
TEST(LayerTiming, SkipsAheadBehindAChange) {
  HwConfig hw = test::small_machine(kRows, kCols);
  std::vector<Item> body = test::tile(kM, 8, kN);
  body.push_back({LayerHead{"l", Dataflow::input_stationary}});
  body.push_back({Loop{0, "i", 5000, test::tile(kM, 8, kN, 3)}});
  const Program p = test::program(body, 1);
  ASSERT_TRUE(verify(p, hw).ok());
  int64_t seen = 0;
  const Timing step = simulate(p, hw, TimingMode::step);
  const Timing fast = simulate(p, hw, TimingMode::periodic, [&](const CommandTime&) { ++seen; });
  EXPECT_TRUE(test::equal(step, fast));
  EXPECT_LT(seen, 1000);
}

}  // namespace
}  // namespace accsim::hw
