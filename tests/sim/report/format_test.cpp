#include "sim/report/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace accsim::sim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Format, AreThousandsSeparated) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(std::numeric_limits<int64_t>::max()), "9,223,372,036,854,775,807");
  EXPECT_EQ(format_fixed(1234.56, 1), "1,234.6");
  EXPECT_EQ(format_fixed(-999.4, 0), "-999");
  EXPECT_EQ(format_fixed(1e6, 2), "1,000,000.00");
}

TEST(Format, AreThreeDigitsKeptWithAPrefix) {
  EXPECT_EQ(format_si(0), "0");
  EXPECT_EQ(format_si(7), "7");
  EXPECT_EQ(format_si(999), "999");
  EXPECT_EQ(format_si(999.6), "1.00k");
  EXPECT_EQ(format_si(1000), "1.00k");
  EXPECT_EQ(format_si(9994), "9.99k");
  EXPECT_EQ(format_si(9996), "10.0k");
  EXPECT_EQ(format_si(99960), "100k");
  EXPECT_EQ(format_si(999.4e6), "999M");
  EXPECT_EQ(format_si(999.6e6), "1.00G");
  EXPECT_EQ(format_si(-4.5e9), "-4.50G");
  EXPECT_EQ(format_si(0.25), "250m");
  EXPECT_EQ(format_si(1.234e-6), "1.23u");
  EXPECT_EQ(format_si(9.2e18), "9.20E");
  EXPECT_EQ(format_si(1e-30), "0");
  EXPECT_EQ(format_si(4.5e6, "B"), "4.50 MB");
  EXPECT_EQ(format_si(12, "B"), "12 B");
}

TEST(Format, IsANumberThatIsNotFiniteADash) {
  for (const double v : {kInf, -kInf, kNan}) {
    EXPECT_EQ(format_si(v), "-");
    EXPECT_EQ(format_fixed(v, 2), "-");
  }
}

TEST(Format, IsNothingBelowNothing) {
  EXPECT_EQ(format_fixed(-0.4, 0), "0");
  EXPECT_EQ(format_fixed(-0.004, 2), "0.00");
  EXPECT_EQ(format_fixed(-0.0, 1), "0.0");
  EXPECT_EQ(format_fixed(-0.05, 1), "-0.1");
  EXPECT_EQ(format_si(-0.0), "0");
  EXPECT_EQ(format_digits(-0.0), "0");
}

TEST(Format, AreDigitsThoseThatAreMeant) {
  EXPECT_EQ(format_digits(0.1 + 0.2), "0.3");
  EXPECT_EQ(format_digits(638720.6399999999), "638720.6");
  EXPECT_EQ(format_digits(123456.78901234567), "123456.8");
  EXPECT_EQ(format_digits(1.0 / 3), "0.3333333");
  EXPECT_EQ(format_digits(-2.0 / 3e6), "-6.666667e-07");
  EXPECT_EQ(format_digits(1.8166e-05), "1.8166e-05");
  EXPECT_EQ(format_digits(999999.96), "1000000");
  EXPECT_EQ(format_digits(70121809.08), "70121809") << "no exponent before the point";
  EXPECT_EQ(format_digits(1234567890123.5), "1234567890124");
  EXPECT_EQ(format_digits(1234567890123456), "1234567890123456") << "a count";
  EXPECT_EQ(format_digits(1.23456789e20), "1.234568e+20");
  EXPECT_EQ(format_digits(kInf), "-");
}

TEST(Format, IsSevenDigitsWhatAnyNumberKeeps) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-300, 300), digits(1, 10);
  for (int i = 0; i < 10'000; ++i) {
    const double value = digits(random) * std::pow(10, exponent(random));
    const std::string text = format_digits(value);
    EXPECT_NEAR(std::stod(text) / value, 1, 0.51e-6) << text;
    EXPECT_LE(std::count_if(text.begin(), text.end(), ::isdigit), value < 1e16 ? 16 : 10) << text;
  }
}

