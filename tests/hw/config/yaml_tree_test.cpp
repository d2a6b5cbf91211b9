#include "hw/config/yaml_tree.h"

#include <random>

#include "config_fixture.h"

namespace accsim::hw {
namespace {

Error error_of(const std::string& text) {
  const auto result = parse_yaml(text, "f");
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? Error{} : result.errors().front();
}

TEST(YamlTree, AreDuplicatesKeptWithTheirPlaces) {
  const auto tree = parse_yaml("a: 1\nb:\n  - x\n  - 'y'\na: {c: }\n", "f");
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->entries.size(), 3u);
  EXPECT_EQ(tree->entries[0].key, "a");
  EXPECT_EQ(tree->entries[0].value.text, "1");
  EXPECT_FALSE(tree->entries[0].value.quoted);
  EXPECT_EQ(tree->entries[0].value.at.column, 4);
  ASSERT_EQ(tree->entries[1].value.items.size(), 2u);
  EXPECT_TRUE(tree->entries[1].value.items[1].quoted);
  EXPECT_EQ(tree->entries[1].value.items[1].at.line, 4);
  EXPECT_EQ(tree->entries[2].key, "a");
  EXPECT_EQ(tree->entries[2].at.line, 5);
  EXPECT_EQ(tree->entries[2].value.entries[0].value.kind, YamlNode::Kind::null);
}

TEST(YamlTree, DoSyntaxErrorsGiveTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a: 1\nb: [1, 2\n", "f:3"}, {"a: 1\n\tb: 2\n", "f:2"}, {"a: 1\n  b: 2\n", "f:2"},
      {"a: 1\nb: }\n", "f:2"},     {"a: \"\\q\"\n", "f:1"},   {"a: @x\n", "f:1"},
  };
  for (const auto& [text, where] : cases) {
    const Error e = error_of(text);
    EXPECT_EQ(e.code, Errc::parse) << text;
    EXPECT_EQ(e.where.rfind(where, 0), 0u) << text << e.text();
  }
}

TEST(YamlTree, AreAnchorsAliasesTagsAndSecondDocumentsRefused) {
  EXPECT_NE(error_of("a: &x 1\n").message.find("anchors"), std::string::npos);
  EXPECT_NE(error_of("a: &x [1]\n").message.find("anchors"), std::string::npos);
  EXPECT_NE(error_of("a: &x\n").message.find("anchors"), std::string::npos);
  EXPECT_NE(error_of("a: !!int 1\n").message.find("tags"), std::string::npos);
  EXPECT_NE(error_of("a: !my [1]\n").message.find("tags"), std::string::npos);
  EXPECT_NE(error_of("a: 1\n---\nb: 2\n").message.find("second document"), std::string::npos);
  EXPECT_EQ(error_of("ok: 1\na: *x\n").where.rfind("f:2", 0), 0u);
  // The classic bomb: each line is nine of the one before.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 8; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  EXPECT_EQ(error_of(bomb).where.rfind("f:1", 0), 0u);
}

TEST(YamlTree, MustKeysBeWords) {
  for (const char* text : {"? [a]\n: 1\n", "{a: 1}: 2\n", "? {a: b}\n: 1\n", "~: 1\n", ": 1\n"}) {
    EXPECT_NE(error_of(text).message.find("a key must be a word"), std::string::npos) << text;
  }
}

TEST(YamlTree, IsNestingLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']') + "\n";
  };
  EXPECT_TRUE(parse_yaml(nested(kYamlDepthMax), "f").ok());
  EXPECT_NE(error_of(nested(kYamlDepthMax + 1)).message.find("levels deep"), std::string::npos);
  EXPECT_EQ(error_of(nested(100000)).code, Errc::parse);
  EXPECT_EQ(error_of(std::string(100000, '{')).code, Errc::parse);
  std::string dashes, indented;
  for (int i = 0; i < 5000; ++i) dashes += "- ";
  EXPECT_EQ(error_of(dashes + "1").code, Errc::parse);
  for (size_t i = 0; i < 1000; ++i) indented += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(error_of(indented).code, Errc::parse);
}

TEST(YamlTree, MustTheFileBePlainText) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {std::string("a: 1\nb: \0\n", 10), "f:2:4"},  // NUL
      {"a: \x04\n", "f:1:4"},                       // the YAML parser's own end mark
      {"a: \x7f\n", "f:1:4"},
      {"a: \xff\n", "f:1:4"},
      {"a: \xc0\xaf\n", "f:1:4"},          // overlong
      {"a: \xe0\x80\xaf\n", "f:1:4"},      // overlong
      {"a: \xed\xa0\x80\n", "f:1:4"},      // surrogate
      {"a: \xf4\x90\x80\x80\n", "f:1:4"},  // beyond Unicode
      {"a: \xc3", "f:1:4"},                // cut off
      {std::string("\xff\xfe"
                   "a\0:\0",
                   6),
       "f:1:1"},  // UTF-16
  };
  for (const auto& [text, where] : cases) {
    const Error e = error_of(text);
    EXPECT_EQ(e.where, where);
    EXPECT_NE(e.message.find("UTF-8"), std::string::npos);
  }
  EXPECT_TRUE(parse_yaml("a: \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80  # \xc2\xb5\r\n", "f").ok());
  EXPECT_TRUE(parse_yaml("\xef\xbb\xbf"
                         "a: 1\n",
                         "f")
                  .ok());  // byte order mark
}

TEST(YamlTree, IsUserTextInMessagesShortAndClean) {
  EXPECT_EQ(quoted_text("abc"), "\"abc\"");
  EXPECT_EQ(quoted_text("a\nb\x01"), "\"a?b?\"");
  EXPECT_EQ(quoted_text(std::string(100, 'x')), '"' + std::string(40, 'x') + "...\"");
  EXPECT_EQ(quoted_text("\xff"), "\"?\"");
}

/// One random edit: a byte, a copied or removed range, a swapped pair of lines or a YAML indicator.
std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  const std::string indicators = "-?:,[]{}#&*!|>'\"%@` \n\t0~<=.";
  const size_t at = below(text.size()), length = below(60);
  switch (below(5)) {
    case 0:
      text[at] = static_cast<char>(below(256));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(below(text.size()), text.substr(at, length));
      break;
    case 3:
      text.insert(at, 1, indicators[below(indicators.size())]);
      break;
    default:
      text[at] = indicators[below(indicators.size())];
      break;
  }
  return text;
}

TEST(YamlTree, DoRandomEditsOfAMachineNeverCrash) {
  const std::string machine = test::read_file(test::config_path("64x64.yaml"));
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text = machine;
    for (size_t edits = 1 + random() % 6; edits > 0 && !text.empty(); --edits)
      text = mutated(text, random);
    const auto result = parse_hw(text, "m.yaml");
    if (result.ok()) continue;
    for (const Error& e : result.errors()) {
      EXPECT_FALSE(e.message.empty());
      EXPECT_EQ(e.where.rfind("m.yaml", 0), 0u);
    }
  }
}

}  // namespace
}  // namespace accsim::hw
