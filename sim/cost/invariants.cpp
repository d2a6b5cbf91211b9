#include "sim/cost/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"
#include "sim/base/sums.h"

namespace accsim::sim {
namespace {

/// Sums of as many rounded products as a network has layers are nearer than this.
constexpr double kRounding = 1e-9;

bool nearly_equal(double a, double b) { return std::abs(a - b) <= kRounding * std::max(a, b); }

/// Counts of a report that have to be what its layers' add up to.
struct Counted {
  const char* what;
  int64_t (*of)(const Costs&);
};
constexpr Counted kCounted[] = {
    {"cycles", [](const Costs& c) { return c.cycles; }},
    {"MACs", [](const Costs& c) { return c.macs; }},
    {"MACs of the array", [](const Costs& c) { return c.array_macs; }},
    {"bytes read from DRAM", [](const Costs& c) { return c.dram_read; }},
    {"bytes written to DRAM", [](const Costs& c) { return c.dram_write; }},
    {"bytes read from the shared buffer", [](const Costs& c) { return c.shared_read; }},
    {"bytes written to the shared buffer", [](const Costs& c) { return c.shared_write; }},
};

void check_energy(const Costs& totals, const hw::HwConfig& hw) {
  const auto real = [](int64_t v) { return static_cast<double>(v); };
  const hw::EnergyConfig& table = hw.energy;
  double sram = 0;
  for (size_t b = 0; b < hw::kBuffers; ++b)
    sram += table.buffer_byte[b] * (real(totals.buffer_read[b]) + real(totals.buffer_write[b]));
  check(nearly_equal(totals.energy.sram, sram),
        "energy of buffers isn't their bytes times the table");
  check(nearly_equal(totals.energy.shared,
                     table.shared_byte * (real(totals.shared_read) + real(totals.shared_write))),
        "energy of the shared buffer isn't its bytes times the table");
  check(nearly_equal(totals.energy.dram, table.dram_read_byte * real(totals.dram_read) +
                                             table.dram_write_byte * real(totals.dram_write)),
        "energy of DRAM isn't its bytes times the table");
  check(nearly_equal(totals.energy.leakage, table.static_per_cycle * real(totals.cycles)),
        "energy of leakage isn't cycles times the table");
  // A mode has MACs of its own energy.
  if (hw.types.modes.empty())
    check(nearly_equal(totals.energy.mac, table.mean_mac() * real(totals.array_macs)),
          "energy of MACs isn't their number times the table");
}

}  // namespace

void check_attributed(const hw::Timing& timing) {
  for (const hw::QueueTiming& q : timing.queues) {
    Cycles sum = q.busy - q.hidden;
    for (const Cycles wait : q.waits) sum += wait;
    check(sum == q.free_at, "cycles of a queue that nothing accounts for");
    check(q.free_at <= timing.total, "a queue is busy behind the end");
  }
}

void check_busy(std::span<const hw::Timing> shares) {
  int64_t total = 0;
  for (const hw::Timing& share : shares) total = add_counts(total, share.total.count());
  for (const hw::Queue q : hw::Queue::all()) {
    int64_t busy = 0;
    for (const hw::Timing& share : shares) busy = add_counts(busy, share.queues[q].busy.count());
    check(busy <= total, "a queue is busy for longer than the network takes");
  }
}

void check_report(const Report& report) {
  for (const Counted& c : kCounted) {
    int64_t sum = 0;
    for (const LayerReport& layer : report.layers) sum = add_counts(sum, c.of(layer.costs));
    check(sum == c.of(report.totals), fmt::format("the layers' {} aren't the network's", c.what));
  }
  check_energy(report.totals, report.hw);
}

}  // namespace accsim::sim
