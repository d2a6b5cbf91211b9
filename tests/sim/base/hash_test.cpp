#include "sim/base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace accsim {
namespace {

TEST(Hash, IsItXxh3sOf128Bits) {
  // XXH3_128bits of nothing, as xxHash's specification and its `xxhsum -H2 /dev/null` give it.
  EXPECT_EQ(hash_text(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, BytesAreHashedAsXxHashDoes) {
  // XXH3_64bits of nothing, as xxHash's specification has it.
  EXPECT_EQ(hash_bytes(""), 0x2d06800538d394c2u);
  EXPECT_NE(hash_bytes("a"), hash_bytes("b"));
}

TEST(Hash, HasEveryTextItsOwn) {
  std::set<std::string> seen;
  std::string text;
  for (int i = 0; i < 1000; ++i) {  // over all of XXH3's code paths by length
    EXPECT_EQ(hash_text(text).size(), 32u);
    const std::string copy = text;
    EXPECT_EQ(hash_text(text), hash_text(copy));
    EXPECT_TRUE(seen.insert(hash_text(text)).second) << text.size();
    std::string other = text + 'a';
    other.front() ^= 1;
    EXPECT_TRUE(seen.insert(hash_text(other)).second) << text.size();
    text += 'a';
  }
}

}  // namespace
}  // namespace accsim
