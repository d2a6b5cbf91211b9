#include "sim/sweep/expression.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

const std::vector<std::string> kNames = {"a", "b", "array.rows"};

Result<Expression> parse(std::string_view text) {
  return Expression::parse(
      text,
      [](std::string_view n) -> std::optional<size_t> {
        for (size_t i = 0; i < kNames.size(); ++i)
          if (kNames[i] == n) return i;
        return std::nullopt;
      },
      kNames);
}

TEST(Expression, MeansWhatArithmeticMeans) {
  constexpr double a = 6, b = 4, rows = 64;
  const std::vector<double> values = {a, b, rows};
  const std::pair<const char*, double> cases[] = {
      {"a + b * 2", a + b * 2},
      {"(a + b) * 2", (a + b) * 2},
      {"a - b - 1", a - b - 1},
      {"2 ^ 3 ^ 2", 512},
      {"-a ^ 2", -36},
      {"a / b / 2", a / b / 2},
      {"7 % 4", 3},
      {"array.rows / 8", rows / 8},
      {"a + b <= 10", 1},
      {"a<b || b<a", 1},
      {"a<b || 0 && 1", 0},
      {"!(a == 6)", 0},
      {"a != b", 1},
      {"min(a, b) + max(a, b)", a + b},
      {"ceil(1.25) + floor(1.75)", 3},
      {"sqrt(array.rows) + log2(array.rows)", 14},
      {"1e3", 1000},
      {"0 / 0 <= 1", 0},
  };
  for (const auto& [text, expected] : cases) {
    const auto e = parse(text);
    ASSERT_TRUE(e.ok()) << text << ": " << e.errors().front().text();
    EXPECT_DOUBLE_EQ(e->value(values), expected) << text;
  }
  EXPECT_FALSE(parse("0 / 0")->holds(values));
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {{"", "column 1"},
                                                       {"a +", "missing at the end"},
                                                       {"(a", "\")\" is missing"},
                                                       {"array.row", "array.rows"},
                                                       {"a b", "isn't expected"},
                                                       {"a <= b <= 3", "chained"},
                                                       {"cos(a)", "no function"},
                                                       {"min(a)", "2 arguments"},
                                                       {"3a", "operator is missing"},
                                                       {"a = 3", "isn't expected"},
                                                       {"*", "missing before"}};
  for (const auto& [text, message] : cases) {
    const auto e = parse(text);
    ASSERT_FALSE(e.ok()) << text;
    EXPECT_NE(e.errors().front().text().find(message), std::string::npos)
        << e.errors().front().text();
  }
}

TEST(Expression, DeepOrLongTextIsRefused) {
  EXPECT_FALSE(parse(std::string(1000, '(') + "a" + std::string(1000, ')')).ok());
  EXPECT_FALSE(parse(std::string(1500, '-') + "a").ok());
  std::string sum = "a";
  for (int i = 0; i < 5000; ++i) sum += "+a";
  EXPECT_FALSE(parse(sum).ok());
}

}  // namespace
}  // namespace accsim::sim
