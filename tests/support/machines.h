#pragma once
#include <algorithm>
#include <random>

#include "hw/config/hw_config.h"

namespace accsim::test {

/// A small machine with round numbers.
inline hw::HwConfig small_machine(int64_t rows = 8, int64_t cols = 8) {
  hw::HwConfig hw;
  hw.name = "test";
  hw.clock_mhz = 1000;
  hw.array.rows = rows;
  hw.array.cols = cols;
  hw.array.dataflows = {hw::Dataflow::weight_stationary};
  hw.buffers[static_cast<size_t>(hw::Buffer::activation)] = {8, 2, 16};
  hw.buffers[static_cast<size_t>(hw::Buffer::weight)] = {8, 2, 16};
  hw.buffers[static_cast<size_t>(hw::Buffer::parameter)] = {2, 2, 16};
  hw.buffers[static_cast<size_t>(hw::Buffer::accumulator)] = {8, 2, 0};
  hw.buffers[static_cast<size_t>(hw::Buffer::output)] = {4, 2, 16};
  hw.dram = {{4000}, {2000}, 20};
  hw.shared = {4, {{8000}, {8000}, 5}};
  hw.vector.lanes.fill(8);
  hw.energy.mac = 1;
  return hw;
}

/// A machine drawn at random around small_machine(), always able to hold one minimal tile.
inline hw::HwConfig random_machine(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  hw::HwConfig hw = small_machine(pick(2, 17), pick(2, 17));
  for (hw::BufferConfig& b : hw.buffers) {
    b.slots = pick(1, 4);
    b.kib = b.slots * pick(1, 6);
    if (b.width > 0) b.width = pick(1, 64);
  }
  hw.dram = {{pick(200, 40000)}, {pick(200, 40000)}, pick(0, 200)};
  hw.shared = {32 + pick(0, 1) * 64, {{hw.dram.read.milli * 2}, {hw.dram.write.milli * 2}, 0}};
  for (int64_t& lanes : hw.vector.lanes) lanes = pick(1, 32);
  std::mt19937 others = random;  // all else stays as it was
  others.discard(1000);
  hw.vector.mac_lanes = static_cast<int64_t>(others() % 2 * (1 + others() % 32));
  const int64_t fill_rows = 1 + static_cast<int64_t>(others() % 4);
  hw.array.fill_rows = std::min(fill_rows, hw.array.rows);
  return hw;
}

/// Gives the shared buffer a pace that has nothing to do with DRAM's, and a narrow way out.
inline void draw_channels(hw::HwConfig& hw, std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  hw.shared = {64, {{pick(200, 40000)}, {pick(200, 40000)}, pick(0, 30)}};
  hw.buffers[static_cast<size_t>(hw::Buffer::output)].width = pick(1, 16);
}

}  // namespace accsim::test