TEST(Format, IsTheTimeThatIsLeftNeverLessThanNothing) {
  EXPECT_EQ(format_left(3, 1, 4), "9 s left");
  EXPECT_EQ(format_left(2.5, 0, 4), "? s left");
  EXPECT_EQ(format_left(0, 1, 4), "0 s left");
  EXPECT_EQ(format_left(2.5, 4, 4), "0 s left");
  EXPECT_EQ(format_left(2.5, 5, 4), "0 s left") << "a job that became smaller";
  EXPECT_EQ(format_left(2.5, 0, 0), "0 s left");
  EXPECT_EQ(format_left(1, 999'999'999, 1'000'000'000), "1 s left") << "not done yet";
  EXPECT_EQ(format_left(0.3, 3, 4), "1 s left");
}

TEST(Format, AreBinarySizesShort) {
  EXPECT_EQ(format_kib(96), "96 KiB");
  EXPECT_EQ(format_kib(2048), "2 MiB");
  EXPECT_EQ(format_kib(1536), "1.5 MiB");
}

TEST(Format, AreBothEndsOfALongNameKept) {
  EXPECT_EQ(shorten_middle("short", 5), "short");
  EXPECT_EQ(shorten_middle("abcdefghij", 8), "ab~fghij");
  for (size_t width = 5; width < 12; ++width)
    EXPECT_EQ(shorten_middle("a rather long name", width).size(), width);
  EXPECT_EQ(shorten_middle("\u5c64\u5c64\u5c64\u5c64", 7), "\u5c64~\u5c64\u5c64");
}

TEST(Format, ArePadsCountedInColumns) {
  EXPECT_EQ(pad_right("\u5c64", 4), "\u5c64  ");
  EXPECT_EQ(pad_left("e\u0301", 3), "  e\u0301");
  EXPECT_EQ(pad_right("\x1b[1mab\x1b[0m", 3), "\x1b[1mab\x1b[0m ");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(Format, AreLinesBrokenAtSpaces) {
  EXPECT_EQ(wrap_words("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap_words("", 7), std::vector<std::string>{""});
  EXPECT_EQ(wrap_words("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap_words("a bcdefgh", 4), (std::vector<std::string>{"a", "bcde", "fgh"}));
  EXPECT_EQ(wrap_words("\u5c64\u5c64\u5c64 a", 4),
            (std::vector<std::string>{"\u5c64\u5c64", "\u5c64 a"}));
  EXPECT_EQ(wrap_words("\u5c64\u5c64", 1), (std::vector<std::string>{"\u5c64", "\u5c64"}));
}

TEST(Format, DoLinesGoOnFurtherIn) {
  EXPECT_EQ(wrap_lines("one two three four\nfive\n", 9, 2), "one two\n  three\n  four\nfive\n");
  EXPECT_EQ(wrap_lines("one two three", 9, 0), "one two\nthree");
  EXPECT_EQ(wrap_lines("  one two three", 9, 2), "  one two\n    three");
  EXPECT_EQ(wrap_lines("\n\na\n", 9), "\n\na\n");
  EXPECT_EQ(wrap_lines("", 9), "");
}

TEST(Format, AreBarsAsLongAsTheirPart) {
  EXPECT_EQ(format_bar(1, 4, false), "####");
  EXPECT_EQ(format_bar(0.5, 4, false), "##");
  EXPECT_EQ(format_bar(0.001, 4, false), ".");
  EXPECT_EQ(format_bar(0, 4, false), "");
  EXPECT_EQ(format_bar(kNan, 4, true), "");
  EXPECT_EQ(format_bar(kInf, 4, false), "####");
  EXPECT_EQ(format_bar(1, 2, true), "██");
  EXPECT_EQ(format_bar(11.0 / 16, 2, true), "█▍");
  EXPECT_EQ(format_bar(0.001, 2, true), "▏");
}

TEST(Format, IsThereColourOnlyWhenAsked) {
  EXPECT_EQ(paint("x", Ink::red, false), "x");
  EXPECT_EQ(paint("x", Ink::red, true), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(paint("x", Ink::plain, true), "x");
}

}  // namespace
}  // namespace accsim::sim
