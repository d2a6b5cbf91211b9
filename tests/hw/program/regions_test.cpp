#include "tests/support/regions.h"

#include <gtest/gtest.h>

#include "tests/hw/program/refused.h"

namespace accsim::hw {
namespace {

using test::error;
using test::region_sync;
using test::RegionProgram;
using test::says;
using test::sync;

TEST(Regions, AcceptsAWayThroughARing) {
  EXPECT_EQ(error(RegionProgram(10).program()), "");
  const RegionProgram r(10);
  std::vector<Item> body = r.filled();  // one slot ahead
  test::append(body, {{Loop{0, "i", 5, [&] {
                              std::vector<Item> inner = r.filled();
                              test::append(inner, r.read());
                              return inner;
                            }()}}});
  test::append(body, r.read());
  EXPECT_EQ(error(r.program(body, 1)), "");
}

TEST(Regions, RefusesWhatIsNotOne) {
  RegionProgram r(10);
  Program p = r.program();
  p.tensors[3].slots = 0;
  EXPECT_TRUE(says(error(p), "wait_free on tensor 3, which isn't a region"));
  p.tensors[3].slots = 17;
  p.tensors[3].bytes = 17 * 30;
  EXPECT_TRUE(says(error(p), "region 'ring' has 510 bytes in 17 slots"));
  p.tensors[3].slots = 4;
  EXPECT_TRUE(says(error(p), "region 'ring' has 510 bytes in 4 slots"));
  for (size_t i = 0; i < kMostRegions; ++i) r.more.push_back({"r", MemoryId::dram, 4, 1});
  EXPECT_TRUE(says(error(r.program()), "9 regions; at most 8"));
  p = RegionProgram(10).program();
  std::get<Sync>(p.body[0].node).region = 9;
  EXPECT_TRUE(says(error(p), "wait_free on tensor 9"));
}

TEST(Regions, RefusesTensorsBeyondTheSharedBuffer) {
  RegionProgram r(10);  // 1024 bytes of "near", 60 of the ring
  r.more.push_back({"rest", MemoryId::shared, 16 * 1024 - 1024 - 60});
  EXPECT_EQ(error(r.program()), "");
  ++r.more[0].bytes;
  EXPECT_TRUE(says(error(r.program()), "tensors of 16385 bytes in a shared buffer of 16 KiB"));
}

TEST(Regions, RefusesOtherQueues) {
  RegionProgram r(10);
  std::vector<Item> body = r.filled();
  std::get<Sync>(body[0].node).queue = Queue::load;
  EXPECT_TRUE(says(error(r.program(body)), "wait_free on region 'ring' by the load queue"));
  body = r.filled();
  test::append(body, {region_sync(SyncKind::wait_full, Queue::store, 3)});
  EXPECT_TRUE(says(error(r.program(body)), "wait_full on region 'ring' by the store queue"));
  body = r.filled();
  test::append(body, {region_sync(SyncKind::wait_free, Queue::store, 3)});
  EXPECT_TRUE(says(error(r.program(body)), "is filled by the stage and the store queue"));
  body = {region_sync(SyncKind::signal_primed, Queue::load, 3)};
  EXPECT_TRUE(says(error(r.program(body)), "signal_primed on region 'ring'"));
  body = {sync(SyncKind::wait_free, Queue::stage, Buffer::activation)};
  EXPECT_TRUE(says(error(r.program(body)), "wait_free on activation by the stage queue"));
}

TEST(Regions, RefusesAccessesWithoutASlot) {
  const RegionProgram r(10);
  std::vector<Item> body = r.filled();
  body.erase(body.begin());
  EXPECT_TRUE(says(error(r.program(body)), "stage writes region 'ring' without a free slot"));
  body = r.filled();
  test::append(body, r.read());
  body.erase(body.begin() + 4);  // wait_full
  EXPECT_TRUE(says(error(r.program(body)), "load reads region 'ring' without a full slot"));
}

TEST(Regions, RefusesTokensAwayFromTheirCommands) {
  const RegionProgram r(10);
  std::vector<Item> body = r.filled(), other = r.filled();
  StageCommand plain = r.in;
  plain.to = 2;
  body.insert(body.begin() + 1, Item{Command{plain}});
  EXPECT_TRUE(says(error(r.program(body)),
                   "the stage queue waits for region 'ring', its next command doesn't use it"));
  other.insert(other.begin() + 2, Item{Command{plain}});
  EXPECT_TRUE(says(error(r.program(other)),
                   "signal_full on region 'ring': the stage queue's last command doesn't use it"));
  body = r.filled();
  test::append(body, r.read());
  test::append(body, {region_sync(SyncKind::wait_free, Queue::stage, 3)});
  EXPECT_FALSE(error(r.program(body)).empty());
}

TEST(Regions, RefusesAddressesOutsideASlot) {
  RegionProgram r(10);
  r.in.target = 1;
  EXPECT_TRUE(says(error(r.program()), "stage to 'ring' reaches [1, 31) of 30"));
  r = RegionProgram(10);
  r.load.source = 1;
  EXPECT_TRUE(says(error(r.program()), "load from 'ring' reaches [1, 31) of 30"));
  r = RegionProgram(10);
  r.in.source = (1 << 20) - 43;  // three runs of 10, 7 bytes between them: 44 bytes
  EXPECT_TRUE(says(error(r.program()), "stage from 'in' reaches"));
  r.in.source = (1 << 20) - 44;
  EXPECT_EQ(error(r.program()), "");
}

TEST(Regions, RefusesAStageWithinAMemory) {
  RegionProgram r(10);
  r.in.from = 2;
  EXPECT_TRUE(says(error(r.program()), "stage from 'near' to 'ring', both in the shared buffer"));
  r.in.from = 0;
  r.in.to = 1;
  std::vector<Item> body = {{Command{r.in}}};
  EXPECT_TRUE(says(error(r.program(body)), "stage from 'in' to 'out', both in DRAM"));
  r.in.walk.run = 0;
  EXPECT_TRUE(says(error(r.program({{Command{r.in}}})), "stage of nothing"));
}

/// What stands between two commands: a mark of the first one's queue, a wait of the second one's,
/// on each of their tensors.
enum class Marked { no, mark_alone, wait_alone, both };

/// Two commands, each with its slot of outputs where it needs one, on tensors of program().
std::string of_two(const Item& first, const Item& second, Marked marked = Marked::no) {
  std::vector<Item> body;
  for (const Item& i : {first, second}) {
    const Command& c = std::get<Command>(i.node);
    const bool later = !body.empty();
    const auto* stored = std::get_if<StoreCommand>(&std::get<Command>(first.node));
    for (int t = 0; t < 4 && later; ++t) {
      if (stored && stored->tensor != t) continue;
      if (marked == Marked::both || marked == Marked::mark_alone)
        body.push_back({Mark{false, queue_of(std::get<Command>(first.node)), t}});
      if (marked == Marked::both || marked == Marked::wait_alone)
        body.push_back({Mark{true, queue_of(c), t}});
    }
    const bool loads = std::holds_alternative<LoadCommand>(c);
    const bool stores = std::holds_alternative<StoreCommand>(c);
    if (loads || stores)
      test::append(body, {sync(SyncKind::wait_free, Queue::load, Buffer::output)});
    if (loads) body.push_back(i);
    if (loads || stores)
      test::append(body, {sync(SyncKind::signal_full, Queue::load, Buffer::output),
                          sync(SyncKind::wait_full, Queue::store, Buffer::output)});
    if (!loads) body.push_back(i);
    if (loads || stores)
      test::append(body, {sync(SyncKind::signal_free, Queue::store, Buffer::output)});
  }
  Program p = test::program(std::move(body));
  p.tensors.push_back({"far", MemoryId::dram, 100});
  return error(p);
}

/// Nothing orders two queues on a plain tensor, nor a stage and an earlier one's bytes on their
/// way.
TEST(PlainTensors, IsWhatAQueueWritesReadByNone) {
  const auto stage = [](int from, int to) -> Item {
    return {Command{StageCommand{from, to, 0, 0, {{}, 4}}}};
  };
  const auto load = [](int from) { return test::load(Buffer::output, 4, from); };
  const auto store = [](int to) { return test::store(4, to); };
  struct Two {
    Item first, second;
    const char* said;
  };
  for (const Two& t :
       {Two{stage(0, 2), load(2), "'near' is written by the stage queue, then read by the load"},
        Two{load(2), stage(0, 2), "'near' is read by the load queue, then written by the stage"},
        Two{store(2), load(2), "'near' is written by the store queue, then read by the load"},
        Two{load(1), store(1), "'out' is read by the load queue, then written by the store"},
        Two{store(2), stage(2, 1), "'near' is written by the store queue, then read by the stage"},
        Two{stage(0, 2), stage(2, 1),
            "'near' is written by the stage queue, then read by the stage"},
        Two{store(1), stage(2, 1), "'out' is written by the store queue, then written by the st"},
        Two{stage(0, 2), store(2), "'near' is written by the stage queue, then written by the "}}) {
    EXPECT_TRUE(says(of_two(t.first, t.second), t.said));
    EXPECT_EQ(of_two(t.first, t.second, Marked::both), "");
    EXPECT_TRUE(says(of_two(t.first, t.second, Marked::wait_alone), t.said));
    EXPECT_TRUE(says(of_two(t.first, t.second, Marked::mark_alone), t.said));
  }
  for (const Two& t :
       {Two{load(2), stage(2, 1), ""}, Two{load(0), load(0), ""}, Two{store(1), store(1), ""},
        Two{stage(0, 2), stage(3, 2), ""}, Two{load(0), store(1), ""}})
    EXPECT_EQ(of_two(t.first, t.second), t.said);
}

TEST(Regions, AreSlotsFreeAtTheEnd) {
  const RegionProgram r(10);
  EXPECT_TRUE(says(error(r.program(r.filled())), "1 of 2 region 'ring' slots are free at the end"));
  const std::vector<Item> looped = {{Loop{0, "i", 2, r.filled()}}};
  EXPECT_TRUE(says(error(r.program(looped, 1)), "doesn't keep its tokens balanced"));
}

TEST(Regions, AreBytesCountedInBothMemories) {
  const RegionProgram r(10);
  const Counts c = count_program(r.program(), test::shared_machine());
  EXPECT_EQ(c.read[MemoryId::dram].count(), 30);       // stage
  EXPECT_EQ(c.written[MemoryId::shared].count(), 30);  // stage
  EXPECT_EQ(c.read[MemoryId::shared].count(), 30);     // load
  EXPECT_EQ(c.written[MemoryId::dram].count(), 30);    // store
  EXPECT_EQ(c.commands, 3);
}

TEST(Regions, IsThePrintedTextThatOfTheProgram) {
  const std::string text = program_text(RegionProgram(10).program());
  EXPECT_TRUE(says(text, "tensor %3 shared 60 bytes 'ring', 2 slots"));
  EXPECT_TRUE(says(text, "stage   wait_free %3"));
  EXPECT_TRUE(says(text, "stage   stage %3[0] <- %0[0], 3 (stride 17) x 10 bytes"));
  EXPECT_TRUE(says(text, "load    wait_full %3"));
}

}  // namespace
}  // namespace accsim::hw
