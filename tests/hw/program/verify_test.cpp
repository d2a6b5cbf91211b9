#include <gtest/gtest.h>

#include <functional>

#include "hw/program/program.h"
#include "tests/hw/program/refused.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::error;
using test::says;
using test::sync;

template <class T>
T& command(std::vector<Item>& body) {
  for (Item& i : body)
    if (auto* c = std::get_if<Command>(&i.node))
      if (auto* t = std::get_if<T>(c)) return *t;
  throw std::logic_error("no such command");
}

TEST(Verify, AcceptsATile) { EXPECT_EQ(error(test::program(test::tile(8, 8, 8))), ""); }

TEST(Verify, RefusesAddressesOutsideTensorsAndSlots) {
  auto body = test::tile(8, 8, 8);
  command<LoadCommand>(body).source = 1 << 20;
  EXPECT_TRUE(says(error(test::program(body)), "load from 'in' reaches"));
  body = test::tile(8, 8, 8);
  command<LoadCommand>(body).slot_offset = 4090;
  EXPECT_TRUE(says(error(test::program(body)), "load into weight reaches"));
  body = test::tile(8, 8, 8);
  command<StoreCommand>(body).target = -1;
  EXPECT_TRUE(says(error(test::program(body)), "store to 'out' reaches [-1"));
  body = test::tile(8, 8, 8);
  command<GemmCommand>(body).weights.offset = 4080;
  EXPECT_TRUE(says(error(test::program(body)), "gemm weights reaches"));
  body = test::tile(8, 8, 8);
  command<GemmCommand>(body).accumulator_row = 1000;
  EXPECT_TRUE(says(error(test::program(body)), "gemm accumulator rows"));
  body = test::tile(8, 8, 8);
  command<PostCommand>(body).slot_offset = 2040;
  EXPECT_TRUE(says(error(test::program(body)), "post output"));
}

/// A gathered load of three items of 8 bytes into weights, with a list that the load queue holds.
Program gathered(const std::function<void(LoadCommand&)>& bend) {
  std::vector<Item> body = test::fill(Buffer::parameter, 64);
  body.push_back(sync(SyncKind::wait_full, Queue::load, Buffer::parameter));
  std::vector<Item> rest = test::tile(8, 8, 3);
  auto& load = command<LoadCommand>(rest);
  load.walk = {{{3, 0}}, 8};
  load.gather = Gather{0, 100, 50};
  bend(load);
  rest.insert(rest.begin() + 3, sync(SyncKind::signal_free, Queue::load, Buffer::parameter));
  test::append(body, std::move(rest));
  return test::program(body);
}

TEST(Verify, RefusesGatheredLoadsOutsideTheirTensorAndLists) {
  const auto bent = [](const std::function<void(LoadCommand&)>& bend) {
    return error(gathered(bend));
  };
  constexpr int64_t kWord = int64_t{1} << 32;
  const int64_t slot = test::small_machine().buffer(Buffer::parameter).slot_bytes();
  EXPECT_EQ(bent([](LoadCommand&) {}), "");
  EXPECT_EQ(bent([&](LoadCommand& c) { c.gather->index_offset = slot - 12; }), "");
  EXPECT_TRUE(
      says(bent([&](LoadCommand& c) { c.gather->index_offset = slot - 11; }), "indices reaches"));
  const int64_t last = (int64_t{1} << 20) - 8 - 49 * 100;
  EXPECT_EQ(bent([&](LoadCommand& c) { c.source = last; }), "");
  EXPECT_TRUE(says(bent([&](LoadCommand& c) { c.source = last + 1; }), "gathered load from 'in'"));
  EXPECT_EQ(bent([](LoadCommand& c) { c.gather = Gather{0, 0, kWord}; }), "");
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.gather->limit = kWord + 1; }), "limit of the"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.gather->limit = 0; }), "limit of the"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.gather->pitch = kWord; }), "pitch of the rows"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.gather->pitch = -1; }), "pitch of the rows"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) {
                     c.gather = Gather{0, kWord - 1, kWord};
                   }),
                   "gathered load of row"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.walk.levels[0].stride = 8; }), "no stride"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.walk = {{}, 24}; }), "no stride"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.transposed = 1; }), "padded or transposed"));
}

