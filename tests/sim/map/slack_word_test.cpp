#include "sim/map/slack_word.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

TEST(SlackWord, IsAPercentage) {
  EXPECT_EQ(slack_from("0"), 0);
  EXPECT_EQ(slack_from("0%"), 0);
  EXPECT_DOUBLE_EQ(*slack_from("1%"), 0.01);
  EXPECT_DOUBLE_EQ(*slack_from("0.5%"), 0.005);
  EXPECT_EQ(slack_from("100%"), 1);
  for (const char* bad : {"", "%", "1", "0.01", "-1%", "100.5%", "1 %", "1%%", "nan%", "few"})
    EXPECT_FALSE(slack_from(bad)) << bad;
  for (const char* text : {"0%", "0.1%", "7%", "33.3%"})
    EXPECT_EQ(slack_text(*slack_from(text)), text);
}

}  // namespace
}  // namespace accsim::sim
