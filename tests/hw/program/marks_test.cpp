#include <gtest/gtest.h>

#include <set>

#include "hw/program/program.h"
#include "tests/hw/program/refused.h"
#include "tests/support/programs.h"
#include "tests/support/regions.h"

namespace accsim::hw {
namespace {

using test::error;
using test::says;
using test::sync;

constexpr int kIn = 0, kOut = 1, kNear = 2, kRegion = 3;

Item mark(Queue q, int tensor) { return {Mark{false, q, tensor}}; }
Item wait(Queue q, int tensor) { return {Mark{true, q, tensor}}; }
Item layer(Dataflow d) { return {LayerHead{"second", d}}; }

/// Bytes from a tensor to another, through an output slot.
std::vector<Item> copy(int from, int to) {
  return {sync(SyncKind::wait_free, Queue::load, Buffer::output),
          test::load(Buffer::output, 64, from),
          sync(SyncKind::signal_full, Queue::load, Buffer::output),
          sync(SyncKind::wait_full, Queue::store, Buffer::output),
          test::store(64, to),
          sync(SyncKind::signal_free, Queue::store, Buffer::output)};
}

Item stage(int from, int to) { return {Command{StageCommand{from, to, 0, 0, test::walk(64)}}}; }

/// What the verifier says of a copy to `to` with something behind it.
std::string behind_copy(int to, std::vector<Item> items, const HwConfig& hw) {
  std::vector<Item> body = copy(kIn, to);
  test::append(body, std::move(items));
  return error(test::program(body), hw);
}

TEST(Marks, AcceptsThemBehindCommandsOfTheirQueue) {
  for (const Queue q : {Queue::load, Queue::store, Queue::stage}) {
    std::vector<Item> body = copy(kIn, kOut);
    body.push_back(stage(kIn, kNear));
    for (const int tensor : {kIn, kOut, kNear}) body.push_back(mark(q, tensor));
    body.push_back(mark(q, kOut));  // twice
    body.push_back(wait(q, kOut));
    test::append(body, copy(kIn, kOut));
    EXPECT_EQ(error(test::program(body)), "") << name(q);
  }
}

TEST(Marks, AcceptsWaitsAnywhere) {
  std::vector<Item> body = {wait(Queue::load, kOut)};  // without marks, without a command before
  test::append(body, copy(kIn, kOut));
  std::vector<Item> looped = {wait(Queue::load, kIn), wait(Queue::store, kNear),
                              wait(Queue::stage, kIn)};
  test::append(looped, copy(kIn, kOut));
  body.push_back({Loop{0, "i", 3, looped}});
  body.push_back(wait(Queue::stage, kOut));  // with no command behind
  EXPECT_EQ(error(test::program(body, 1)), "");
}

/// Copies of 64 bytes within a tensor, from and to their first bytes.
std::string copies_within(std::initializer_list<std::pair<int64_t, int64_t>> copies) {
  std::vector<Item> body;
  for (const auto& [from, to] : copies) {
    std::vector<Item> one = copy(kIn, kIn);
    std::get<LoadCommand>(std::get<Command>(one[1].node)).source = from;
    std::get<StoreCommand>(std::get<Command>(one[4].node)).target = to;
    test::append(body, std::move(one));
  }
  return error(test::program(body));
}

TEST(Marks, AreNotAskedForBetweenBlocksThatHaveNoByteInCommon) {
  EXPECT_EQ(copies_within({{0, 64}, {192, 128}}), "");
  EXPECT_EQ(copies_within({{0, 64}, {192, 256}, {0, 128}, {192, 320}}), "");
  const std::string said = "'in' is read by the load queue, then written by the store queue";
  EXPECT_TRUE(says(copies_within({{0, 64}, {192, 63}}), said));
  EXPECT_TRUE(says(copies_within({{0, 64}, {192, 129}}), said));
}

TEST(Marks, RefusesOtherQueues) {
  for (const Queue q : {Queue::execute, Queue::post, Queue::vector}) {
    const std::string of = " of the " + std::string(name(q)) + " queue";
    EXPECT_TRUE(says(behind_copy(kOut, {mark(q, kOut)}, test::shared_machine()), "mark" + of));
    EXPECT_TRUE(
        says(behind_copy(kOut, {wait(q, kOut)}, test::shared_machine()), "wait for marks" + of));
  }
}

TEST(Marks, RefusesTensorsThatAreNone) {
  for (const int tensor : {-1, 3}) {
    const std::string said = "tensor " + std::to_string(tensor) + " of 3";
    for (const bool waits : {false, true})
      EXPECT_TRUE(says(
          behind_copy(kOut, {{Mark{waits, Queue::load, tensor}}}, test::shared_machine()), said));
  }
}

TEST(Marks, RefusesRegions) {
  const test::RegionProgram r(10);
  for (const bool waits : {false, true}) {
    std::vector<Item> body = r.filled();
    test::append(body, r.read());
    body.push_back({Mark{waits, Queue::load, kRegion}});
    EXPECT_TRUE(says(error(r.program(body)), waits ? "wait for marks on 'ring', which is a region"
                                                   : "mark on 'ring', which is a region"));
  }
}

TEST(Marks, RefusesThemInLoops) {
  std::vector<Item> looped = copy(kIn, kOut);
  looped.push_back(mark(Queue::store, kOut));
  for (const int64_t count : {1, 3})
    EXPECT_TRUE(
        says(error(test::program({{Loop{0, "i", count, looped}}}, 1)), "mark on 'out' in a loop"));
}

TEST(Marks, RefusesThemBeforeCommandsOfTheirQueue) {
  for (const Queue q : {Queue::load, Queue::store, Queue::stage}) {
    const std::string said =
        "mark on 'out' before any command of the " + std::string(name(q)) + " queue";
    std::vector<Item> body = {mark(q, kOut)};
    test::append(body, copy(kIn, kOut));
    body.push_back(stage(kIn, kNear));
    EXPECT_TRUE(says(error(test::program(body)), said));
  }
  EXPECT_TRUE(says(behind_copy(kOut, {mark(Queue::stage, kOut)}, test::shared_machine()),
                   "mark on 'out' before any command of the stage queue"))
      << "commands of other queues don't count";
  // One in a loop before it does.
  EXPECT_EQ(error(test::program({{Loop{0, "i", 3, copy(kIn, kOut)}}, mark(Queue::store, kOut)}, 1)),
            "");
}

/// The last store is the last to be done, unless it went to the faster memory.
TEST(Marks, RefusesThoseOfAStoreToAFasterMemory) {
  HwConfig hw = test::shared_machine();
  const auto both = [&](int stored, int marked) {
    return behind_copy(stored, {mark(Queue::store, marked)}, hw);
  };
  hw.dram.latency = 20;
  hw.shared.channel.latency = 19;
  EXPECT_TRUE(says(both(kNear, kOut),
                   "mark on 'out' in dram: the command before it may be done earlier in shared"));
  EXPECT_EQ(both(kOut, kNear), "");
  EXPECT_EQ(both(kOut, kOut), "");
  EXPECT_EQ(both(kNear, kNear), "");
  hw.shared.channel.latency = 20;
  EXPECT_EQ(both(kNear, kOut), "");
  hw.shared.channel.latency = 21;
  EXPECT_TRUE(says(both(kOut, kNear),
                   "mark on 'near' in shared: the command before it may be done earlier in dram"));
  EXPECT_EQ(both(kNear, kOut), "");
  // The last store counts, not any before it.
  std::vector<Item> again = copy(kIn, kNear);
  again.push_back(mark(Queue::store, kNear));
  EXPECT_EQ(behind_copy(kOut, again, hw), "");
}

/// Loads and stages have no such rule: a load is done at its end, a stage has both latencies.
TEST(Marks, AcceptsThoseOfLoadsAndStagesWhateverTheMemory) {
  HwConfig hw = test::shared_machine();
  for (const int64_t latency : {0, 100}) {
    hw.shared.channel.latency = latency;
    for (const int from : {kIn, kNear})
      for (const int marked : {kIn, kNear}) {
        std::vector<Item> body = copy(from, kOut);
        body.push_back(mark(Queue::load, marked));
        EXPECT_EQ(error(test::program(body), hw), "");
        EXPECT_EQ(error(test::program(
                            {stage(from, from == kIn ? kNear : kOut), mark(Queue::stage, marked)}),
                        hw),
                  "");
      }
  }
}

TEST(Layers, BeginOutsideOfLoops) {
  std::vector<Item> looped = test::tile(8, 8, 8);
  looped.push_back(layer(Dataflow::weight_stationary));
  EXPECT_TRUE(says(error(test::program({{Loop{0, "i", 1, looped}}}, 1)),
                   "layer 'second' begins in a loop"));
  EXPECT_EQ(error(test::program({layer(Dataflow::weight_stationary)})), "");
}

TEST(Layers, AreOutputStationaryAllOrNone) {
  constexpr auto kWs = Dataflow::weight_stationary, kIs = Dataflow::input_stationary,
                 kOs = Dataflow::output_stationary;
  for (const Dataflow first : {kWs, kIs, kOs})
    for (const Dataflow second : {kWs, kIs, kOs}) {
      Program p = test::program({layer(second)});
      p.dataflow = first;
      const bool mixed = (first == kOs) != (second == kOs);
      const std::string said = "layer 'second' is " + std::string(name(second)) + ", the program " +
                               std::string(name(first));
      if (mixed)
        EXPECT_TRUE(says(error(p), said));
      else
        EXPECT_EQ(error(p), "");
    }
}

/// Which operand is held has to be known where it is waited for and given back.
TEST(Layers, BeginWhereTheArrayHoldsNoOperand) {
  const std::vector<Item> tile = test::tile(8, 8, 8);
  std::set<Buffer> held;  // by the execute queue, before the item
  for (size_t i = 0; i <= tile.size(); ++i) {
    std::vector<Item> body = tile;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), layer(Dataflow::weight_stationary));
    const std::string said = error(test::program(body));
    const std::string refused = held.contains(Buffer::activation) ? "activation"
                                : held.empty()                    ? ""
                                                                  : "weight";
    if (refused.empty())
      EXPECT_EQ(said, "") << i;
    else
      EXPECT_TRUE(
          says(said, "layer 'second' begins while the execute queue holds a slot of " + refused));
    const auto* s = i < tile.size() ? std::get_if<Sync>(&tile[i].node) : nullptr;
    if (!s || s->queue != Queue::execute || s->buffer == Buffer::accumulator) continue;
    is_wait(s->kind) ? (void)held.insert(s->buffer) : (void)held.erase(s->buffer);
  }
  EXPECT_TRUE(held.empty());
  // A slot that the vector queue holds, or that is full, is none of the array's.
  std::vector<Item> others = test::fill(Buffer::weight, 64);
  test::append(others, test::fill(Buffer::activation, 64));
  others.push_back(sync(SyncKind::wait_full, Queue::vector, Buffer::activation));
  others.push_back(layer(Dataflow::input_stationary));
  test::append(others, {sync(SyncKind::signal_free, Queue::vector, Buffer::activation),
                        sync(SyncKind::wait_full, Queue::execute, Buffer::weight),
                        sync(SyncKind::signal_free, Queue::execute, Buffer::weight)});
  EXPECT_EQ(error(test::program(others)), "");
}

