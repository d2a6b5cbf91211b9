#include "sim/report/characters.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

/// Widths after East_Asian_Width and General_Category of Unicode's tables.
TEST(Characters, TakeTheColumnsThatUnicodeSays) {
  EXPECT_EQ(display_width("conv1"), 5U);
  EXPECT_EQ(display_width("d\u00e9j\u00e0"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U) << "a mark stands on its letter";
  EXPECT_EQ(display_width("\u5c64"), 2U) << "CJK";
  EXPECT_EQ(display_width("\ud55c\uae00"), 4U) << "Hangul";
  EXPECT_EQ(display_width("\u1112\u1161\u11ab"), 2U) << "Hangul taken apart";
  EXPECT_EQ(display_width("\u0928\u0940"), 2U) << "a vowel sign beside its letter";
  EXPECT_EQ(display_width("\u0928\u0941"), 1U) << "and one below it";
  EXPECT_EQ(display_width("\uff21"), 2U) << "fullwidth";
  EXPECT_EQ(display_width("\uff8a"), 1U) << "halfwidth";
  EXPECT_EQ(display_width("\U0001f642"), 2U) << "emoji";
  EXPECT_EQ(display_width("\u00b5\u0394\u2192\u2588"), 4U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Characters, AreCutWholeAndWithTheirMarks) {
  EXPECT_EQ(leading_part("\u5c64\u5c64", 3), "\u5c64");
  EXPECT_EQ(leading_part("ae\u0301o", 2), "ae\u0301");
  EXPECT_EQ(leading_part("abc", 0), "");
  EXPECT_EQ(trailing_part("\u5c64\u5c64", 3), "\u5c64");
  EXPECT_EQ(trailing_part("ae\u0301o", 1), "o");
  EXPECT_EQ(trailing_part("ae\u0301o", 2), "e\u0301o");
  EXPECT_EQ(trailing_part("abc", 5), "abc");
}

TEST(Characters, AreOnlyThoseThatAreWellFormed) {
  for (const std::string_view wrong : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                                       "\xe2\x82", "\xf4\x90\x80\x80", "\xff"}) {
    const Character c = character_at(wrong, 0);
    EXPECT_FALSE(c.valid);
    EXPECT_EQ(c.bytes, 1U);
  }
  EXPECT_EQ(character_at("\U0001f642", 0).code, 0x1f642U);
  EXPECT_EQ(character_at("x\u00e9", 1).bytes, 2U);
}

TEST(Printable, AreNamesOfEveryScriptLeftAlone) {
  for (const char* name : {"/conv1/Conv", "d\u00e9j\u00e0 vu", "\u5c64/\u30b3\u30f3\u30d6",
                           "\u0441\u043b\u043e\u0439", "\U0001f642", "back\\slash", ""})
    EXPECT_EQ(printable(name), name);
}

TEST(Printable, DoTerminalCodesNotReachATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f~"), "a\\x1b[31m\\x0a\\x7f~");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m") << "CSI in one character";
  EXPECT_EQ(printable("\x9b"
                      "31m \xc3"),
            "\\x9b31m \\xc3")
      << "and in one byte";
  EXPECT_EQ(printable("a\u202egnp.exe\u2066"), "a\\u202egnp.exe\\u2066") << "turned around";
  EXPECT_EQ(printable("a\n\tb\x1b", "\n\t"), "a\n\tb\\x1b");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = printable(std::string(1, static_cast<char>(byte)));
    for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << byte;
  }
}

}  // namespace
}  // namespace accsim::sim