TEST(Verify, HoldsTheLoadQueueParameterSlotsAlone) {
  Program p = gathered([](LoadCommand&) {});
  std::get<Sync>(p.body[3].node).queue = Queue::vector;
  EXPECT_TRUE(says(error(p), "gathered load reads parameter without a full slot"));
  std::vector<Item> body = test::fill(Buffer::activation, 64);
  body.push_back(sync(SyncKind::wait_full, Queue::load, Buffer::activation));
  EXPECT_TRUE(says(error(test::program(body)), "on activation by the load queue"));
}

TEST(Verify, LooksAtTheLastIterationOfALoop) {
  auto body = test::tile(8, 8, 8);
  command<StoreCommand>(body).target.terms = {{0, 64}};
  const int64_t fits = (int64_t{1} << 20) / 64;
  EXPECT_EQ(error(test::program({{Loop{0, "t", fits, body}}}, 1)), "");
  EXPECT_TRUE(says(error(test::program({{Loop{0, "t", fits + 1, body}}}, 1)), "store to 'out'"));
}

TEST(Verify, RefusesMoreLanesThanTheArrayHas) {
  EXPECT_TRUE(says(error(test::program(test::tile(8, 9, 8))), "gemm k is 9 of 8"));
  EXPECT_TRUE(says(error(test::program(test::tile(8, 8, 9))), "gemm n is 9 of 8"));
}

TEST(Verify, RefusesRowsThatTheWindowDoesNotHave) {
  auto body = test::tile(6, 8, 8);
  OperandWindow& w = command<GemmCommand>(body).window;
  w.count = {2, 2, 3};  // twelve positions; six rows from 0, 3, 6 on
  w.first.add_term(0, 3);
  const auto looped = [&](int64_t count) {
    return error(test::program({{Loop{0, "mb", count, body}}}, 1));
  };
  EXPECT_EQ(looped(3), "");
  EXPECT_TRUE(says(looped(4), "gemm rows of the window reaches [0, 15) of 12"));
  w.first.base = -1;
  EXPECT_TRUE(says(looped(3), "gemm rows of the window reaches [-1, 11) of 12"));
}

TEST(Verify, RefusesPositionsThatAreOneAndTheSame) {
  for (size_t d = 0; d < 3; ++d) {
    auto body = test::tile(1, 8, 8);
    OperandWindow& w = command<GemmCommand>(body).window;
    w.stride[d] = 0;
    EXPECT_EQ(error(test::program(body)), "");
    w.count[d] = 2;
    EXPECT_TRUE(says(error(test::program(body)), "gemm window of 2 positions, 0 apart"));
    w.count[d] = 0;
    EXPECT_TRUE(says(error(test::program(body)), "gemm window of 0 positions"));
  }
  auto body = test::tile(8, 8, 8);
  command<GemmCommand>(body).window.pixel = 0;
  EXPECT_TRUE(says(error(test::program(body)), "gemm window of 0-byte pixels"));
}

TEST(Verify, RefusesTransposedLoadsOfNoMatrix) {
  const auto bent = [](auto bend) {
    auto body = test::tile(8, 8, 8);
    auto& load = command<LoadCommand>(body);  // 64 bytes of weights through a port of 16
    load.walk = {{{8, 8}}, 8};
    load.transposed = 1;
    bend(load);
    return error(test::program(body));
  };
  EXPECT_EQ(bent([](LoadCommand&) {}), "");
  EXPECT_EQ(bent([](LoadCommand& c) { c.transposed = 8; }), "");
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.transposed = -1; }), "-1-byte elements"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.transposed = 3; }), "in runs of 8 bytes"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.walk = {{}, 64}; }), "in runs of 64 bytes"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) { c.padded.emplace(); }), "transposed load"));
  EXPECT_TRUE(says(bent([](LoadCommand& c) {
                     c.walk = {{{2, 32}}, 32};
                     c.transposed = 32;
                   }),
                   "through a port of 16 bytes"));
  Program p = test::program(test::fill(Buffer::parameter, 64));
  command<LoadCommand>(p.body).walk = {{{8, 8}}, 8};
  command<LoadCommand>(p.body).transposed = 1;
  EXPECT_TRUE(says(error(p), "transposed load into parameter"));
}

