#include "hw/engines/request_port.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace accsim::hw {
namespace {

/// Clients that ask for requests of so many beats, each `client_cycles` after the last.
using Demand = std::array<std::vector<int64_t>, 3>;

/// Cycle by cycle by the rules of docs/engines.md, "Port": client and cycle of each request.
std::vector<PortAnswer> cycle_by_cycle(const EngineMachine& machine, Demand demand) {
  std::vector<PortAnswer> taken;
  std::array<int64_t, 3> from{5, 3, 3};
  int64_t last = -1;
  for (int64_t cycle = 0; cycle < 20'000; ++cycle) {
    int64_t outstanding = 0;
    bool is_last = false;
    for (const PortAnswer& one : taken) {
      outstanding += one.last >= cycle;
      is_last |= one.last == cycle;
    }
    if (outstanding >= machine.outstanding || (machine.last_beat_holds != 0 && is_last)) continue;
    if (machine.reads_overlap == 0 && cycle <= last) continue;
    for (size_t client = 0; client < demand.size(); ++client) {
      if (demand[client].empty() || from[client] > cycle) continue;
      const int64_t first = std::max(cycle + machine.latency, last + 1);
      last = first + demand[client].back() - 1;
      taken.push_back({static_cast<int64_t>(client), cycle, first, last});
      demand[client].pop_back();
      from[client] = cycle + machine.client_cycles;
      break;
    }
  }
  return taken;
}

TEST(RequestPort, AreRequestsTakenAsCycleByCycle) {
  std::mt19937 random(3);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < 200; ++i) {
    EngineMachine machine;
    machine.latency = draw(1, 40);
    machine.outstanding = draw(1, 20);
    machine.client_cycles = draw(1, 4);
    machine.reads_overlap = draw(0, 3) > 0;
    machine.last_beat_holds = draw(0, 1);
    Demand demand;
    for (std::vector<int64_t>& beats : demand)
      for (int64_t n = draw(0, 40); n > 0; --n) beats.push_back(draw(1, draw(1, 12)));
    const std::vector<PortAnswer> expected = cycle_by_cycle(machine, demand);
    RequestPort port(machine);
    const auto ask = [&](int64_t client, int64_t from) {
      std::vector<int64_t>& beats = demand[static_cast<size_t>(client)];
      if (beats.empty()) return;
      port.ask(client, beats.back(), from);
      beats.pop_back();
    };
    ask(0, 5);
    ask(1, 3);
    ask(2, 3);
    for (const PortAnswer& one : expected) {
      ASSERT_FALSE(port.idle()) << i;
      const PortAnswer request = port.take();
      ASSERT_EQ(request.client, one.client) << i;
      ASSERT_EQ(request.taken, one.taken) << i;
      ASSERT_EQ(request.last, one.last) << i;
      ask(request.client, request.taken + machine.client_cycles);
    }
    EXPECT_TRUE(port.idle()) << i;
  }
}

}  // namespace
}  // namespace accsim::hw
