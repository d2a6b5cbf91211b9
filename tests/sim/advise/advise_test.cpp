#include "sim/advise/advise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/config/load.h"
#include "sim/advise/advise_text.h"
#include "sim/cost/cost.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

hw::HwConfig machine() { return *hw::load_hw(kSource + "/configs/64x64.yaml"); }

const hw::Field& field(const std::string& path) {
  return *std::ranges::find(hw::fields(), path, &hw::Field::path);
}

FieldMove chosen(const std::string& path, double wanted, const hw::HwConfig& hw) {
  FieldMove out;
  out.wanted = wanted;
  choose_value(field(path), hw, out);
  return out;
}

TEST(Advise, RoundsToWhatTheFieldTakes) {
  hw::HwConfig hw = machine();
  ASSERT_EQ(hw.dram.latency, 100);
  EXPECT_EQ(chosen("dram.latency", 90, hw).text, "90");
  ASSERT_EQ(hw.dram.read.milli, 102400);
  EXPECT_EQ(chosen("dram.read_bytes_per_cycle", 112.64, hw).text, "112.64");
  hw.buffers[static_cast<size_t>(hw::Buffer::activation)] = {96, 2, 128};
  EXPECT_EQ(chosen("buffers.activation.slots", 2.2, hw).text, "3");  // 2.2 is 2, which is no move
}

TEST(Advise, StaysInTheRangeOfTheField) {
  hw::HwConfig hw = machine();
  hw.array.rows = 1000;
  hw.buffers[static_cast<size_t>(hw::Buffer::weight)].kib = 1024;
  EXPECT_EQ(chosen("array.rows", 2000, hw).text, "1024");  // the largest of the table
  hw.array.rows = 1024;
  EXPECT_EQ(chosen("array.rows", 2048, hw).refused, "is at the end of its range, 1..1024");
  hw.shared.channel.latency = 0;
  EXPECT_EQ(chosen("buffers.shared.latency", 0, hw).refused,
            "is 0, which has no tenth and no half");
}

TEST(Advise, TakesTheNearestLegalValueAndSaysWhichRule) {
  hw::HwConfig hw = machine();
  hw::BufferConfig& weight = hw.buffers[static_cast<size_t>(hw::Buffer::weight)];
  weight = {96, 3, 128};  // 96 x 1024 / 3: divisible; 106 isn't, 105 and 108 are
  FieldMove move = chosen("buffers.weight.kib", 105.6, hw);
  EXPECT_EQ(move.text, "105");
  EXPECT_EQ(move.illegal,
            "106 KiB can't be cut into buffers.weight.slots = 3 equal slots; use 105 or 108 KiB");
  // The shared memory must not be slower than DRAM: up to its rate, not beyond.
  ASSERT_EQ(hw.shared.channel.read.milli, 128000);
  move = chosen("dram.read_bytes_per_cycle", 204.8, hw);
  EXPECT_EQ(move.text, "128");
  EXPECT_NE(move.illegal.find("must not be slower than DRAM"), std::string::npos);
  // A weight slot of 2 x 64 x 64 bytes can't take one row more: rows x 64 <= 4096.
  weight = {8, 2, 128};
  move = chosen("array.rows", 128, hw);
  EXPECT_EQ(move.text, "");
  EXPECT_NE(move.refused.find("one weight tile"), std::string::npos);
}

/// Each move costs what the machine with that one field costs by the main job.
TEST(Advise, CostsWhatTheMachineCosts) {
  const auto graph = load_graph(kSource + "/models/squeezenet1_1_op13.onnx", {});
  MapOptions options;
  options.effort = MapEffort::rule;
  auto workload = Workload::prepare(*graph);
  const auto advice = advise(*workload, machine(), options);
  ASSERT_TRUE(advice.ok());
  hw::HwConfig hw = machine();
  const auto cycles = [&] { return cost_network(*graph, hw, options)->report.totals.cycles; };
  EXPECT_EQ(advice->base.cycles, cycles());
  hw.dram.latency = 50;
  const auto latency = std::ranges::find_if(
      advice->fields, [](const FieldAdvice& f) { return f.field->path == "dram.latency"; });
  ASSERT_NE(latency, advice->fields.end());
  EXPECT_EQ(latency->field_move(Move::twofold).cost.cycles, cycles());
  EXPECT_EQ(latency->field_move(Move::twofold).cycles_saved, advice->base.cycles - cycles());
  EXPECT_TRUE(std::ranges::is_sorted(advice->fields, [](const auto& x, const auto& y) {
    return x.best_saving() > y.best_saving();
  }));
  for (const FieldAdvice& f : advice->fields)
    EXPECT_FALSE(f.field->path.starts_with("energy.") && f.changes_cycles());
}

TEST(AdviseText, FitsTheWidth) {
  const auto graph = load_graph(kSource + "/models/squeezenet1_1_op13.onnx", {});
  MapOptions options;
  options.effort = MapEffort::rule;
  auto workload = Workload::prepare(*graph);
  const auto advice = advise(*workload, machine(), options);
  for (const int width : {80, 120}) {
    std::string line;
    for (const char c : to_text(*advice, {.width = width})) {
      if (c != '\n') {
        line += c;
        continue;
      }
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
      line.clear();
    }
  }
}

}  // namespace
}  // namespace accsim::sim
