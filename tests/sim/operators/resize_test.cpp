#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

TEST(Resize, AreScalesTakenInSinglePrecision) {
  for (int64_t in = 1; in <= 40; ++in)
    for (float scale : {0.1F, 0.3F, 0.6F, 0.7F, 1.5F, 2.0F, 3.3F}) {
      SingleNode node("Resize", 13);
      node.in({1, 1, in, 4}).absent().reals({1, 1, scale, 1});
      const auto want = static_cast<int64_t>(std::floor(static_cast<float>(in) * scale));
      ASSERT_EQ(shape_or_error(node), to_string({1, 1, want, 4}));
    }
}

TEST(Resize, HasEachOpsetItsInputs) {
  SingleNode ten("Resize", 10);
  ten.in({1, 1, 2, 2}).reals({1, 1, 2, 3});
  EXPECT_EQ(shape_or_error(ten), "1x1x4x6");
  SingleNode eleven("Resize", 11);
  eleven.in({1, 1, 2, 2}).reals({}).reals({}).ints({1, 1, 5, 7});
  EXPECT_EQ(shape_or_error(eleven), "1x1x5x7");
  SingleNode neither("Resize", 13);
  neither.in({1, 1, 2, 2});
  EXPECT_FALSE(neither.infer().ok());
  SingleNode both("Resize", 13);
  both.in({1, 1, 2, 2}).absent().reals({1, 1, 2, 2}).ints({1, 1, 5, 7});
  EXPECT_FALSE(both.infer().ok());
}

TEST(Resize, DoAxesAndPolicyKeepTheAspectRatio) {
  const auto resized = [](const char* policy) {
    SingleNode node("Resize", 18);
    node.in({1, 3, 20, 40}).absent().absent().ints({30, 30});
    node.list("axes", {3, 2}).attr("keep_aspect_ratio_policy", policy);
    return shape_or_error(node);
  };
  EXPECT_EQ(resized("stretch"), "1x3x30x30");
  EXPECT_EQ(resized("not_larger"), "1x3x15x30");
  EXPECT_EQ(resized("not_smaller"), "1x3x30x60");
  EXPECT_NE(resized("sideways").find("keep_aspect_ratio_policy"), std::string::npos);
}

/// As runtimes do it (tests/onnxruntime/kernels_test.py has its values): all of what is kept is
/// scaled to the size that the whole would have.
TEST(Resize, HasWhatIsKeptTheSizeOfTheWhole) {
  SingleNode node("Resize", 13);
  node.in({1, 1, 4, 4}).reals({0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75}).reals({1, 1, 4, 4});
  node.attr("coordinate_transformation_mode", "tf_crop_and_resize");
  EXPECT_EQ(shape_or_error(node), "1x1x16x16");
}

TEST(Resize, AreTapsPerResizedAxis) {
  const auto taps = [](const char* mode, double h, double w, int antialias = 0) {
    SingleNode node("Resize", 18);
    node.in({1, 1, 8, 8}).absent().reals({1, 1, h, w}).attr("mode", mode);
    node.attr("antialias", antialias);
    EXPECT_TRUE(node.infer().ok());
    return item<VectorOp>(node.cost())[VectorClass::resize] / elements(node.out());
  };
  EXPECT_EQ(taps("nearest", 2, 2), 1);
  EXPECT_EQ(taps("linear", 2, 2), 4);
  EXPECT_EQ(taps("linear", 2, 1), 2);
  EXPECT_EQ(taps("cubic", 2, 2), 16);
  EXPECT_EQ(taps("linear", 0.25, 1, 1), 8);  // a filter four times as wide
}

TEST(Resize, AreMalformedScalesErrors) {
  for (double bad : {-1.0, 0.0, 1e30, std::numeric_limits<double>::quiet_NaN()}) {
    SingleNode node("Resize", 13);
    node.in({1, 1, 2, 2}).absent().reals({1, 1, bad, 1});
    EXPECT_FALSE(node.infer().ok()) << bad;
  }
  SingleNode few("Resize", 13);
  few.in({1, 1, 2, 2}).absent().reals({2, 2});
  EXPECT_FALSE(few.infer().ok());
  SingleNode negative("Resize", 13);
  negative.in({1, 1, 2, 2}).absent().absent().ints({1, 1, -5, 2});
  EXPECT_FALSE(negative.infer().ok());
  SingleNode twice("Resize", 18);
  twice.in({1, 1, 2, 2}).absent().reals({2, 2}).list("axes", {2, -2});
  EXPECT_FALSE(twice.infer().ok());
  SingleNode unknown("Resize", 13);
  unknown.in({1, 1, 2, 2}).absent().in({4});
  const Status s = unknown.infer();
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.errors().front().text().find("isn't constant"), std::string::npos);
}

TEST(Upsample, DoScalesComeFromTheAttributeOrTheInput) {
  SingleNode seven("Upsample", 7);
  seven.in({1, 1, 2, 3}).attr("scales", std::vector<double>{1, 1, 2, 2.5});
  EXPECT_EQ(shape_or_error(seven), "1x1x4x7");
  SingleNode nine("Upsample", 9);
  nine.in({1, 1, 2, 3}).reals({1, 1, 2, 2}).attr("mode", "linear");
  ASSERT_EQ(shape_or_error(nine), "1x1x4x6");
  EXPECT_EQ(item<VectorOp>(nine.cost())[VectorClass::resize], 24 * 4);
  SingleNode none("Upsample", 7);
  none.in({1, 1, 2, 3});
  EXPECT_FALSE(none.infer().ok());
}

TEST(GridSample, DoesTheGridGiveTheSpatialDims) {
  SingleNode plane("GridSample", 20);
  plane.in({2, 3, 8, 8}).in({2, 5, 6, 2}).attr("mode", "cubic");
  ASSERT_EQ(shape_or_error(plane), "2x3x5x6");
  EXPECT_EQ(item<VectorOp>(plane.cost())[VectorClass::resize], 2 * 3 * 30 * 16);
  SingleNode volume("GridSample", 20);
  volume.in({2, 3, 8, 8, 8}).in({2, 4, 5, 6, 3});
  EXPECT_EQ(shape_or_error(volume), "2x3x4x5x6");
  SingleNode wrong("GridSample", 16);
  wrong.in({2, 3, 8, 8}).in({2, 5, 6, 3});
  EXPECT_FALSE(wrong.infer().ok());
}

TEST(AffineGrid, DoesTheSizeGiveTheGrid) {
  SingleNode plane("AffineGrid", 20);
  plane.in({2, 2, 3}).ints({2, 3, 5, 6});
  EXPECT_EQ(shape_or_error(plane), "2x5x6x2");
  SingleNode volume("AffineGrid", 20);
  volume.in({2, 3, 4}).ints({2, 3, 4, 5, 6});
  EXPECT_EQ(shape_or_error(volume), "2x4x5x6x3");
  SingleNode wrong("AffineGrid", 20);
  wrong.in({2, 2, 3}).ints({2, 3});
  EXPECT_FALSE(wrong.infer().ok());
}

}  // namespace
}  // namespace accsim::sim
