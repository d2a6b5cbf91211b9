#include "hw/energy/energy.h"

#include <gtest/gtest.h>

#include "hw/program/command_counter.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

TEST(Energy, IsCountsTimesTheTable) {
  HwConfig hw = test::small_machine();
  hw.energy.mac = 2;
  hw.energy.buffer_byte = {1, 10, 100, 1000, 10000};
  hw.energy.dram_read_byte = 7;
  hw.energy.dram_write_byte = 11;
  hw.energy.static_per_cycle = 0.5;
  const int64_t m = 12, k = 8, n = 4;
  const Counts c = count_program(test::program(test::tile(m, k, n)), hw);
  const Energy e = energy(c, Cycles(100), hw);
  EXPECT_DOUBLE_EQ(e.mac.value(), 2.0 * static_cast<double>(m * k * n));
  EXPECT_DOUBLE_EQ(e.dram.value(),
                   7.0 * static_cast<double>(m * k + k * n) + 11.0 * static_cast<double>(m * n));
  EXPECT_DOUBLE_EQ(e.leakage.value(), 50.0);
  // Each operand is written to its slot once and read once; sums are written, then read by the post
  // unit; results are written and read.
  const double sram = 1.0 * static_cast<double>(2 * m * k) + 10.0 * static_cast<double>(2 * k * n) +
                      1000.0 * static_cast<double>(2 * m * n * 4) +
                      10000.0 * static_cast<double>(2 * m * n);
  EXPECT_DOUBLE_EQ(e.sram.value(), sram);
  EXPECT_DOUBLE_EQ(e.shared.value(), 0.0);
}

TEST(Energy, ProductsWithAZeroTakeWhatTheArrayDoesNotGate) {
  HwConfig hw = test::small_machine();
  hw.energy.mac = 2;
  const double macs = 12 * 8 * 4;
  const Counts c = count_program(test::program(test::tile(12, 8, 4)), hw);
  const auto mac = [&](double zeros, double saves) {
    hw.energy.zeros = zeros;
    hw.energy.zero_saves = saves;
    return energy(c, Cycles(1), hw).mac.value();
  };
  EXPECT_DOUBLE_EQ(mac(0, 0.5), 2 * macs);
  EXPECT_DOUBLE_EQ(mac(0.5, 0), 2 * macs) << "an array that gates nothing";
  EXPECT_DOUBLE_EQ(mac(0.25, 0.5), 2 * (0.75 * macs + 0.25 * macs * 0.5));
  EXPECT_DOUBLE_EQ(mac(1, 1), 0);
}

TEST(Energy, ChargesTheSharedBufferApart) {
  HwConfig hw = test::small_machine();
  hw.energy.shared_byte = 3;
  hw.energy.dram_read_byte = 1;
  hw.energy.dram_write_byte = 1;
  Program p = test::program(test::tile(4, 4, 4));
  p.tensors[1].memory = MemoryId::shared;
  const Energy e = energy(count_program(p, hw), Cycles(0), hw);
  EXPECT_DOUBLE_EQ(e.shared.value(), 3.0 * 16);
  EXPECT_DOUBLE_EQ(e.dram.value(), 32.0);
}

TEST(Energy, ChargesALaneOperationForATapThatIsWeighedAndNoMacOfTheArray) {
  HwConfig hw = test::small_machine();
  hw.energy.mac = 1000;
  hw.energy.vector_op = 3;
  hw.energy.buffer_byte = {1, 0, 10, 0, 100};
  CommandCounter c(hw, Dataflow::weight_stationary);
  LaneCommand mac;
  mac.op = LaneOp::mac;
  mac.rows[3] = 5;
  mac.run = 4;
  mac.taps = {3, 2};
  mac.b.emplace().buffer = Buffer::parameter;
  mac.macs = 5 * 4 * 9;  // three of nine taps lie in the padding
  c.count_lane(7, mac);
  const Energy e = energy(c.counts(), Cycles(0), hw);
  const double results = 7 * 5 * 4, taps = results * 6;
  EXPECT_DOUBLE_EQ(e.mac.value(), 0);
  EXPECT_DOUBLE_EQ(e.vector.value(), 3 * taps);
  // A byte of each operand with a tap; a scale and a byte out with each result.
  EXPECT_DOUBLE_EQ(e.sram.value(), taps + 10 * (taps + 12 * results) + 100 * results);
}

TEST(Energy, ChargesAStageInBothMemories) {
  HwConfig hw = test::small_machine();
  hw.energy.shared_byte = 3;
  hw.energy.dram_read_byte = 7;
  hw.energy.dram_write_byte = 11;
  CommandCounter in(hw, Dataflow::weight_stationary), out(hw, Dataflow::weight_stationary);
  in.count_stage(2, MemoryId::dram, MemoryId::shared, 50);
  const Energy read = energy(in.counts(), Cycles(0), hw);
  EXPECT_DOUBLE_EQ(read.dram.value(), 7.0 * 100);
  EXPECT_DOUBLE_EQ(read.shared.value(), 3.0 * 100);
  out.count_stage(1, MemoryId::shared, MemoryId::dram, 50);
  const Energy written = energy(out.counts(), Cycles(0), hw);
  EXPECT_DOUBLE_EQ(written.dram.value(), 11.0 * 50);
  EXPECT_DOUBLE_EQ(written.shared.value(), 3.0 * 50);
}

/// 5 rows of 20 elements: three passes over elements and a division, or two, a division and a root.
TEST(Energy, ChargesThePassesAndDivisionsOfRows) {
  HwConfig hw = test::small_machine();
  hw.energy.vector_op = 4;
  const auto vector = [&](RowOp op) {
    RowCommand c;
    c.op = op;
    c.rows = {1, 1, 1, 5};
    c.run = 20;
    CommandCounter counter(hw, Dataflow::weight_stationary);
    counter.count_row(3, c);
    return energy(counter.counts(), Cycles(0), hw).vector.value();
  };
  EXPECT_DOUBLE_EQ(vector(RowOp::softmax), 4.0 * 3 * 5 * (20 * 3 + 1));
  EXPECT_DOUBLE_EQ(vector(RowOp::layer_norm), 4.0 * 3 * 5 * (20 * 2 + 2));
  EXPECT_DOUBLE_EQ(vector(RowOp::rms_norm), 4.0 * 3 * 5 * (20 * 2 + 2));
}

TEST(Energy, CountsVectorOperations) {
  HwConfig hw = test::small_machine();
  hw.energy.vector_op = 4;
  Counts c;
  c.vector_ops = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_DOUBLE_EQ(energy(c, Cycles(0), hw).vector.value(), 4.0 * 28);
}

}  // namespace
}  // namespace accsim::hw