/// Queues that use other bytes of a tensor need no marks, whatever the loops around them reach.
TEST(Marks, OrderOnlyBytesThatAreUsedTwice) {
  constexpr int64_t kRun = 64;
  const auto moved = [](std::vector<Item> body, int64_t from, int64_t to, int64_t step) {
    for (Item& item : body) {
      auto* c = std::get_if<Command>(&item.node);
      if (!c) continue;
      const auto at = [&](int64_t base) {
        Affine out(base);
        if (step > 0) out.add_term(0, step);
        return out;
      };
      if (auto* load = std::get_if<LoadCommand>(c)) load->source = at(from);
      if (auto* store = std::get_if<StoreCommand>(c)) store->target = at(to);
    }
    return body;
  };
  // Three runs are stored one behind the other; then the next layer reads one at `from`.
  const auto said = [&](int64_t from, bool in_order) {
    std::vector<Item> body = {{Loop{0, "i", 3, moved(copy(kIn, kOut), 0, 0, kRun)}}};
    if (in_order) body.push_back(mark(Queue::store, kOut));
    body.push_back(layer(Dataflow::weight_stationary));
    if (in_order) body.push_back(wait(Queue::load, kOut));
    test::append(body, moved(copy(kOut, kNear), from, 0, 0));
    Program p = test::program(body, 1);
    for (ProgramTensor& t : p.tensors)
      if (t.slots == 0) t.bytes = 5 * kRun;
    return error(p, test::shared_machine());
  };
  EXPECT_EQ(said(3 * kRun, false), "");
  for (const int64_t from : {int64_t{0}, kRun, 2 * kRun, 3 * kRun - 1}) {
    EXPECT_TRUE(says(said(from, false), "nor marks order the two")) << from;
    EXPECT_EQ(said(from, true), "") << from;
  }
}

