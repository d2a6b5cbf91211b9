#include "sim/lower/sub_tensor_geometry.h"

#include <gtest/gtest.h>

#include <random>

namespace accsim::sim {
namespace {

/// Numbers of a range, both ends in it.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

 private:
  std::mt19937 random_;
};

TEST(PartOfPart, IsWhereThePartsElementsAre) {
  Draw pick(1);
  const auto pitch = [&](int64_t most) {
    const int64_t run = pick(1, most);
    return pick(0, 2) == 0 ? Pitch{} : Pitch{run, run + pick(1, most)};
  };
  int found = 0;
  for (int i = 0; i < 4000; ++i) {
    const Pitch outer = pitch(12);
    Pitch inner = pitch(6);
    if (pick(0, 1) == 0 && !outer.is_dense() && inner.run < outer.run) inner.pitch = outer.run;
    const int64_t rows = pick(1, 5), elements = inner.is_dense() ? pick(1, 40) : rows * inner.run;
    const SubTensor a{1, pick(0, 20), inner}, b{2, pick(0, 20), outer};
    const auto both = sub_tensor_within(a, b, elements);
    if (!both) continue;
    ++found;
    EXPECT_EQ(both->whole, 2);
    for (int64_t k = 0; k < elements; ++k)
      EXPECT_EQ(both->offset + both->pitch.offset_of(k),
                b.offset + outer.offset_of(a.offset + inner.offset_of(k)));
  }
  EXPECT_GT(found, 1000);
}

/// Wherever a tensor lies, a part of it says so.
TEST(PlaceOfWhole, IsWhereTheTensorOfThePartLies) {
  Draw pick(2);
  for (int i = 0; i < 4000; ++i) {
    const int64_t row = pick(2, 12), rows = pick(2, 5), run = pick(1, row - 1);
    const SubTensor part{1, pick(0, row - run), {run, row}};
    const Pitch pitch = pick(0, 2) == 0 ? Pitch{} : Pitch{row, row + pick(1, 9)};
    const SubTensor whole{2, pick(0, 20), pitch};
    const auto place = sub_tensor_within(part, whole, rows * run);
    ASSERT_TRUE(place.has_value());
    const auto found = place_of_whole(part, *place, rows * row);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->whole, 2);
    for (int64_t k = 0; k < rows * row; ++k)
      EXPECT_EQ(found->offset + found->pitch.offset_of(k), whole.offset + pitch.offset_of(k));
  }
}

TEST(PlaceOfWhole, IsNoneOfOtherRowsOrBeforeTheFirstElement) {
  const SubTensor part{1, 8, {8, 24}};
  EXPECT_TRUE(place_of_whole(part, {2, 8, {8, 64}}, 48).has_value());
  EXPECT_FALSE(place_of_whole(part, {2, 7, {8, 64}}, 48).has_value());
  EXPECT_FALSE(place_of_whole(part, {2, 8, {4, 64}}, 48).has_value());
}

}  // namespace
}  // namespace accsim::sim
