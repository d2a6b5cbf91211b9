#include "sim/map/pin.h"

#include <gtest/gtest.h>

#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {
namespace {

TEST(Pins, ParseWhatDescriptionsPrint) {
  const Tiling t{.dataflow = hw::Dataflow::input_stationary,
                 .images = 2,
                 .lines = 7,
                 .pixels = 56,
                 .outputs = 64,
                 .channels = 256,
                 .outputs_outer = true,
                 .im2col = true,
                 .staged = 128};
  const auto pin = parse_pin("conv*=" + to_string(t));
  ASSERT_TRUE(pin.ok()) << pin.errors().front().text();
  EXPECT_EQ(pin->layers, "conv*");
  EXPECT_EQ(pin->dataflow, std::vector<hw::Dataflow>{t.dataflow});
  EXPECT_EQ(pin->images, std::vector<int64_t>{2});
  EXPECT_EQ(pin->lines, std::vector<int64_t>{7});
  EXPECT_EQ(pin->pixels, std::vector<int64_t>{56});
  EXPECT_EQ(pin->outputs, std::vector<int64_t>{64});
  EXPECT_EQ(pin->channels, std::vector<int64_t>{256});
  EXPECT_EQ(pin->outputs_outer, std::vector<bool>{true});
  EXPECT_TRUE(pin->im2col);
  EXPECT_EQ(pin->staged, std::vector<int64_t>{128});
  for (const char* bad :
       {"", "x=", "n0", "nn4", "7", "1x2x3x4", "-1x2", "fast", "k99999999999999999999"})
    EXPECT_FALSE(parse_pin(bad).ok()) << bad;
  for (const char* twice : {"ws os", "n8 n16", "mnk nmk", "im2col im2col", "a=7x56 ws 7x28"}) {
    const auto pin2 = parse_pin(twice);
    ASSERT_FALSE(pin2.ok()) << twice;
    EXPECT_NE(pin2.errors().front().message.find("before it"), std::string::npos) << twice;
  }
}

TEST(Pins, ApplyToTheLayersThatTheirGlobMatches) {
  const auto applies = [](const char* text, const char* layer) {
    return parse_pin(text)->applies_to(layer);
  };
  EXPECT_TRUE(applies("ws", "conv1")) << "no glob: every layer";
  EXPECT_TRUE(applies("*=ws", "conv1"));
  EXPECT_TRUE(applies("/layer1/*=ws", "/layer1/0/conv1"));
  EXPECT_FALSE(applies("/layer1/*=ws", "/layer2/0/conv1"));
}

TEST(Pins, AreFreeUntilTheyPinSomething) {
  EXPECT_TRUE(MappingPin{}.is_free());
  MappingPin named;
  named.layers = "conv*";
  EXPECT_TRUE(named.is_free());
  for (const char* token : {"ws", "7x56", "2x7x56", "n64", "k256", "g2", "s64", "mnk", "im2col"})
    EXPECT_FALSE(parse_pin(token)->is_free()) << token;
}

}  // namespace
}  // namespace accsim::sim