TEST(Verify, RefusesPackedGroupsThatDontFit) {
  for (const Dataflow d :
       {Dataflow::weight_stationary, Dataflow::input_stationary, Dataflow::output_stationary}) {
    const bool turned = d == Dataflow::input_stationary;
    const auto packed = [&](auto bend) {
      auto body = test::tile(4, 8, 8);
      auto& gemm = command<GemmCommand>(body);
      // 4096 bytes a slot: 512 rows of 8 bytes, or 8 rows that end with it.
      gemm.weights = {.offset = turned ? 4096 - 7 * 64 - 8 : 4096 - 8 * 4,
                      .pitch = turned ? 64 : 4,
                      .groups = 2,
                      .group_k = 4,
                      .group_n = 4,
                      .first_k = 8};
      bend(gemm);
      Program p = test::program(std::move(body));
      p.dataflow = d;
      return error(p);
    };
    EXPECT_EQ(packed([](GemmCommand&) {}), "");
    EXPECT_TRUE(says(packed([](GemmCommand& c) { c.weights.group_n = 3; }), "2 groups of 4x3"));
    EXPECT_TRUE(says(packed([](GemmCommand& c) { c.weights.group_k = 5; }), "2 groups of 5x4"));
    EXPECT_TRUE(says(packed([](GemmCommand& c) { c.weights.group_n = 5; }), "2 groups of 4x5"));
    EXPECT_TRUE(says(packed([](GemmCommand& c) { c.weights.first_k = -1; }), "first row reaches"));
    EXPECT_TRUE(says(packed([&](GemmCommand& c) {
                       if (turned)
                         c.weights.first_k = 9;  // the last row begins a third round
                       else
                         c.weights.offset += Affine(1);
                     }),
                     "gemm weights reaches"));
  }
}

TEST(Verify, RefusesReadsWithoutAToken) {
  auto body = test::tile(8, 8, 8);
  std::erase_if(body, [](const Item& i) {
    const auto* s = std::get_if<Sync>(&i.node);
    return s && *s == Sync{SyncKind::wait_full, Queue::execute, Buffer::weight};
  });
  EXPECT_TRUE(says(error(test::program(body)), "gemm reads weight without a full slot"));
}

/// A slot is the queue's that has waited for it, also where others use the buffer too.
TEST(Verify, RefusesSlotsOfOtherQueues) {
  using Change = std::pair<Sync, Queue>;
  for (const auto& [change, part] : {
           std::pair{
               Change{{SyncKind::wait_full, Queue::execute, Buffer::activation}, Queue::vector},
               "gemm reads activation without a full slot"},
           {{{SyncKind::wait_full, Queue::post, Buffer::accumulator}, Queue::store},
            "wait_full on accumulator by the store queue"},
           {{{SyncKind::wait_free, Queue::post, Buffer::output}, Queue::vector},
            "post writes output without a free slot"},
           {{{SyncKind::wait_free, Queue::load, Buffer::weight}, Queue::execute},
            "wait_free on weight by the execute queue"},
           {{{SyncKind::signal_free, Queue::execute, Buffer::activation}, Queue::vector},
            "signal_free on activation by the vector queue: the slot is the execute queue's"},
           {{{SyncKind::signal_full, Queue::post, Buffer::output}, Queue::vector},
            "signal_full on output by the vector queue: the slot is the post queue's"},
       }) {
    auto body = test::tile(8, 8, 8);
    int changed = 0;
    for (Item& i : body)
      if (auto* s = std::get_if<Sync>(&i.node); s && *s == change.first) {
        s->queue = change.second;
        ++changed;
      }
    ASSERT_EQ(changed, 1);
    EXPECT_TRUE(says(error(test::program(body)), part));
  }
}

