#include "hw/dram/channel.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "dram_fixture.h"

namespace accsim::hw {
namespace {

using enum DramCommand;

struct Step {
  DramCommand command;
  int bank;
  int64_t clock;
};

/// After `before`, `last` must be refused one clock before `clock` and taken at `clock`.
struct Gate {
  std::string name;
  std::function<void(DramDevice&)> raise;
  std::vector<Step> before;
  DramCommand last;
  int bank;
  int64_t clock;
};

/// Banks 0 and 1 are one group, 2 and 3 the other. Bursts take two clocks of the data bus. Each
/// gate is the only timing that is not at its least; the clocks are sums of parameters.
// NOLINTNEXTLINE(readability-function-size): a list
std::vector<Gate> gates() {
  constexpr int64_t kGate = 20;
  return {
      {"tRCD before a read",
       [](auto& d) { d.t.rcd = kGate; },
       {{activate, 0, 10}},
       read,
       0,
       10 + kGate},
      {"tRCD before a write",
       [](auto& d) { d.t.rcd = kGate; },
       {{activate, 0, 10}},
       write,
       0,
       10 + kGate},
      {"tRAS", [](auto& d) { d.t.ras = kGate; }, {{activate, 0, 10}}, precharge, 0, 10 + kGate},
      {"tRAS before a precharge of all",
       [](auto& d) { d.t.ras = kGate; },
       {{activate, 0, 5}, {activate, 2, 10}},
       precharge_all,
       0,
       10 + kGate},
      {"tRP",
       [](auto& d) { d.t.rp = kGate; },
       {{activate, 0, 10}, {precharge, 0, 12}},
       activate,
       0,
       12 + kGate},
      {"tRP before a refresh",
       [](auto& d) { d.t.rp = kGate; },
       {{activate, 0, 10}, {precharge, 0, 12}},
       refresh,
       0,
       12 + kGate},
      {"tRPab",
       [](auto& d) { d.t.rp_all = kGate; },
       {{activate, 0, 10}, {precharge_all, 0, 12}},
       activate,
       1,
       12 + kGate},
      {"tRPab before a refresh",
       [](auto& d) { d.t.rp_all = kGate; },
       {{activate, 0, 10}, {precharge_all, 0, 12}},
       refresh,
       0,
       12 + kGate},
      {"tRC",
       [](auto& d) { d.t.rc = kGate; },
       {{activate, 0, 10}, {precharge, 0, 12}},
       activate,
       0,
       10 + kGate},
      {"tRC before a refresh",
       [](auto& d) { d.t.rc = kGate; },
       {{activate, 0, 10}, {precharge, 0, 12}},
       refresh,
       0,
       10 + kGate},
      {"tRRD_S", [](auto& d) { d.t.rrd_s = kGate; }, {{activate, 0, 10}}, activate, 2, 10 + kGate},
      {"tRRD_L", [](auto& d) { d.t.rrd_l = kGate; }, {{activate, 0, 10}}, activate, 1, 10 + kGate},
      {"tRRD_L binds its own group only",
       [](auto& d) { d.t.rrd_l = kGate; },
       {{activate, 0, 10}},
       activate,
       2,
       11},
      {"tFAW",
       [](auto& d) { d.t.faw = kGate; },
       {{activate, 0, 10},
        {activate, 1, 12},
        {activate, 2, 14},
        {activate, 3, 16},
        {precharge, 0, 18}},
       activate,
       0,
       10 + kGate},
      {"tFAW lets the fourth pass",
       [](auto& d) { d.t.faw = kGate; },
       {{activate, 0, 10}, {activate, 1, 12}, {activate, 2, 14}},
       activate,
       3,
       15},
      {"tCCD_S of reads",
       [](auto& d) { d.t.ccd_s = kGate; },
       {{activate, 0, 1}, {activate, 2, 2}, {read, 0, 10}},
       read,
       2,
       10 + kGate},
      {"tCCD_S of writes",
       [](auto& d) { d.t.ccd_s = kGate; },
       {{activate, 0, 1}, {activate, 2, 2}, {write, 0, 10}},
       write,
       2,
       10 + kGate},
      {"tCCD_L of reads",
       [](auto& d) { d.t.ccd_l = kGate; },
       {{activate, 0, 1}, {activate, 1, 2}, {read, 0, 10}},
       read,
       1,
       10 + kGate},
      {"tCCD_L of writes",
       [](auto& d) { d.t.ccd_l = kGate; },
       {{activate, 0, 1}, {activate, 1, 2}, {write, 0, 10}},
       write,
       1,
       10 + kGate},
      {"the data bus is the gate of another group under tCCD_L",
       [](auto& d) { d.t.ccd_l = kGate; },
       {{activate, 0, 1}, {activate, 2, 2}, {read, 0, 10}},
       read,
       2,
       10 + 2},
      {"burst length of reads",
       [](auto& d) { d.burst_clocks = kGate; },
       {{activate, 0, 1}, {read, 0, 10}},
       read,
       0,
       10 + kGate},
      {"burst length of writes",
       [](auto& d) { d.burst_clocks = kGate; },
       {{activate, 0, 1}, {write, 0, 10}},
       write,
       0,
       10 + kGate},
      {"tRTP",
       [](auto& d) { d.t.rtp = kGate; },
       {{activate, 0, 1}, {read, 0, 10}},
       precharge,
       0,
       10 + kGate},
      {"tWR follows CWL and the burst",
       [](auto& d) { d.t.wr = kGate, d.t.cwl = 3; },
       {{activate, 0, 1}, {write, 0, 10}},
       precharge,
       0,
       10 + 3 + 2 + kGate},
      {"tWTR_S follows CWL and the burst",
       [](auto& d) { d.t.wtr_s = kGate, d.t.cwl = 3; },
       {{activate, 0, 1}, {activate, 2, 2}, {write, 0, 10}},
       read,
       2,
       10 + 3 + 2 + kGate},
      {"tWTR_L follows CWL and the burst",
       [](auto& d) { d.t.wtr_l = kGate, d.t.cwl = 3; },
       {{activate, 0, 1}, {activate, 1, 2}, {write, 0, 10}},
       read,
       1,
       10 + 3 + 2 + kGate},
      {"tWTR_L binds its own group only",
       [](auto& d) { d.t.wtr_l = kGate; },
       {{activate, 0, 1}, {activate, 2, 2}, {write, 0, 10}},
       read,
       2,
       10 + 1 + 2},
      {"tRTW",
       [](auto& d) { d.t.rtw = kGate; },
       {{activate, 0, 1}, {activate, 2, 2}, {read, 0, 10}},
       write,
       2,
       10 + kGate},
      {"tRFC before an activate",
       [](auto& d) { d.t.rfc = kGate; },
       {{refresh, 0, 10}},
       activate,
       3,
       10 + kGate},
      {"tRFC before a refresh",
       [](auto& d) { d.t.rfc = kGate; },
       {{refresh, 0, 10}},
       refresh,
       0,
       10 + kGate},
      {"slots of an activate",
       [](auto& d) { d.t.act_slots = 4; },
       {{activate, 0, 10}},
       activate,
       2,
       10 + 4},
      {"slots of a read", [](auto& d) { d.t.cas_slots = 4; }, {{activate, 0, 10}}, read, 0, 10 + 4},
      {"slots of a precharge",
       [](auto& d) { d.t.pre_slots = 4; },
       {{activate, 0, 10}},
       precharge,
       0,
       10 + 4},
      {"two command buses",
       [](auto& d) { d.two_command_buses = true; },
       {{activate, 0, 1}, {read, 0, 10}},
       activate,
       2,
       2},
  };
}

TEST(DramChannel, IsEachGateShutUntilItsClockAndOpenThen) {
  for (const Gate& gate : gates()) {
    SCOPED_TRACE(gate.name);
    DramDevice device = test::free_device();
    gate.raise(device);
    DramChannel channel(device);
    for (const Step& s : gate.before) {
      ASSERT_TRUE(channel.can_issue(s.command, s.bank, s.clock)) << "at " << s.clock;
      channel.issue(s.command, s.bank, 3, s.clock);
    }
    EXPECT_FALSE(channel.can_issue(gate.last, gate.bank, gate.clock - 1));
    EXPECT_TRUE(channel.can_issue(gate.last, gate.bank, gate.clock));
    EXPECT_EQ(channel.earliest_clock(gate.last, gate.bank), gate.clock);
  }
}

TEST(DramChannel, IsACommandInTheWrongStateRefused) {
  DramChannel channel(test::free_device());
  for (const DramCommand command : {read, write, precharge})
    EXPECT_FALSE(channel.can_issue(command, 0, 1000));
  channel.issue(activate, 0, 5, 10);
  EXPECT_EQ(channel.open_row(0), 5);
  EXPECT_FALSE(channel.can_issue(activate, 0, 1000));
  EXPECT_FALSE(channel.can_issue(refresh, 0, 1000));
  EXPECT_FALSE(channel.all_closed());
  channel.issue(precharge_all, 0, 0, 20);
  EXPECT_TRUE(channel.all_closed());
  EXPECT_EQ(channel.open_row(0), DramChannel::kClosed);
}

TEST(DramChannelDeathTest, IsAnIllegalCommandCaught) {
  DramChannel channel(test::free_device());
  channel.issue(activate, 0, 1, 10);
  EXPECT_DEATH(channel.issue(read, 0, 1, 10), "timing rule");
}

}  // namespace
}  // namespace accsim::hw
