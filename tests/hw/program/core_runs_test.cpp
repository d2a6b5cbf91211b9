#include "hw/program/core_runs.h"

#include <gtest/gtest.h>

#include <set>

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

TEST(CoreRuns, WhatTheCoreHas) {
  EXPECT_EQ(core_lacks(Program{}), std::nullopt);
  for (const Command& c :
       {Command{LoadCommand{}}, Command{GemmCommand{}}, Command{DrainCommand{}},
        Command{PostCommand{}}, Command{StoreCommand{}}, Command{SetTableCommand{}},
        Command{LaneCommand{}}, Command{RowCommand{}}, Command{StageCommand{}}})
    EXPECT_EQ(core_lacks(nested(c)), std::nullopt) << c.index();
}

TEST(CoreRuns, NotWhatItLacks) {
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
  for (const auto& [command, why] : lacks) EXPECT_EQ(name(core_lacks(nested(command))), why);
  words.transposed = 1;
  words.walk.levels = far.walk.levels;
  words.walk.levels.pop_back();
  EXPECT_EQ(core_lacks(nested(words)), std::nullopt);
}

TEST(CoreRuns, OfSeveralCommandsTheFirstOneCounts) {
  LoadCommand padded;
  padded.padded.emplace();
  Program p = nested(padded);
  p.body.push_back({Command{VectorCommand{}}});
  EXPECT_EQ(core_lacks(p), CoreLack::padded_loads);
  p.body.insert(p.body.begin(), p.body.back());
  EXPECT_EQ(core_lacks(p), CoreLack::operations);
}

TEST(CoreRuns, ModesOfInt8AtTheMachinesRate) {
  EXPECT_EQ(core_lacks(TypeMode{DType::int8, DType::int8, 1}), std::nullopt);
  EXPECT_EQ(core_lacks(TypeMode{DType::int8, DType::int4, 1}), std::nullopt);
  EXPECT_EQ(core_lacks(TypeMode{DType::int8, DType::int4, 2}), CoreLack::mode_rate);
  for (const TypeMode& m :
       {TypeMode{DType::int8, DType::int16, 1}, TypeMode{DType::bfloat16, DType::int4, 1},
        TypeMode{DType::float8e4m3fn, DType::float8e4m3fn, 1}})
    EXPECT_EQ(core_lacks(m), CoreLack::types);
}

HwConfig with(void (*change)(HwConfig&)) {
  HwConfig out = test::small_machine();
  change(out);
  return out;
}
BufferConfig& buffer(HwConfig& hw, Buffer b) { return hw.buffers[static_cast<size_t>(b)]; }

TEST(CoreRuns, MachinesOfInt8AndAnIdealDram) {
  for (const HwConfig& hw :
       {test::small_machine(), with([](HwConfig& h) { h.types.weight = DType::int4; }),
        with([](HwConfig& h) { buffer(h, Buffer::output).width = 512; }),
        with([](HwConfig& h) { buffer(h, Buffer::accumulator).width = 1 << 20; })}) {
    EXPECT_EQ(core_lacks(hw), std::nullopt);
    EXPECT_TRUE(core_runs(hw).ok());
    EXPECT_EQ(name(core_lacks(hw)), "");
  }
}

/// What a report says and what an error says is one thing, and the error says what to do.
TEST(CoreRuns, AnErrorSaysWhatTheReportSays) {
  const std::tuple<CoreLack, HwConfig, std::string_view, std::string_view> planted[] = {
      {CoreLack::dot_products, with([](HwConfig& h) { h.array.form = ArrayForm::dot_product; }),
       "rows of dot products", "whose array.template is systolic"},
      {CoreLack::types, with([](HwConfig& h) { h.types.activation = DType::int16; }),
       "other types than the core's", "int8 x int8 -> int32 only"},
      {CoreLack::types, with([](HwConfig& h) { h.types.accumulator = DType::float32; }),
       "other types than the core's", "int8 x int8 -> int32 only"},
      {CoreLack::banked_dram, with([](HwConfig& h) { h.dram_model = DramModel::banked; }),
       "banked DRAM", "with dram.model: ideal"},
      {CoreLack::one_bus, with([](HwConfig& h) { h.dram_bus = DramBus::shared; }),
       "a DRAM whose reads and writes share a bus", "with dram.bus: separate"},
      {CoreLack::kept_weights, with([](HwConfig& h) { h.shared.weights = RunWeights::kept; }),
       "weights that stay from run to run", "with buffers.shared.weights: read"},
      {CoreLack::wide_ports, with([](HwConfig& h) { buffer(h, Buffer::weight).width = 513; }),
       "no core of this machine",
       "buffers.weight.width is 513; co-simulation's ports have at most"},
      {CoreLack::wide_ports, with([](HwConfig& h) { buffer(h, Buffer::weight).width = 65536; }),
       "no core of this machine", "buffers.weight.width is 65536; a beat of the core counts"}};
  std::set<CoreLack> seen;
  for (const auto& [lack, hw, word, sentence] : planted) {
    EXPECT_EQ(core_lacks(hw), lack) << word;
    EXPECT_EQ(name(core_lacks(hw)), word);
    const Status runs = core_runs(hw);
    ASSERT_FALSE(runs.ok()) << word;
    const Error& e = runs.errors().front();
    EXPECT_NE(e.message.find(sentence), std::string::npos) << e.message;
    EXPECT_EQ(e.code, Errc::unsupported);
    EXPECT_EQ(e.where, hw.name);
    seen.insert(lack);
  }
  EXPECT_EQ(seen.size(), 6U) << "each that a machine can lack";
}

/// A machine that lacks several has one reason, in the report and in the error.
TEST(CoreRuns, OfSeveralTheFirstCounts) {
  HwConfig hw = test::small_machine();
  buffer(hw, Buffer::weight).width = 513;
  std::vector<void (*)(HwConfig&)> more = {
      [](HwConfig& h) { h.shared.weights = RunWeights::kept; },
      [](HwConfig& h) { h.dram_bus = DramBus::shared; },
      [](HwConfig& h) { h.dram_model = DramModel::banked; },
      [](HwConfig& h) { h.types.activation = DType::int16; },
      [](HwConfig& h) { h.array.form = ArrayForm::dot_product; }};
  for (const auto change : more) {
    change(hw);
    HwConfig alone = test::small_machine();
    change(alone);
    EXPECT_EQ(core_lacks(hw), core_lacks(alone));
    ASSERT_FALSE(core_runs(hw).ok());
    EXPECT_EQ(core_runs(hw).errors().front().message, core_runs(alone).errors().front().message);
  }
}

TEST(CoreRuns, OfPortsEachHasItsError) {
  HwConfig hw = test::small_machine();
  buffer(hw, Buffer::activation).width = 513;
  buffer(hw, Buffer::output).width = 4096;
  EXPECT_TRUE(rtl_describes(hw).ok());
  ASSERT_FALSE(core_runs(hw).ok());
  EXPECT_EQ(core_runs(hw).errors().size(), 2U);
  hw.dram_model = DramModel::banked;
  EXPECT_TRUE(rtl_describes(hw).ok()) << "of the memory it says nothing";
}

}  // namespace
}  // namespace accsim::hw
