#include "sim/report/short_names.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/report/characters.h"

namespace accsim::sim {
namespace {

using Names = std::vector<std::string>;

/// Every text fits, names that fit are as they were, and different ones stay different.
void expect_good(const Names& names, size_t width, bool distinct = true) {
  const Names texts = shorten_names(names, width);
  ASSERT_EQ(texts.size(), names.size());
  std::set<std::string> different(names.begin(), names.end()), shown(texts.begin(), texts.end());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_LE(display_width(texts[i]), width) << names[i];
    if (display_width(names[i]) <= width) {
      EXPECT_EQ(texts[i], names[i]);
    }
  }
  if (distinct) {
    EXPECT_EQ(shown.size(), different.size()) << "width " << width;
  }
}

TEST(ShortNames, AreNamesThatFitLeftAlone) {
  const Names names = {"/conv1/Conv", "", "a", "/conv1/Conv"};
  EXPECT_EQ(shorten_names(names, 11), names);
  EXPECT_TRUE(shorten_names({}, 5).empty());
}

TEST(ShortNames, DoRepeatedPartsGoFirst) {
  const Names names = {"/features/features.1/conv/conv.0/conv.0.0/Conv",
                       "/features/features.10/conv/conv.0/conv.0.0/Conv", "/classifier/Gemm"};
  EXPECT_EQ(shorten_names(names, 30),
            (Names{"~features.1/conv.0.0/Conv", "~features.10/conv.0.0/Conv", "/classifier/Gemm"}));
  EXPECT_EQ(shorten_names(names, 20),
            (Names{"~f.1/conv.0.0/Conv", "~f.10/conv.0.0/Conv", "/classifier/Gemm"}));
}

TEST(ShortNames, DoCommonLeadingPartsGo) {
  EXPECT_EQ(shorten_names({"/model/decoder/block7/query/MatMul", "/model/decoder/block7/key/MatMul",
                           "total of 2"},
                          16),
            (Names{"~query/MatMul", "~key/MatMul", "total of 2"}));
}

TEST(ShortNames, ArePartsOfOtherSpellingsKnown) {
  EXPECT_EQ(shorten_names({"model.layers.0.self_attn.q_proj", "encoder.0"}, 17),
            (Names{"~m.l.0.sa.q_proj", "encoder.0"}));
  EXPECT_EQ(shorten_names({"resnetv17_stage1_conv0_forward", "other"}, 20),
            (Names{"~r17_s1_c0_forward", "other"}));
}

TEST(ShortNames, AreNamesNumberedWhenNothingElseTellsThemApart) {
  const std::string same(40, 'x');
  const Names texts = shorten_names({same + "1" + same, same + "2" + same}, 8);
  EXPECT_EQ(texts, (Names{"~xxxxx#1", "~xxxxx#2"}));
}

TEST(ShortNames, DoesATextThatIsTakenStayItsOwners) {
  expect_good({"~f.1/c/Conv", "/first.1/features/features.1/c/Conv", "#1", "#2"}, 11);
}

TEST(ShortNames, AreNamesOfNetworksDifferentAtEveryWidth) {
  Names names;
  for (int block = 0; block < 18; ++block)
    for (const char* layer :
         {"conv.0/conv.0.0/Conv", "conv.0/conv.0.2/Clip", "conv.1/conv.1.0/Conv", "conv.2/Conv"})
      names.push_back("/features/features." + std::to_string(block) + "/conv/" + layer);
  for (int block = 0; block < 12; ++block)
    for (const char* layer : {"attention/self/query/MatMul", "attention/self/key/MatMul",
                              "attention/output/dense/Add", "output/LayerNorm/Sqrt"})
      names.push_back("/bert/encoder/layer." + std::to_string(block) + "/" + layer);
  for (size_t width = 6; width < 70; ++width) expect_good(names, width);
}

TEST(ShortNames, AreRandomNamesDifferentAtEveryWidth) {
  std::mt19937 random(7);
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  for (int round = 0; round < 300; ++round) {
    const std::string alphabet = round % 3 == 0 ? "a1/" : "abC01./_~#-";
    Names names;
    for (int n = pick(60); n >= 0; --n) {
      std::string name;
      for (int length = pick(40); length > 0; --length)
        name += alphabet[static_cast<size_t>(pick(static_cast<int>(alphabet.size())))];
      names.push_back(name);
    }
    // Up to 61 names: "#" and three digits (those of a name may be taken), "~" and one more.
    for (const size_t width : {6U, 7U, 9U, 12U, 20U, 39U}) expect_good(names, width);
    for (const size_t width : {1U, 2U, 3U, 5U}) expect_good(names, width, false);
  }
}

TEST(ShortNames, AreCharactersOfTwoColumnsKeptWhole) {
  const Names names = {"/\u7de8\u78bc\u5668/\u5c64.1/\u6ce8\u610f",
                       "/\u7de8\u78bc\u5668/\u5c64.2/\u6ce8\u610f"};
  EXPECT_EQ(shorten_names(names, 10), (Names{"~\u5c64.1/\u6ce8\u610f", "~\u5c64.2/\u6ce8\u610f"}));
  for (size_t width = 4; width < 20; ++width) {
    expect_good(names, width);
    for (const std::string& text : shorten_names(names, width))
      EXPECT_EQ(printable(text), text) << "a character was cut";
  }
}

TEST(ShortNames, AreThousandsOfNamesDifferent) {
  Names names;
  for (int i = 0; i < 5000; ++i)
    names.push_back("/a/rather/long/name/of/a/layer." + std::to_string(i * 7919 % 100'003) +
                    "/Conv");
  for (const size_t width : {8U, 12U, 20U, 40U}) expect_good(names, width);
}

}  // namespace
}  // namespace accsim::sim