/// Of rows, queues that use parts of them side by side need no marks.
TEST(Marks, OrderOnlyPartsOfRowsThatAreUsedTwice) {
  constexpr int64_t kPart = 64, kPitch = 160;
  const Walk rows{{{3, kPitch}}, kPart};
  // A layer stores a part of three rows; then the next one reads three rows from `from` on.
  const auto said = [&](int64_t from, int64_t pitch) {
    std::vector<Item> body = copy(kIn, kOut);
    body.push_back(layer(Dataflow::weight_stationary));
    test::append(body, copy(kOut, kNear));
    int copies = 0;
    for (Item& item : body) {
      auto* c = std::get_if<Command>(&item.node);
      if (!c) continue;
      if (auto* load = std::get_if<LoadCommand>(c)) {
        load->walk = rows;
        if (copies > 0) load->source = from;
      }
      if (auto* store = std::get_if<StoreCommand>(c)) {
        store->walk = rows;
        ++copies;
      }
    }
    Program p = test::program(body);
    for (ProgramTensor& t : p.tensors)
      if (t.slots == 0) t.bytes = 4 * kPitch;
    p.tensors[kOut].pitch = pitch;
    return error(p, test::shared_machine());
  };
  EXPECT_EQ(said(kPart, kPitch), "");
  EXPECT_EQ(said(kPitch - kPart, kPitch), "");
  const std::string refused = "nor marks order the two";
  EXPECT_TRUE(says(said(kPart, 0), refused)) << "nobody said that it has rows";
  EXPECT_TRUE(says(said(kPart, kPart), refused)) << "other rows";
  EXPECT_TRUE(says(said(kPart - 1, kPitch), refused));
  EXPECT_TRUE(says(said(kPitch, kPitch), refused));
  EXPECT_TRUE(says(said(kPitch - kPart + 1, kPitch), refused)) << "on into the next row";
}

