#include <gtest/gtest.h>

#include "hw/program/program.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::sync;

std::string error(const Program& p, const HwConfig& hw = test::small_machine()) {
  const Status s = verify(p, hw);
  return s ? "" : s.errors().front().text();
}

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "said: '" << text << "'";
}

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

TEST(Verify, RefusesReadsWithoutAToken) {
  auto body = test::tile(8, 8, 8);
  std::erase_if(body, [](const Item& i) {
    const auto* s = std::get_if<Sync>(&i.node);
    return s && *s == Sync{SyncKind::wait_full, Queue::execute, Buffer::weight};
  });
  EXPECT_TRUE(says(error(test::program(body)), "gemm reads weight without a full slot"));
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

TEST(Count, MultipliesTheNestOut) {
  const HwConfig hw = test::small_machine();
  const Program p = test::program({{Loop{0, "t", 7, test::tile(16, 8, 4, 3)}}}, 1);
  const Counts c = count(p, hw);
  EXPECT_EQ(c.macs, Macs(7 * 3 * 16 * 8 * 4));
  EXPECT_EQ(c.gemms, 21);
  EXPECT_EQ(c.weight_cycles, 21 * hw.array.rows);
  EXPECT_EQ(c.read[0], Bytes(7 * (8 * 4 + 16 * 8)));
  EXPECT_EQ(c.written[0], Bytes(7 * 16 * 4));
  EXPECT_EQ(c.commands, 7 * (2 + 3 + 2));
}

TEST(Count, KnowsOverwritingFromAccumulating) {
  const HwConfig hw = test::small_machine();
  Item g = test::gemm(4, 8, 8);
  std::get<GemmCommand>(std::get<Command>(g.node)).first_of = {1};
  const Program p = test::program({{Loop{0, "a", 5, {{Loop{1, "k", 3, {g}}}}}}}, 2);
  const Counts c = count(p, hw);
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
  const std::string text = print(test::program({{Loop{0, "oy", 3, test::tile(8, 8, 8)}}}, 1));
  for (const char* part : {"for oy0 < 3:", "load", "gemm", "post", "store", "wait_full weight"})
    EXPECT_TRUE(says(text, part));
  EXPECT_TRUE(says(text, "gemm acc[0] = 8x8x8: rows 1x1x8 stride 1x1x1"));
}

TEST(Print, ShowsWhichRowsOfAWindowAreStreamed) {
  auto body = test::tile(5, 8, 8);
  OperandWindow& w = command<GemmCommand>(body).window;
  w.count = {1, 3, 3};
  w.first = Affine(4);
  EXPECT_TRUE(says(print(test::program(body)), "5x8x8: rows 4+5 of 1x3x3 stride"));
}

}  // namespace
}  // namespace accsim::hw
