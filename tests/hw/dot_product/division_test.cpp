#include "hw/dot_product/division.h"

#include <gtest/gtest.h>

#include "tests/hw/dot_product/measured.h"

namespace accsim::hw {
namespace {

/// Of rows that are one part of a layer: the whole layer's height of input and output, and its pad.
struct WholeLayer {
  int64_t height, out_height, pad;
};
const std::map<std::string, WholeLayer> kWhole{
    {"own_mbv2_b1_project", {112, 112, 0}},   {"own_resnet50_l2_0_conv2", {56, 28, 1}},
    {"own_resnet50_l3_1_conv1", {14, 14, 0}}, {"own_resnet50_l1_0_conv2", {56, 56, 1}},
    {"own_mbv2_b2_expand", {112, 112, 0}},    {"own_alexnet_conv1", {227, 55, 0}},
    {"own_resnet50_conv1", {224, 112, 3}},    {"own_vgg16_conv2_1", {112, 112, 1}},
};

TEST(DotProductDivision, IsTheCompilersAsTheRowsSay) {
  int seen = 0;
  for (const MeasuredRow& row : measured_convolutions("layers")) {
    const std::string& trace = row.at("trace");
    const DotProductLayer measured = measured_layer(row);
    Convolution conv{measured.sizes, number(row, "stride_y"),
                     (number(row, "R") - 1) * number(row, "dil_y") + 1, number(row, "pad_t")};
    size_t part = 0;
    if (const size_t at = trace.find("_part"); at != std::string::npos) {
      std::string name = trace.substr(0, at);
      for (const std::string end : {"_mid", "_last"})
        if (name.ends_with(end)) name.resize(name.size() - end.size());
      const WholeLayer& whole = kWhole.at(name);
      conv.sizes.height = whole.height;
      conv.sizes.out_height = whole.out_height;
      conv.pad = whole.pad;
      part = std::stoul(trace.substr(at + 5)) - 1;
    }
    const Result<BankDivision> banks = compiler_division(conv, kSmall);
    ASSERT_TRUE(banks) << trace;
    EXPECT_EQ(*banks, measured.banks) << trace;
    EXPECT_EQ(cut_by_lines(conv, *banks, kSmall)->at(part), measured) << trace;
    ++seen;
  }
  EXPECT_EQ(seen, 79);
}

/// Every division, good or bad, against the one that the search takes.
TEST(DotProductDivision, HasNoOtherFewerCycles) {
  const std::array convs{Convolution{{56, 56, 64, 64, 3, 3, 56, 56}, 1, 3, 1},
                         Convolution{{28, 28, 128, 128, 3, 3, 28, 28}, 1, 3, 1},
                         Convolution{{14, 14, 1024, 256, 1, 1, 14, 14}},
                         Convolution{{7, 7, 24, 40, 3, 3, 7, 7}, 1, 3, 1}};
  for (const Convolution& conv : convs) {
    const ConvolutionPlan best = *search_division(conv, kSmall);
    for (int64_t weights = 1; weights < kSmall.banks; ++weights) {
      const auto other = divide(conv, {kSmall.banks - weights, weights}, kSmall);
      if (!other) continue;
      EXPECT_LE(best.cycles, other->cycles) << weights;
    }
  }
}

/// The compiler refuses one of ResNet-50's convolutions (docs/dot-product.md); a search doesn't.
TEST(DotProductDivision, HasAllOfResNet50APlace) {
  int refused = 0;
  int64_t outputs = 0;
  for (const Convolution& conv : resnet50()) {
    const Result<ConvolutionPlan> best = search_division(conv, kSmall);
    ASSERT_TRUE(best);
    for (const DotProductLayer& part : best->layers) outputs += part.sizes.out_height;
    const Result<BankDivision> banks = compiler_division(conv, kSmall);
    if (!banks) {  // a group has 9 banks, and the compiler gives 8
      EXPECT_FALSE(divide(conv, {24, 8}, kSmall));
      EXPECT_LE(best->cycles, divide(conv, {23, 9}, kSmall)->cycles);
      ++refused;
      continue;
    }
    EXPECT_LE(best->cycles, divide(conv, *banks, kSmall)->cycles);
  }
  EXPECT_EQ(refused, 1);
  int64_t lines = 0;
  for (const Convolution& conv : resnet50()) lines += conv.sizes.out_height;
  EXPECT_EQ(outputs, lines);
}

TEST(DotProductDivision, IsWhatHasNoRoomRefused) {
  const Convolution wide{{1 << 20, 8, 8, 8, 3, 3, 1 << 20, 8}, 1, 3, 1};
  EXPECT_EQ(search_division(wide, kSmall).errors().front().code, Errc::capacity);
  Convolution wrong{{8, 8, 8, 8, 3, 3, 8, 8}, 1, 2, 1};  // three rows of taps in two lines
  EXPECT_EQ(search_division(wrong, kSmall).errors().front().code, Errc::invalid);
}

}  // namespace
}  // namespace accsim::hw