/// Weight stationary m is an accumulator's, n the array's columns; input stationary the other way.
TEST(Layers, HaveGemmsOfTheirDataflow) {
  const HwConfig hw = test::shared_machine();
  std::vector<Item> many = test::tile(9, 8, 8);  // more rows than the array has columns
  const auto behind = [&](std::initializer_list<Dataflow> heads) {
    std::vector<Item> body;
    for (const Dataflow d : heads) body.push_back(layer(d));
    test::append(body, many);
    return error(test::program(body), hw);
  };
  EXPECT_EQ(behind({}), "");
  EXPECT_EQ(behind({Dataflow::weight_stationary}), "");
  EXPECT_TRUE(says(behind({Dataflow::input_stationary}), "gemm m is 9 of 8"));
  EXPECT_EQ(behind({Dataflow::input_stationary, Dataflow::weight_stationary}), "");
  std::vector<Item> body = many;
  body.push_back(layer(Dataflow::input_stationary));
  test::append(body, test::tile(8, 8, 8));
  EXPECT_EQ(error(test::program(body), hw), "");
  test::append(body, many);
  EXPECT_TRUE(says(error(test::program(body), hw), "gemm m is 9 of 8"));
}

TEST(Layers, IsThePrintedTextThatOfTheProgram) {
  const std::string text = program_text(test::program(
      {layer(Dataflow::input_stationary), mark(Queue::store, kOut), wait(Queue::stage, kNear)}));
  EXPECT_TRUE(says(text, "layer 'second' (input_stationary)"));
  EXPECT_TRUE(says(text, "store   mark %1"));
  EXPECT_TRUE(says(text, "stage   wait_marks %2"));
}

}  // namespace
}  // namespace accsim::hw