TEST(Verify, RefusesWhatWouldBlockForEver) {
  std::vector<Item> body = {sync(SyncKind::wait_full, Queue::execute, Buffer::weight)};
  EXPECT_TRUE(says(error(test::program(body)), "no token can be there"));
}

TEST(Verify, RefusesLoopsThatEatTheirTokens) {
  std::vector<Item> body = test::fill(Buffer::weight, 8);
  EXPECT_TRUE(says(error(test::program({{Loop{0, "t", 2, body}}}, 1)), "balanced"));
  EXPECT_TRUE(says(error(test::program(body)), "slots are free at the end"));
}

TEST(Verify, RefusesBadLoops) {
  EXPECT_TRUE(says(error(test::program({{Loop{0, "t", 0, test::tile(8, 8, 8)}}}, 1)), "count 0"));
  EXPECT_TRUE(says(error(test::program({{Loop{3, "t", 2, test::tile(8, 8, 8)}}}, 1)), "id 3"));
}

TEST(Verify, NamesTheLoopsAroundTheError) {
  const Program p = test::program({{Loop{0, "oy", 5, test::tile(8, 9, 8)}}}, 1);
  EXPECT_TRUE(says(error(p), "oy<5"));
}

// ---- primed slots and residuals -----------------------------------------------------------------

std::vector<Item> prime() {
  return {sync(SyncKind::wait_free, Queue::load, Buffer::output), test::load(Buffer::output, 64),
          sync(SyncKind::signal_primed, Queue::load, Buffer::output)};
}

/// A tile whose post adds to a slot that was primed before.
std::vector<Item> adding() {
  std::vector<Item> out = test::tile(8, 8, 8);
  for (Item& i : out)
    if (auto* s = std::get_if<Sync>(&i.node);
        s && *s == Sync{SyncKind::wait_free, Queue::post, Buffer::output})
      s->kind = SyncKind::wait_primed;
  command<PostCommand>(out).epilogue.residual.emplace();
  return out;
}

std::string error_after(std::vector<Item> first, const std::vector<Item>& then) {
  test::append(first, then);
  return error(test::program(std::move(first)));
}

TEST(Verify, AcceptsPrimedSlotsThatRunAhead) {
  std::vector<Item> body = prime();
  test::append(body, prime());
  test::append(body, adding());
  test::append(body, adding());
  test::append(body, test::tile(8, 8, 8));
  EXPECT_EQ(error(test::program({{Loop{0, "t", 3, body}}}, 1)), "");
  // As many as there are slots.
  EXPECT_TRUE(says(error_after(prime(), body), "wait_free on output: no token can be there"));
}

TEST(Verify, RefusesPrimedSlotsThatAreNot) {
  EXPECT_TRUE(says(error(test::program(adding())), "wait_primed on output: no token"));
  EXPECT_TRUE(says(error_after(prime(), {}), "1 of 2 output slots are free at the end"));
  EXPECT_TRUE(says(error(test::program({{Loop{0, "t", 2, prime()}}}, 1)), "balanced"));
  EXPECT_TRUE(says(error_after({sync(SyncKind::signal_primed, Queue::load, Buffer::output)}, {}),
                   "signal_primed on output: no token"));
  for (const Buffer b : {Buffer::activation, Buffer::weight, Buffer::parameter}) {
    std::vector<Item> body = test::fill(b, 8);
    std::get<Sync>(body[2].node).kind = SyncKind::signal_primed;
    EXPECT_TRUE(says(error(test::program(body)), "only output slots are primed"));
  }
  for (const Queue q : {Queue::post, Queue::vector})
    EXPECT_TRUE(says(error_after({sync(SyncKind::wait_free, q, Buffer::output),
                                  sync(SyncKind::signal_primed, q, Buffer::output)},
                                 {}),
                     "signal_primed of the " + std::string(name(q)) + " queue"));
  for (const Queue q : {Queue::load, Queue::vector, Queue::store})
    EXPECT_TRUE(says(error_after(prime(), {sync(SyncKind::wait_primed, q, Buffer::output)}),
                     "wait_primed of the " + std::string(name(q)) + " queue"));
  std::vector<Item> twice = prime();
  test::append(twice, prime());
  const Item take = sync(SyncKind::wait_primed, Queue::post, Buffer::output);
  EXPECT_TRUE(says(error_after(twice, {take, take}), "one slot at a time"));
}

