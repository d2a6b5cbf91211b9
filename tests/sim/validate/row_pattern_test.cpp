#include "sim/validate/row_pattern.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

using Columns = std::vector<std::string>;

Columns columns_of(const RowPattern& pattern) {
  Columns out;
  for (const RowPattern::Piece& piece : pattern.pieces) out.push_back(piece.column);
  return out;
}

TEST(RowPattern, IsATextWithoutBracesAColumn) {
  const auto pattern = parse_row_pattern("layer name");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(columns_of(*pattern), Columns{"layer name"});
  EXPECT_EQ(pattern->fill({"conv, 1"}), "conv, 1");
  EXPECT_EQ(pattern->fill({""}), "");
}

TEST(RowPattern, AreColumnsInBracesFilledIn) {
  const auto pattern = parse_row_pattern("{a}{b b} on {c} MACs");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(columns_of(*pattern), (Columns{"a", "b b", "c"}));
  EXPECT_EQ(pattern->fill({"x", "y", "64"}), "xy on 64 MACs");
  EXPECT_EQ(pattern->fill({"", "", "64"}), " on 64 MACs");
  EXPECT_EQ(pattern->fill({"", "", ""}), "") << "no cell says anything";
}

TEST(RowPattern, IsABraceWithoutItsOtherOneRefused) {
  for (const char* text : {"{a", "a}", "{a{b}", "{a}}", "}a{"})
    EXPECT_FALSE(parse_row_pattern(text)) << text;
}

}  // namespace
}  // namespace accsim::sim
