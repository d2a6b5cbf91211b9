#include "hw/dot_product/side_units.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/hw/dot_product/measured_side.h"

namespace accsim::hw {
namespace {

/// Rows of a unit whose machine has all that they need.
std::vector<MeasuredRow> rows_of(const std::string& unit) {
  std::vector<MeasuredRow> found;
  for (const MeasuredRow& row : measured_table("rtl"))
    if (row.at("unit") == unit && row.at("result") == "PASS") found.push_back(row);
  return found;
}

/// Latencies are those of single rows, and every other row is predicted.
TEST(SideUnitsMeasured, AreCyclesOfAllRowsRight) {
  for (const char* unit : {"pdp", "cdp", "sdp"}) {
    double sum = 0, worst = 0;
    const std::vector<MeasuredRow> rows = rows_of(unit);
    ASSERT_GE(rows.size(), 10U);
    for (const MeasuredRow& row : rows) {
      const Result<SideEvents> events = time_side_layer(measured_side_layer(row), kSmallUnits);
      ASSERT_TRUE(events) << row.at("trace") << ": " << events.errors().front().text();
      const double error = 100 * std::abs(static_cast<double>(events->last_write) /
                                              static_cast<double>(number(row, "last_write")) -
                                          1);
      sum += error;
      worst = std::max(worst, error);
    }
    const double mean = sum / static_cast<double>(rows.size());
    std::printf("%s: %zu rows, mean error %.4f %%, worst %.4f %%\n", unit, rows.size(), mean,
                worst);
    EXPECT_LE(mean, 0.05) << unit;  // the page's figures, rounded up
    EXPECT_LE(worst, 0.13) << unit;
  }
}

/// By how much the reader of a row begins later than where its enabling is what comes last, and
/// comes through at once (page, "What is left of these units").
int64_t reader_delay(const MeasuredRow& row) {
  const bool is_last = row.at("last_enable").find("RDMA") != std::string::npos;
  const int64_t write = number(row, "csb_writes") - (is_last ? 0 : 1);
  return (is_last ? 0 : -1) + (write % 4 == 1 ? 5 : 0);
}

TEST(SideUnitsMeasured, AreEventsWhereTheyWereSeen) {
  for (const char* unit : {"pdp", "cdp", "sdp"})
    for (const MeasuredRow& row : rows_of(unit)) {
      const SideEvents events = *time_side_layer(measured_side_layer(row), kSmallUnits);
      const int64_t delay = reader_delay(row);
      const std::string& name = row.at("trace");
      EXPECT_EQ(events.first_read + delay, number(row, "first_read_request")) << name;
      EXPECT_EQ(events.first_write + delay, number(row, "first_write")) << name;
      EXPECT_EQ(events.last_write + delay, number(row, "last_write")) << name;
    }
}

/// An element per cycle, padded channels included, and the way of one atom.
TEST(SideUnits, TakesAPointWiseLayerACyclePerElement) {
  const int64_t way = 20 + 32 + 3 * 2 + 25;
  EXPECT_EQ(time_point({56, 56, 250, {}}, kSmallUnits)->last_write, way + 56 * 56 * 256);
  const PointStage both{true, true, 0};
  EXPECT_EQ(time_point({56, 56, 250, {both, both}}, kSmallUnits)->last_write,
            way + 2 * 7 + 56 * 56 * 256);
  // Operands of two stages, 16 bits each: 5 reads of 2 cycles for 8 elements.
  const PointStage operands{true, true, 2};
  EXPECT_EQ(time_point({56, 56, 8, {operands, operands}}, kSmallUnits)->last_write,
            way + 3 * 2 * 2 + 2 * 7 + 56 * 56 * 10);
}

/// A single position is read as one line.
TEST(SideUnits, TakesASinglePositionAsALine) {
  EXPECT_EQ(time_point({1, 1, 1000, {}}, kSmallUnits)->last_write, 20 + 32 + 6 + 25 + 1000);
  EXPECT_EQ(time_point({1, 2, 1000, {}}, kSmallUnits)->last_write, 20 + 32 + 25 + 2000);
}

/// Blocks of 8 positions and a rest: each rest waits for the channels ahead of those that it lacks.
TEST(SideUnits, HoldsLrnUpAtEachNarrowBlock) {
  const auto cycles = [](int64_t width) {
    return time_lrn({width, 10, 16, false}, kSmallUnits)->last_write;
  };
  const int64_t way = 20 + 32 + 6 + 50;
  EXPECT_EQ(cycles(16), way + 10 * 16 * 16 + 8 * 4 + 7 * 2);
  EXPECT_EQ(cycles(13), way + 10 * 13 * 16 + 10 * 3 * 4 + 5 * 4 + 4 * 2);
}

TEST(SideUnits, AreSizesThatDoNotFitRefused) {
  EXPECT_EQ(time_lrn({0, 1, 1, false}, kSmallUnits).errors().front().code, Errc::invalid);
  EXPECT_EQ(time_point({1, 1, kMostSideSize + 1, {}}, kSmallUnits).errors().front().code,
            Errc::invalid);
  EXPECT_EQ(time_point({1, 1, 1, {{false, false, 9}}}, kSmallUnits).errors().front().code,
            Errc::invalid);
  EXPECT_EQ(time_point({1, 1, 1, {{}, {}, {}}}, kSmallUnits).errors().front().code, Errc::capacity);
  SideUnits slow;
  slow.request_interval = 1 << 20;
  const int64_t most = kMostSideSize;
  EXPECT_EQ(time_point({most, most, most, {}}, slow).errors().front().code, Errc::overflow);
  EXPECT_EQ(time_lrn({most, most, most, false}, slow).errors().front().code, Errc::overflow);
}

TEST(SideUnits, IsEveryFieldInTheTableAndChecked) {
  for (const SideUnitField& field : side_unit_fields()) {
    SideUnits units;
    EXPECT_GE(units.*field.member, field.least) << field.name;
    units.*field.member = field.least - 1;
    const Status checked = check_side_units(units);
    ASSERT_FALSE(checked) << field.name;
    EXPECT_EQ(checked.errors().front().where, field.name);
  }
}

}  // namespace
}  // namespace accsim::hw
