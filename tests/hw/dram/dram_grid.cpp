// The closed form of DRAM against the stepped model, on a grid of every preset, address map,
// channels, run lengths and write shares; ends with 1 when a point is off by more than three
// percent. dram_grid [PERCENT]: prints the points that are off by more than that.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "hw/dram/closed_form.h"
#include "hw/dram/stepped.h"

namespace accsim::hw {
namespace {

constexpr double kLimit = 3;

struct Grid {
  double shown = kLimit, worst = 0;
  int points = 0, beyond = 0;

  void add(const DramSystem& system, const DramPattern& pattern, int64_t bursts) {
    const double stepped = run_stepped(system, pattern, bursts).efficiency;
    const double closed = estimate_dram(system, pattern).efficiency;
    const double percent = (stepped / closed - 1) * 100;
    ++points;
    beyond += std::abs(percent) > kLimit ? 1 : 0;
    worst = std::max(worst, std::abs(percent));
    if (std::abs(percent) <= shown) return;
    fmt::print(
        "{}, {} channels, {}, runs of {} B, stride {} B, writes {:.2f}: stepped {:.4f}, "
        "closed form {:.4f} of the peak, {:+.1f} %\n",
        system.device.name, system.channels, name(system.map), pattern.run, pattern.stride,
        pattern.write_share, stepped, closed, percent);
  }

  void add_all(const DramSystem& system) {
    constexpr int64_t kBursts = 60000;  // a channel
    const int64_t burst = system.device.burst_bytes(), bursts = kBursts * system.channels;
    for (const double writes : {0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0}) {
      add(system, {DramWalk::sequential, 0, 0, writes}, bursts);
      for (const int64_t run : {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  14,
                                16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 200, 256, 2048})
        add(system, {DramWalk::random, run * burst, 0, writes}, run > 500 ? 3 * bursts : bursts);
    }
    for (const double writes : {0.0, 0.5, 1.0}) {
      for (const int64_t run : {1, 4, 32}) {
        for (const int64_t stride : {33, 64, 100, 128, 512, 1000, 4096, 65536})
          add(system, {DramWalk::strided, run * burst, stride * burst, writes}, bursts);
      }
    }
  }
};

int compare(double shown) {
  Grid all;
  all.shown = shown;
  for (size_t preset = 0; preset < kDramPresets; ++preset) {
    for (const DramMap map : {DramMap::bank_group_low, DramMap::bank_group_high}) {
      for (const int64_t channels : {1, 4})
        all.add_all({dram_device(static_cast<DramPreset>(preset)), channels, map});
    }
  }
  fmt::print("{} of {} points within {} %, worst {:.1f} %\n", all.points - all.beyond, all.points,
             kLimit, all.worst);
  return all.beyond == 0 ? 0 : 1;
}

}  // namespace
}  // namespace accsim::hw

int main(int argc, char** argv) {
  return accsim::hw::compare(argc > 1 ? std::strtod(argv[1], nullptr) : accsim::hw::kLimit);
}
