#include "sim/base/key_bytes.h"

#include <gtest/gtest.h>

namespace accsim {
namespace {

TEST(KeyBytes, AreEqualForEqualValuesOnly) {
  const auto key = [](int64_t a, bool b, double c) { return KeyBytes().add(a, b, c).take_bytes(); };
  EXPECT_EQ(key(1, true, 0.5), key(1, true, 0.5));
  EXPECT_NE(key(2, true, 0.5), key(1, true, 0.5));
  EXPECT_NE(key(1, false, 0.5), key(1, true, 0.5));
  EXPECT_NE(key(1, true, 0.25), key(1, true, 0.5));
}

TEST(KeyBytes, ListsAndTextsDoNotRunIntoEachOther) {
  const auto lists = [](const std::vector<int>& a, const std::vector<int>& b) {
    return KeyBytes().add(a).add(b).take_bytes();
  };
  EXPECT_NE(lists({1, 2}, {3}), lists({1}, {2, 3}));
  const auto texts = [](std::string_view a, std::string_view b) {
    return KeyBytes().add(a).add(b).take_bytes();
  };
  EXPECT_NE(texts("ab", "c"), texts("a", "bc"));
}

}  // namespace
}  // namespace accsim
