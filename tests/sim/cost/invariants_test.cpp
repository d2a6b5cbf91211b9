#include "sim/cost/invariants.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

/// 100 cycles: the load queue is busy for 60, of which 10 are hidden, and waits for 30.
hw::Timing timing() {
  hw::Timing out;
  out.total = Cycles(100);
  hw::QueueTiming& q = out.queues[hw::Queue::load];
  q.busy = Cycles(60);
  q.hidden = Cycles(10);
  q.waits[0] = Cycles(25);
  q.waits[3] = Cycles(5);
  q.free_at = Cycles(80);
  return out;
}

hw::QueueTiming& load(hw::Timing& t) { return t.queues[hw::Queue::load]; }

TEST(Invariants, AcceptWhatAddsUp) {
  const hw::Timing t = timing();
  check_attributed(t);
  check_busy(std::array{t, t});
}

TEST(Invariants, SeeACycleThatNothingAccountsFor) {
  hw::Timing t = timing();
  load(t).waits[0] = Cycles(24);
  EXPECT_DEATH(check_attributed(t), "nothing accounts for");
}

TEST(Invariants, SeeAQueueThatIsBusyBehindTheEnd) {
  hw::Timing t = timing();
  t.total = Cycles(79);
  EXPECT_DEATH(check_attributed(t), "behind the end");
}

TEST(Invariants, SeeAQueueThatIsBusyForLongerThanTheNetwork) {
  hw::Timing t = timing();
  load(t).busy = Cycles(101);
  EXPECT_DEATH(check_busy(std::array{t}), "busy for longer");
  hw::Timing idle = timing();
  load(idle) = {};
  check_busy(std::array{t, idle});  // what one is busy under the other
}

/// Two layers on a machine with a different price for everything.
Report report() {
  Report out;
  out.hw = test::small_machine();
  hw::EnergyConfig& e = out.hw.energy;
  e.mac = 2;
  e.buffer_byte.fill(3);
  e.shared_byte = 5;
  e.dram_read_byte = 7;
  e.dram_write_byte = 11;
  e.static_per_cycle = 13;
  LayerReport layer;
  Costs& c = layer.costs;
  c.cycles = 10;
  c.macs = 100;
  c.array_macs = 120;
  c.dram_read = 50;
  c.dram_write = 20;
  c.shared_read = 6;
  c.shared_write = 4;
  c.buffer_read[0] = 30;
  c.buffer_write[1] = 40;
  c.energy = {.mac = 2 * 120,
              .vector = 0,
              .sram = 3 * (30 + 40),
              .shared = 5 * (6 + 4),
              .dram = 7 * 50 + 11 * 20,
              .leakage = 13 * 10};
  out.layers = {layer, layer};
  for (const LayerReport& l : out.layers) out.totals += l.costs;
  return out;
}

TEST(Invariants, AcceptAReportThatAddsUp) { check_report(report()); }

TEST(Invariants, SeeALayerThatIsCountedTwiceOrNot) {
  Report twice = report();
  twice.totals.macs += 100;
  EXPECT_DEATH(check_report(twice), "layers' MACs aren't the network's");
  Report lost = report();
  lost.layers[0].costs.dram_write = 0;
  EXPECT_DEATH(check_report(lost), "layers' bytes written to DRAM aren't the network's");
}

TEST(Invariants, SeeEnergyThatIsNotCountsTimesTheTable) {
  for (double EnergyReport::*part : {&EnergyReport::mac, &EnergyReport::sram, &EnergyReport::shared,
                                     &EnergyReport::dram, &EnergyReport::leakage}) {
    Report wrong = report();
    wrong.totals.energy.*part *= 1.000001;
    EXPECT_DEATH(check_report(wrong), "times the table");
  }
}

}  // namespace
}  // namespace accsim::sim
