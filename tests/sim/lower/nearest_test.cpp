#include "sim/lower/nearest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

/// The elements of a resize by the operator's definition, one by one.
std::vector<int64_t> elements_of(const std::string& places, const std::string& rounding, int64_t in,
                                 int64_t out) {
  std::vector<int64_t> result;
  const double scale = static_cast<double>(out) / static_cast<double>(in);
  for (int64_t o = 0; o < out; ++o) {
    const auto x = static_cast<double>(o);
    double at = 0;
    if (places == "half_pixel" || (places == "pytorch_half_pixel" && out > 1))
      at = (x + 0.5) / scale - 0.5;
    else if (places == "asymmetric")
      at = x / scale;
    else if (places == "align_corners" && out > 1)
      at = x * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    const double below = std::floor(at), part = at - below;
    double nearest = below;
    if (rounding == "ceil")
      nearest = std::ceil(at);
    else if (rounding == "round_prefer_floor")
      nearest = part > 0.5 ? below + 1 : below;
    else if (rounding == "round_prefer_ceil")
      nearest = part >= 0.5 ? below + 1 : below;
    result.push_back(std::min(std::max(static_cast<int64_t>(nearest), int64_t{0}), in - 1));
  }
  return result;
}

/// What a step says, or nothing where elements don't lie so.
std::vector<int64_t> elements_of(const std::optional<NearestStep>& step, int64_t out) {
  std::vector<int64_t> result;
  for (int64_t o = 0; step && o < out; ++o)
    result.push_back(step->first + o / step->repeats * step->stride);
  return result;
}

TEST(Nearest, IsAStepWhereTheElementsOfTheDefinitionAreEvenlyApart) {
  int steps = 0, none = 0;
  for (const char* places : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"})
    for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      for (int64_t in = 1; in <= 12; ++in)
        for (int64_t out = 1; out <= 24; ++out) {
          SingleNode node("Resize", 13);
          node.in({1, 1, in}).absent().absent().ints({1, 1, out});
          node.attr("coordinate_transformation_mode", places).attr("nearest_mode", rounding);
          ASSERT_TRUE(node.infer());
          const auto step = nearest_step(node.view(), 2);
          if (step) {
            ASSERT_EQ(elements_of(step, out), elements_of(places, rounding, in, out))
                << places << " " << rounding << " " << in << " to " << out;
          }
          ++(step ? steps : none);
        }
  EXPECT_GT(steps, 400);
  EXPECT_GT(none, 400);
}

TEST(Nearest, AreUsualResizesSteps) {
  const auto of = [](const char* places, const char* rounding, int64_t in, int64_t out) {
    SingleNode node("Resize", 13);
    node.in({1, 1, in}).absent().absent().ints({1, 1, out});
    node.attr("coordinate_transformation_mode", places).attr("nearest_mode", rounding);
    EXPECT_TRUE(node.infer());
    return elements_of(nearest_step(node.view(), 2), out);
  };
  EXPECT_EQ(of("asymmetric", "floor", 3, 6), (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(of("half_pixel", "round_prefer_floor", 3, 6), of("asymmetric", "floor", 3, 6));
  EXPECT_EQ(of("pytorch_half_pixel", "ceil", 6, 3), (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(of("asymmetric", "floor", 6, 3), (std::vector<int64_t>{0, 2, 4}));
  EXPECT_TRUE(of("align_corners", "floor", 3, 6).empty()) << "0 0 0 1 1 2";
}

TEST(Nearest, IsUpsampleTheResizeOfFlooredAsymmetricPlaces) {
  int steps = 0;
  for (int64_t in = 1; in <= 6; ++in)
    for (int64_t scale = 1; scale <= 4; ++scale) {
      const std::vector<double> scales{1, 1, static_cast<double>(scale)};
      SingleNode seven("Upsample", 7), nine("Upsample", 9), ten("Resize", 10);
      seven.in({1, 1, in}).attr("scales", scales);
      nine.in({1, 1, in}).reals(scales);
      ten.in({1, 1, in}).reals(scales);
      for (SingleNode* node : {&seven, &nine, &ten}) {
        ASSERT_TRUE(node->infer());
        const int64_t out = in * scale;
        const auto step = nearest_step(node->view(), 2);
        ASSERT_TRUE(step);
        EXPECT_EQ(elements_of(step, out), elements_of("asymmetric", "floor", in, out));
        ++steps;
      }
    }
  EXPECT_EQ(steps, 6 * 4 * 3);
}

TEST(Nearest, HaveOtherUpsamplesNoStep) {
  SingleNode linear("Upsample", 9), part("Upsample", 9);
  linear.in({1, 1, 4}).reals({1, 1, 2}).attr("mode", "linear");
  part.in({1, 1, 3}).reals({1, 1, 1.5});
  ASSERT_TRUE(linear.infer());
  ASSERT_TRUE(part.infer());
  EXPECT_FALSE(nearest_step(linear.view(), 2));
  EXPECT_FALSE(nearest_step(part.view(), 2));
}

}  // namespace
}  // namespace accsim::sim
