#include "hw/dram/row_visits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/units.h"

namespace accsim::hw {
namespace {

constexpr double kEndless = 1e6;  ///< bursts: long enough to be without end

/// Rows that a run of `bursts` visits with the groups below the columns: every group that it
/// touches once, and once more for each row boundary inside, which splits the run in two parts.
/// The sum is over the places x = 1.. of that boundary: min(x, G) + min(bursts - x, G) -
/// min(bursts, G).
double visits_groups_low(double bursts, double groups, double columns) {
  const double touched = std::min(bursts, groups);
  if (bursts <= 1) return touched;
  const double inside = bursts - 1, ramp = std::min(inside, groups - 1);
  const double sum = ramp * (ramp + 1) + 2 * groups * (inside - ramp);
  return touched + std::max(0.0, sum - inside * touched) / (groups * columns);
}

void fill_visits(RowVisits& out, const DramDevice& device, bool groups_high) {
  const double columns = real(device.columns());
  const double groups = real(device.bank_groups), banks = real(device.all_banks());
  double visits = 0;
  out.groups_high = groups_high;
  if (groups_high) {
    visits = 1 + (out.bursts - 1) / columns;
    out.places = banks;
  } else {
    visits = visits_groups_low(out.bursts, groups, columns);
    out.groups_used = std::min(out.bursts, groups);
    out.places = real(device.banks) * groups / out.groups_used;
  }
  const double ends = (out.bursts - 1) / (groups_high ? columns : columns * groups);
  out.part = out.bursts / (1 + ends);
  out.split = std::min(1.0, ends);
  out.unsplit = groups_high ? 1 : out.groups_used;
  out.activates = visits / out.bursts;
  out.bursts_a_visit = out.bursts / visits;
}

}  // namespace

RowVisits count_row_visits(const DramSystem& system, const DramPattern& pattern) {
  RowVisits out;
  const int64_t burst_bytes = system.device.burst_bytes();
  const int64_t run = std::max<int64_t>(1, ceil_div(pattern.run, burst_bytes));
  out.endless = pattern.walk == DramWalk::sequential;
  out.bursts = out.endless ? kEndless : std::max(1.0, real(run) / real(system.channels));
  fill_visits(out, system.device, system.map == DramMap::bank_group_high);
  return out;
}

double single_group_share(const DramDevice& device, const RowVisits& visits, double ahead) {
  constexpr int kRuns = 256;
  const auto columns = static_cast<uint32_t>(device.columns());
  const double row = real(device.columns());
  const double skipped = std::max(0.0, std::floor(visits.bursts / row) - 4) * row;
  uint32_t random = 1;
  double left = 0, alone = 0, all = 0;  // left: of the oldest visit, when it becomes the oldest
  for (int i = 0; i < kRuns; ++i) {
    random = random * 1103515245U + 12345U;
    double column = ((random >> 8U) % columns);
    bool joined = ((random >> 20U) % static_cast<uint32_t>(device.bank_groups)) == 0;
    double rest = visits.bursts - skipped;
    int rows = 0;
    while (rest > 0) {
      const double visit = std::min(rest, row - column);
      rest -= visit;
      column = 0;
      if (joined) {
        left += visit;
      } else {
        alone += std::max(0.0, left - ahead);
        left = visit - std::min({visit, left, ahead});
      }
      joined = false;
      all += visit;
      if (++rows != 3) continue;
      // Deep inside a long run rows are alike, or alternate between two lengths: take the mean.
      const double next = row - std::min({row, left, ahead});
      alone += skipped / row * (std::max(0.0, left - ahead) + std::max(0.0, next - ahead)) / 2;
      all += skipped;
    }
  }
  return alone / all;
}

}  // namespace accsim::hw
