#include "sim/report/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "fake_report.h"

namespace accsim::sim {
namespace {

const ReportField& field(std::string_view key) {
  for (const ReportField& f : report_fields()) {
    if (f.key == key) return f;
  }
  ADD_FAILURE() << "no field " << key;
  return report_fields().front();
}

double number(std::string_view key, const ReportRow& row) {
  const FieldValue value = field(key).get(row);
  if (const int64_t* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const double* real = std::get_if<double>(&value)) return *real;
  ADD_FAILURE() << key << " is no number";
  return 0;
}

bool is_empty(std::string_view key, const ReportRow& row) {
  return std::holds_alternative<std::monostate>(field(key).get(row));
}

/// 8 x 4 MACs at 500 MHz, so a peak of 16 GMAC/s.
Report small() {
  Report r;
  r.hw.array.rows = 8;
  r.hw.array.cols = 4;
  r.hw.clock_mhz = 500;
  Costs& c = r.totals;
  c.cycles = 2000;  // 4 us
  c.compute_cycles = 1500;
  c.macs = 32000;
  c.dram_read = 6000;
  c.dram_write = 2000;
  c.dram_bound = 1600;
  c.traffic_bound = 5000;
  c.shared_read = 10;
  c.shared_write = 20;
  for (size_t b = 0; b < hw::kBuffers; ++b) {
    c.buffer_read[b] = 300;
    c.buffer_write[b] = 94;
  }
  return r;
}

TEST(ReportFields, AreKeysUniqueAndDescribed) {
  std::set<std::string> keys;
  for (const ReportField& f : report_fields()) {
    EXPECT_TRUE(keys.insert(f.key).second) << f.key;
    EXPECT_FALSE(f.description.empty()) << f.key;
    EXPECT_LE(f.text.size(), 1u) << f.key;
  }
}

TEST(ReportFields, DoRatesAndRatiosFollowTheirFormulas) {
  const Report r = small();
  const ReportRow row = totals_row(r);
  EXPECT_DOUBLE_EQ(number("seconds", row), 2000 / 500e6);
  EXPECT_DOUBLE_EQ(number("inferences_per_second", row), 500e6 / 2000);
  EXPECT_DOUBLE_EQ(number("stall_cycles", row), 500);
  EXPECT_DOUBLE_EQ(number("arithmetic_intensity", row), 32000.0 / 8000);
  EXPECT_DOUBLE_EQ(number("arithmetic_intensity_sram", row), 32000.0 / (30 + 5 * 394));
  EXPECT_DOUBLE_EQ(number("achieved_gmacs", row), 32000 / 4e-6 / 1e9);
  EXPECT_DOUBLE_EQ(number("dram_read_gbps", row), 6000 / 4e-6 / 1e9);
  EXPECT_DOUBLE_EQ(number("dram_write_gbps", row), 2000 / 4e-6 / 1e9);
  EXPECT_DOUBLE_EQ(number("dram_over_bound", row), 8000.0 / 5000);
}

TEST(ReportFields, IsTheRoofTheLowerOfPeakAndDram) {
  Report r = small();
  // 32000 MACs while DRAM is busy for 1600 cycles of 2 ns: 10 GMAC/s.
  EXPECT_DOUBLE_EQ(number("attainable_gmacs", totals_row(r)), 10);
  r.totals.dram_bound = 10;
  EXPECT_DOUBLE_EQ(number("attainable_gmacs", totals_row(r)), 16);
  r.totals.dram_bound = 0;
  EXPECT_DOUBLE_EQ(number("attainable_gmacs", totals_row(r)), 16);
}

TEST(ReportFields, IsAFieldEmptyWhenItsDenominatorIsZero) {
  const Report empty;
  const ReportRow row = totals_row(empty);
  for (const char* key : {"inferences_per_second", "arithmetic_intensity", "attainable_gmacs",
                          "arithmetic_intensity_sram", "achieved_gmacs", "dram_read_gbps",
                          "dram_write_gbps", "dram_over_bound"}) {
    EXPECT_TRUE(is_empty(key, row)) << key;
  }
}

TEST(ReportFields, IsEveryDoubleFinite) {
  Report r = fake_report(2);
  r.hw.clock_mhz = 0;
  r.totals.energy.dram = std::numeric_limits<double>::infinity();
  r.layers[0].costs.energy.mac = std::numeric_limits<double>::quiet_NaN();
  for (const ReportField& f : report_fields()) {
    for (const ReportRow& row : {totals_row(r), layer_row(r, r.layers[0])}) {
      if (row.layer == nullptr && !f.in_totals()) continue;
      const FieldValue value = f.get(row);
      if (const double* v = std::get_if<double>(&value)) {
        EXPECT_TRUE(std::isfinite(*v)) << f.key;
      }
    }
  }
}

TEST(ReportFields, HasEveryWaitAndBufferAKey) {
  const Report r = fake_report(1);
  const ReportRow row = layer_row(r, r.layers[0]);
  for (size_t i = 0; i < hw::kWaits; ++i) {
    const std::string key = fmt::format("stall_{}_cycles", name(static_cast<hw::Wait>(i)));
    EXPECT_EQ(number(key, row), static_cast<double>(r.layers[0].costs.stalls[i]));
  }
  for (size_t i = 0; i < hw::kBuffers; ++i) {
    const std::string_view tier = name(static_cast<hw::Buffer>(i));
    EXPECT_EQ(number(fmt::format("{}_read_bytes", tier), row),
              static_cast<double>(r.layers[0].costs.buffer_read[i]));
    EXPECT_EQ(number(fmt::format("{}_write_bytes", tier), row),
              static_cast<double>(r.layers[0].costs.buffer_write[i]));
  }
}

}  // namespace
}  // namespace accsim::sim
