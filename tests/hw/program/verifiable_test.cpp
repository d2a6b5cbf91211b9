#include "hw/program/verifiable.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

/// One command, in a loop in a loop behind others.
Program nested(Command command) {
  Program p;
  Loop inner{1, "inner", 2, {}};
  inner.body.push_back({Command{StoreCommand{}}});
  inner.body.push_back({std::move(command)});
  Loop outer{0, "outer", 2, {}};
  outer.body.push_back({Sync{SyncKind::wait_free, Queue::load, Buffer::output}});
  outer.body.push_back({std::move(inner)});
  p.body.push_back({Mark{}});
  p.body.push_back({std::move(outer)});
  p.loops = 2;
  return p;
}

TEST(Verifiable, IsWhatTheCoreHas) {
  EXPECT_TRUE(is_verifiable({}));
  for (const Command& c :
       {Command{LoadCommand{}}, Command{GemmCommand{}}, Command{DrainCommand{}},
        Command{PostCommand{}}, Command{StoreCommand{}}, Command{SetTableCommand{}},
        Command{LaneCommand{}}, Command{RowCommand{}}, Command{StageCommand{}}})
    EXPECT_TRUE(is_verifiable(nested(c))) << c.index();
}

TEST(Verifiable, IsNotWhatItLacks) {
  LoadCommand padded, sums, words;
  padded.padded.emplace();
  sums.buffer = Buffer::accumulator;
  words.transposed = 2;
  StoreCommand far;
  StageCommand near;
  for (int level = 0; level < 7; ++level) far.walk.levels.push_back({2, 2});
  near.walk.levels = far.walk.levels;
  const std::pair<Command, std::string_view> lacks[] = {
      {VectorCommand{}, "operations without a command"},
      {padded, "padded loads"},
      {sums, "loads into accumulators"},
      {words, "elements of several bytes turned"},
      {far, "walks of many levels"},
      {near, "walks of many levels"}};
  for (const auto& [command, why] : lacks) {
    EXPECT_FALSE(is_verifiable(nested(command))) << why;
    EXPECT_EQ(why_not_verifiable(nested(command)), why);
  }
  words.transposed = 1;
  words.walk.levels = far.walk.levels;
  words.walk.levels.pop_back();
  EXPECT_TRUE(is_verifiable(nested(words)));
}

TEST(Verifiable, AreMachinesOfInt8AndAnIdealDram) {
  const HwConfig good = test::small_machine();
  EXPECT_EQ(why_not_verifiable(good), "");
  HwConfig narrow = good, words = good, floats = good, banked = good;
  narrow.types.weight = DType::int4;
  EXPECT_EQ(why_not_verifiable(narrow), "");
  words.types.activation = DType::int16;
  floats.types = {DType::bfloat16, DType::bfloat16, DType::float32};
  EXPECT_EQ(why_not_verifiable(words), "other types than the core's");
  EXPECT_EQ(why_not_verifiable(floats), "other types than the core's");
  banked.dram_model = DramModel::banked;
  EXPECT_EQ(why_not_verifiable(banked), "banked DRAM");
}

}  // namespace
}  // namespace accsim::hw
