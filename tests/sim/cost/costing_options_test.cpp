#include "sim/cost/costing_options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/costing_samples.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using Words = std::vector<std::string>;

constexpr uint32_t kKeywords = kLoadKeywords | kCostKeywords | kRunKeywords;

std::string joined(const Errors& errors) {
  std::string out;
  for (const Error& error : errors) out += error.text() + "\n";
  return out;
}

TEST(CostingOptions, HaveOneRowAKeyAndAUse) {
  std::set<std::string> keys;
  for (const CostingOption& row : costing_options()) {
    EXPECT_TRUE(keys.insert(row.key()).second) << row.key();
    EXPECT_TRUE(row.option.starts_with("--"));
    EXPECT_FALSE(row.about.empty() || row.about.ends_with('.')) << row.option;
    EXPECT_NE(row.uses, 0U) << row.option;
    EXPECT_EQ(find_option(row.key(), row.uses), &row);
    EXPECT_EQ(find_option(row.key(), ~row.uses), nullptr);
    EXPECT_TRUE((row.uses & kKeywords) == 0 || !row.annotation.empty()) << row.option;
  }
}

TEST(CostingOptions, AreByDefaultWhatTheirRowsSay) {
  for (const CostingOption& row : costing_options()) {
    CostingOptions options;
    EXPECT_EQ(option_words(row, options), Words());
    if (row.standard.empty()) continue;
    EXPECT_EQ(joined(take_option(row, {row.standard}, options)), "");
    for (const CostingOption& other : costing_options())
      EXPECT_EQ(option_words(other, options), Words()) << row.option << " sets " << other.option;
  }
}

TEST(CostingOptions, SayWhatTheyWereGiven) {
  for (const CostingOption& row : costing_options()) {
    CostingOptions options;
    const Words good = test::samples_of(row).good;
    EXPECT_EQ(joined(take_option(row, good, options)), "");
    for (const CostingOption& other : costing_options())
      EXPECT_EQ(option_words(other, options), &other == &row ? good : Words()) << row.option;
  }
}

TEST(CostingOptions, RefuseWhatTheyCannotBe) {
  for (const CostingOption& row : costing_options())
    for (const std::string& word : test::samples_of(row).bad) {
      CostingOptions options;
      const Errors errors = take_option(row, {word}, options);
      ASSERT_FALSE(errors.empty()) << row.option << " '" << word << "'";
      EXPECT_EQ(errors.front().code, Errc::usage);
      EXPECT_EQ(errors.front().where, row.option);
      EXPECT_EQ(option_words(row, options), Words()) << word;
    }
  CostingOptions options;
  const CostingOption& bind = *find_option("bind", kGraphRows);
  EXPECT_EQ(joined(take_option(bind, {"a=1", "a=2"}, options)), "--bind: 'a' is given twice\n");
}

TEST(CostingOptions, AreCheckedTogether) {
  CostingOptions options;
  EXPECT_TRUE(check_together(options).empty());
  options.map.objective = Objective::energy;
  EXPECT_TRUE(check_together(options).empty()) << "a slack that nobody asked for";
  options.map.slack = 0.02;
  EXPECT_EQ(joined(check_together(options)),
            "--slack: is for the objective cycles; by energy nothing is left to it\n");
}

std::string document(const char* name) {
  std::ifstream file(kSource + "/docs/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The first line of a text with a part of it; "": there is none.
std::string line_of(const std::string& text, const std::string& part) {
  const size_t at = text.find(part);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

/// Documents list options by hand or from a door; each must be there, in tables with its default.
TEST(CostingOptions, StandInTheDocuments) {
  const std::string commands = document("options.md"), spec = document("sweep-spec.md"),
                    page = document("serve.md"), python = document("python.md");
  for (const CostingOption& row : costing_options()) {
    const std::string key = "`" + row.key() + "`";
    const auto is_in = [&](const std::string& text, const std::string& part, uint32_t uses) {
      return (row.uses & uses) == 0 || text.find(part) != std::string::npos;
    };
    EXPECT_TRUE(is_in(line_of(commands, "| `" + row.option), "| " + row.standard + " |", ~0U))
        << row.option << " in options.md";
    EXPECT_TRUE(is_in(spec, key, kSpecKeys | kModelKeys)) << key << " in sweep-spec.md";
    EXPECT_TRUE(is_in(line_of(spec, "| " + key), "`" + row.standard + "`", kSpecKeys))
        << key << " in sweep-spec.md";
    EXPECT_TRUE(is_in(page, "\"" + row.key() + "\": WORD", kPageKeys)) << key << " in serve.md";
    EXPECT_TRUE(is_in(python, key, kKeywords)) << key << " in python.md";
  }
}

}  // namespace
}  // namespace accsim::sim
