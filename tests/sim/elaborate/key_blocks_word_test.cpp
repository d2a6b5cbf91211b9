#include "sim/elaborate/key_blocks_word.h"

#include <gtest/gtest.h>

#include "sim/base/limit_ranges.h"

namespace accsim::sim {
namespace {

TEST(KeyBlocksWord, AreWordsAndNumbersTaken) {
  EXPECT_EQ(*key_blocks_of("auto"), std::nullopt);
  EXPECT_EQ(*key_blocks_of("off"), 0);
  EXPECT_EQ(*key_blocks_of("1"), 1);
  EXPECT_EQ(*key_blocks_of(std::to_string(kMostLimit)), kMostLimit);
}

TEST(KeyBlocksWord, AreOthersRefused) {
  for (const std::string& word :
       {std::string(), std::string("0"), std::string("-1"), std::string("64k"), std::string("6.5"),
        std::string("None"), std::string("True"), std::to_string(kMostLimit + 1)}) {
    const auto keys = key_blocks_of(word);
    ASSERT_FALSE(keys) << word;
    EXPECT_EQ(keys.errors().front().code, Errc::usage);
    EXPECT_EQ(keys.errors().front().where, "--key-blocks");
    EXPECT_EQ(keys.errors().front().message,
              "'" + word + "' is not auto, off or a number of keys, 1 to 1000000000");
  }
}

}  // namespace
}  // namespace accsim::sim
