#include "tests/hw/dot_product/measured.h"

#include <gtest/gtest.h>

#include <cmath>

namespace accsim::hw {
namespace {

/// Errors of cycles to the last write, in percent.
struct MeasuredErrors {
  double sum = 0, worst = 0;
  int rows = 0, exact = 0;

  void add(int64_t predicted, int64_t measured) {
    const double error =
        100 * std::abs(static_cast<double>(predicted) / static_cast<double>(measured) - 1);
    sum += error;
    worst = std::max(worst, error);
    ++rows;
    exact += predicted == measured;
  }
  void expect_small(const char* what) const {
    ASSERT_GT(rows, 0);
    std::printf("%s: %d rows, %d exact, mean error %.4f %%, worst %.4f %%\n", what, rows, exact,
                sum / rows, worst);
    EXPECT_LE(sum / rows, 0.004) << what;  // the page's figures, rounded up
    EXPECT_LE(worst, 0.08) << what;
  }
};

/// Only the measured latencies of a few rows are in the machine; every other row is predicted.
TEST(DotProductMeasured, AreCyclesOfAllConvolutionsRight) {
  for (const char* table : {"layers", "rtl"}) {
    MeasuredErrors errors;
    for (const MeasuredRow& row : measured_convolutions(table)) {
      const Result<LayerEvents> events = time_layer(measured_layer(row), kSmall);
      ASSERT_TRUE(events) << row.at("trace") << ": " << events.errors().front().text();
      errors.add(events->last_write, number(row, "last_write"));
    }
    errors.expect_small(table);
  }
}

/// First reads and last reads of features to the cycle. What follows the cycle in which features
/// are there is up to 5 early (docs/dot-product.md, "What is left").
TEST(DotProductMeasured, AreEventsWhereTheyWereSeen) {
  for (const char* table : {"layers", "rtl"})
    for (const MeasuredRow& row : measured_convolutions(table)) {
      const LayerEvents events = *time_layer(measured_layer(row), kSmall);
      EXPECT_EQ(events.first_read, number(row, "first_read_request")) << row.at("trace");
      EXPECT_EQ(events.last_feature_read, number(row, "last_data_read")) << row.at("trace");
      const std::array late{number(row, "last_read_request") - events.last_read,
                            number(row, "last_weight_read") - *events.last_weight_read,
                            number(row, "first_write") - events.first_write,
                            number(row, "last_write") - events.last_write};
      for (const int64_t cycles : late)
        EXPECT_TRUE(cycles >= 0 && cycles <= 5) << row.at("trace") << " " << cycles;
    }
}

/// 1x1 layers that are cut by lines: the sizes of the whole layer, by name.
const std::map<std::string, Convolution> kCut{
    {"mbv2_b1_project_all_parts_reuse", {{112, 112, 32, 16, 1, 1, 112, 112}}},
    {"resnet50_l1_1_conv1_all_parts_reuse", {{56, 56, 256, 64, 1, 1, 56, 56}}},
    {"mbv2_b2_project_all_parts_reuse", {{56, 56, 96, 24, 1, 1, 56, 56}}},
};

/// The parts are ours, cut by lines with the row's banks; the first reads the weights for all.
TEST(DotProductMeasured, AreLayersCutIntoPartsRight) {
  MeasuredErrors errors;
  for (const MeasuredRow& row : measured_table("sequences")) {
    const std::string& banks = row.at("banks");
    const BankDivision division{std::stoll(banks), std::stoll(banks.substr(banks.find('+') + 1))};
    const ConvolutionPlan divided = *divide(kCut.at(row.at("name")), division, kSmall);
    const std::vector<LayerEvents> events = *time_overlapped(divided.layers, kSmall);
    const std::vector<int64_t> writes = numbers(row.at("last_write_each"));
    ASSERT_EQ(events.size(), writes.size()) << row.at("name");
    for (size_t i = 0; i < writes.size(); ++i) errors.add(events[i].last_write, writes[i]);
    EXPECT_EQ(divided.cycles, Cycles(events.back().last_write));
  }
  errors.expect_small("sequences");
}

}  // namespace
}  // namespace accsim::hw
