#include "sim/operators/op_table.h"

#include <gtest/gtest.h>

#include <set>

namespace accsim::sim {
namespace {

TEST(OpTable, IsEveryRowWellFormed) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const OpRow* row : all_ops()) {
    SCOPED_TRACE(row->name);
    EXPECT_FALSE(row->name.empty());
    EXPECT_TRUE(names.emplace(row->domain, row->name).second) << "named twice";
    EXPECT_NE(row->domain, "ai.onnx") << "the default domain is \"\"";
    EXPECT_GE(row->since, 1);
    EXPECT_GE(row->min_inputs, 0);
    EXPECT_LE(row->min_inputs, row->max_inputs);
    EXPECT_NE(row->shape, nullptr);
    EXPECT_TRUE(row->cost != nullptr || row->fate == Fate::view);
    for (const char digit : row->params) {
      EXPECT_GE(digit, '0');
      EXPECT_LT(digit - '0', row->max_inputs);
    }
  }
  EXPECT_GT(names.size(), 150U);
}

TEST(OpTable, IsEveryRowFound) {
  for (const OpRow* row : all_ops()) EXPECT_EQ(find_op(row->domain, row->name), row) << row->name;
}

TEST(OpTable, AreTheTwoNamesOfTheDefaultDomainOne) {
  ASSERT_NE(find_op("", "Relu"), nullptr);
  EXPECT_EQ(find_op("ai.onnx", "Relu"), find_op("", "Relu"));
}

TEST(OpTable, IsAnUnknownOperatorNotFound) {
  EXPECT_EQ(find_op("", "Rel"), nullptr);
  EXPECT_EQ(find_op("", "Reluu"), nullptr);
  EXPECT_EQ(find_op("", ""), nullptr);
  EXPECT_EQ(find_op("", "zzz"), nullptr);
  EXPECT_EQ(find_op("my.domain", "Relu"), nullptr);
}

TEST(Work, HasEveryFateAndClassAName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Fate::unsupported); ++i)
    names.insert(name(static_cast<Fate>(i)));
  EXPECT_EQ(names.size(), 6U);
  for (size_t i = 0; i < kVectorClasses; ++i) names.insert(name(static_cast<VectorClass>(i)));
  EXPECT_EQ(names.size(), 6U + kVectorClasses);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace accsim::sim