/// What is claimed behind a primed slot would be full before it.
TEST(Verify, RefusesResultsThatOvertakePrimedSlots) {
  EXPECT_TRUE(says(error_after(prime(), test::tile(8, 8, 8)),
                   "wait_free on output: the slots before it are primed"));
  EXPECT_TRUE(says(error_after(prime(), {sync(SyncKind::wait_free, Queue::vector, Buffer::output)}),
                   "wait_free on output: the slots before it are primed"));
  EXPECT_TRUE(says(error_after(prime(), test::fill(Buffer::output, 8)),
                   "signal_full on output: the slots before it are primed"));
}

TEST(Verify, RefusesAResidualThatNobodyLoaded) {
  auto body = test::tile(8, 8, 8);
  command<PostCommand>(body).epilogue.residual.emplace();
  EXPECT_TRUE(says(error(test::program(body)), "a residual to a slot that wasn't primed"));
  // Nor behind a slot that was.
  std::vector<Item> primed = prime();
  test::append(primed, adding());
  EXPECT_EQ(error(test::program(primed)), "");
  EXPECT_TRUE(says(error_after(primed, body), "a residual to a slot that wasn't primed"));
}

std::string post_error(void (*bend)(PostCommand&)) {
  std::vector<Item> body = prime();
  test::append(body, adding());
  bend(command<PostCommand>(body));
  return error(test::program(body));
}

TEST(Verify, RefusesScalesAndLimitsThatAResidualHasNot) {
  EXPECT_EQ(post_error([](PostCommand& c) {
              *c.epilogue.residual = {-128, -32768, 0, -128, -128};
            }),
            "");
  EXPECT_EQ(post_error([](PostCommand& c) {
              *c.epilogue.residual = {127, 32767, 31, 127, 127};
            }),
            "");
  using Bend = void (*)(PostCommand&);
  for (const auto& [bend, part] : {
           std::pair<Bend, const char*>{[](PostCommand& c) { c.epilogue.residual->zero = -129; },
                                        "zero point of the residual is -129"},
           {[](PostCommand& c) { c.epilogue.residual->zero = 128; },
            "zero point of the residual is 128"},
           {[](PostCommand& c) { c.epilogue.residual->multiplier = -32769; },
            "multiplier of the residual"},
           {[](PostCommand& c) { c.epilogue.residual->multiplier = 32768; },
            "multiplier of the residual"},
           {[](PostCommand& c) { c.epilogue.residual->shift = -1; }, "shift of the residual is -1"},
           {[](PostCommand& c) { c.epilogue.residual->shift = 32; }, "shift of the residual is 32"},
           {[](PostCommand& c) { c.epilogue.residual->low = -129; },
            "residual's post clips to [-129, 127]"},
           {[](PostCommand& c) { c.epilogue.residual->high = 128; },
            "residual's post clips to [-128, 128]"},
           {[](PostCommand& c) { c.epilogue.residual->low = 3, c.epilogue.residual->high = 2; },
            "to [3, 2]"},
       })
    EXPECT_TRUE(says(post_error(bend), part));
}

TEST(Verify, HasAPost16BitsBeforeAResidualOnly) {
  EXPECT_EQ(post_error([](PostCommand& c) { c.epilogue.low = -32768, c.epilogue.high = 32767; }),
            "");
  using Bend = void (*)(PostCommand&);
  for (const auto& [bend, part] : {
           std::pair<Bend, const char*>{[](PostCommand& c) { c.epilogue.low = -32769; },
                                        "[-32769, 127]"},
           {[](PostCommand& c) { c.epilogue.high = 32768; }, "[-128, 32768]"},
           {[](PostCommand& c) { c.epilogue.low = 1, c.epilogue.high = 0; }, "[1, 0]"},
           {[](PostCommand& c) { c.epilogue.low = -129, c.epilogue.table = true; }, "[-129, 127]"},
           {[](PostCommand& c) { c.epilogue.high = 128, c.epilogue.table = true; }, "[-128, 128]"},
           {[](PostCommand& c) { c.epilogue.high = 128, c.epilogue.residual.reset(); },
            "[-128, 128]"},
           {[](PostCommand& c) { c.epilogue.low = -129, c.epilogue.residual.reset(); },
            "[-129, 127]"},
           {[](PostCommand& c) { c.epilogue.relu = true, c.epilogue.zero = 128; }, "[128, 127]"},
       })
    EXPECT_TRUE(says(post_error(bend), part));
}

TEST(Verify, RefusesGemmsWhereTheArrayIsOfDotProducts) {
  HwConfig hw = test::small_machine();
  const Program p = test::program({{Loop{0, "t", 7, test::tile(16, 8, 4, 3)}}}, 1);
  EXPECT_TRUE(verify(p, hw).ok());
  hw.array.form = ArrayForm::dot_product;
  const Status refused = verify(p, hw);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(says(refused.errors().front().message, "a gemm needs a systolic array"));
}

TEST(Count, MultipliesTheNestOut) {
  const HwConfig hw = test::small_machine();
  const Program p = test::program({{Loop{0, "t", 7, test::tile(16, 8, 4, 3)}}}, 1);
  const Counts c = count_program(p, hw);
  EXPECT_EQ(c.macs, Macs(7 * 3 * 16 * 8 * 4));
  EXPECT_EQ(c.gemms, 21);
  EXPECT_EQ(c.preload_cycles, 21 * hw.array.rows);
  EXPECT_EQ(c.read[MemoryId::dram], Bytes(7 * (8 * 4 + 16 * 8)));
  EXPECT_EQ(c.written[MemoryId::dram], Bytes(7 * 16 * 4));
  EXPECT_EQ(c.commands, 7 * (2 + 3 + 2));
}

TEST(Count, KnowsOverwritingFromAccumulating) {
  const HwConfig hw = test::small_machine();
  Item g = test::gemm(4, 8, 8);
  std::get<GemmCommand>(std::get<Command>(g.node)).first_of = {1};
  const Program p = test::program({{Loop{0, "a", 5, {{Loop{1, "k", 3, {g}}}}}}}, 2);
  const Counts c = count_program(p, hw);
  const auto acc = static_cast<size_t>(Buffer::accumulator);
  EXPECT_EQ(c.buffer_written[acc], Bytes(5 * 3 * 4 * 8 * 4));
  EXPECT_EQ(c.buffer_read[acc], Bytes(5 * 2 * 4 * 8 * 4));
}

TEST(Walk, MergesWhatIsContiguous) {
  Walk w{{{1, 999}, {4, 100}, {5, 20}, {2, 10}}, 10};
  w.merge();
  EXPECT_EQ(w, (Walk{{}, 400}));
  Walk gaps{{{4, 100}, {5, 19}}, 10};
  gaps.merge();
  EXPECT_EQ(gaps.levels.size(), 2U);
  EXPECT_EQ(gaps.bytes(), 200);
}

TEST(Print, ShowsEveryCommandWithItsLoops) {
  const std::string text =
      program_text(test::program({{Loop{0, "oy", 3, test::tile(8, 8, 8)}}}, 1));
  for (const char* part : {"for oy0 < 3:", "load", "gemm", "post", "store", "wait_full weight"})
    EXPECT_TRUE(says(text, part));
  EXPECT_TRUE(says(text, "gemm acc[0] = 8x8x8: rows 1x1x8 stride 1x1x1"));
}

TEST(Print, ShowsWhichRowsOfAWindowAreStreamed) {
  auto body = test::tile(5, 8, 8);
  OperandWindow& w = command<GemmCommand>(body).window;
  w.count = {1, 3, 3};
  w.first = Affine(4);
  EXPECT_TRUE(says(program_text(test::program(body)), "5x8x8: rows 4+5 of 1x3x3 stride"));
}

}  // namespace
}  // namespace accsim::hw
