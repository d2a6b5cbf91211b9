#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/cost/plain_forms.h"

/// Forms of what repeats and picks elements: the reference executor makes the same numbers of them.
namespace accsim::sim {
namespace {

using test::count_of;
using test::ModelBuilder;
using test::number;
using test::same_in_plain_forms;
using test::word;

// ---- repeats ------------------------------------------------------------------------------------

ModelBuilder expanded(const Dims& from, const std::vector<int64_t>& to) {
  ModelBuilder b;
  b.input("x", from).constant("to", {std::ssize(to)}, to).node("Exp", {"x"}, {"e"});
  return b.node("Expand", {"e", "to"}, {"r"});
}

TEST(PlainRepeatForms, RepeatSingleElementsByAProduct) {
  const Graph g = same_in_plain_forms(expanded({3, 1, 1}, {3, 4, 5}).output("r"));
  EXPECT_EQ(count_of(g, "Expand"), 0);
  EXPECT_EQ(count_of(g, "Mul"), 1);
}

TEST(PlainRepeatForms, LeaveRepeatedRows) {
  const Graph g = same_in_plain_forms(expanded({3, 1, 5}, {3, 4, 5}).output("r"));
  EXPECT_EQ(count_of(g, "Expand"), 1);
}

TEST(PlainRepeatForms, LeaveRepeatsToTheOperatorBehindThem) {
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    ModelBuilder b = expanded({3, 1, 5}, {3, 4, 5});
    b.input("z", {3, 4, 5}).node("Exp", {"z"}, {"d"}).node(op, {"r", "d"}, {"y"});
    EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "Expand"), 0) << op;
  }
}

/// Both operands are repeated, or another node reads what is.
TEST(PlainRepeatForms, LeaveRepeatsThatTheOperatorDoesNotMake) {
  ModelBuilder both = expanded({3, 1, 5}, {3, 4, 5});
  both.input("z", {3, 1, 1}).node("Add", {"r", "z"}, {"y"});
  EXPECT_EQ(count_of(same_in_plain_forms(both.output("y")), "Expand"), 1);
  ModelBuilder other = expanded({3, 1, 5}, {3, 4, 5});
  other.input("z", {3, 4, 5}).node("Add", {"r", "z"}, {"y"}).output("r");
  EXPECT_EQ(count_of(same_in_plain_forms(other.output("y")), "Expand"), 1);
}

TEST(PlainRepeatForms, MakeExpandsOfTiles) {
  for (const std::vector<int64_t>& times : std::vector<std::vector<int64_t>>{
           {2, 1, 1, 1}, {1, 3, 1, 2}, {1, 1, 4, 1}, {2, 2, 2, 2}, {1, 1, 1, 1}}) {
    ModelBuilder b;
    b.input("x", {2, 3, 1, 5}).constant("times", {4}, times).node("Exp", {"x"}, {"e"});
    const Graph g = same_in_plain_forms(b.node("Tile", {"e", "times"}, {"y"}).output("y"));
    const bool repeats = std::ranges::any_of(times, [](int64_t n) { return n > 1; });
    EXPECT_EQ(count_of(g, "Tile"), repeats ? 0 : 1);
  }
}

TEST(PlainRepeatForms, PickRowsOfAMatrixForOneHot) {
  ModelBuilder b;
  b.input("x", {2, 6}).constant("dims", {1}, {0}).constant("depth", {}, {6});
  b.node("ArgMax", {"x"}, {"i"}, {number("axis", 1), number("keepdims", 0)});
  b.weight("values", {2}).node("OneHot", {"i", "depth", "values"}, {"y"}).output("y");
  const Graph g = same_in_plain_forms(b);
  EXPECT_EQ(count_of(g, "OneHot"), 0);
  EXPECT_EQ(count_of(g, "Gather"), 1);
}

// ---- resizes ------------------------------------------------------------------------------------

Graph resized(const std::vector<int64_t>& sizes, const char* mode, const char* places) {
  ModelBuilder b;
  b.input("x", {2, 3, 20, 6}).constant("sizes", {4}, sizes).node("Exp", {"x"}, {"e"});
  b.node("Resize", {"e", "", "", "sizes"}, {"y"},
         {word("mode", mode), word("coordinate_transformation_mode", places)});
  return same_in_plain_forms(b.output("y"));
}

TEST(PlainRepeatForms, ResizeToTheSameSizeByNothing) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const Graph g = resized({2, 3, 20, 6}, mode, "half_pixel");
    EXPECT_EQ(count_of(g, "Identity"), 1) << mode;
  }
}

/// 6 to 8 are few boxes, 20 to 30 are many.
TEST(PlainRepeatForms, PickNearestElementsByListsOrProducts) {
  for (const char* places : {"half_pixel", "asymmetric", "align_corners"}) {
    const Graph few = resized({2, 3, 20, 8}, "nearest", places);
    EXPECT_EQ(count_of(few, "Gather"), 1) << places;
    EXPECT_EQ(count_of(few, "Resize"), 0) << places;
    const Graph many = resized({2, 3, 50, 8}, "nearest", places);
    EXPECT_EQ(count_of(many, "MatMul"), 2) << places;
    EXPECT_EQ(count_of(many, "Resize"), 0) << places;
  }
}

/// Nothing is made of nothing.
TEST(PlainRepeatForms, LeaveResizesOfNoElements) {
  for (const char* mode : {"nearest", "linear"})
    for (const auto& [from, to] : {std::pair<int64_t, int64_t>{0, 4}, {4, 0}, {0, 0}}) {
      ModelBuilder b;
      b.input("x", {1, 1, from, 4}).constant("sizes", {4}, {1, 1, to, 4});
      b.node("Resize", {"x", "", "", "sizes"}, {"y"}, {word("mode", mode)}).output("y");
      const auto graph = elaborate(b.model(), {});
      if (!graph.ok()) continue;
      EXPECT_EQ(count_of(plain_forms(*graph), "Resize"), 1) << mode;
    }
}

TEST(PlainRepeatForms, LeaveSingleElementsThatAreRepeatedTooOften) {
  ModelBuilder b;
  b.input("x", {1, 1}).constant("times", {2}, {60'000, 60'000});
  const auto graph = elaborate(b.node("Tile", {"x", "times"}, {"y"}).output("y").model(), {});
  ASSERT_TRUE(graph.ok());
  const Graph plain = plain_forms(*graph);
  EXPECT_EQ(count_of(plain, "Expand"), 1);
  EXPECT_EQ(count_of(plain, "Mul"), 0);
}

// ---- single elements ----------------------------------------------------------------------------

/// What each GatherElements of the graph does by lists; nothing where it isn't rows.
std::optional<PickedRows> picked_in(const Graph& g) {
  const auto lowered = lower(g);
  EXPECT_TRUE(lowered.ok());
  for (const Layer& l : lowered->layers)
    if (l.op_type == "GatherElements") return std::get<MemoryOp>(l.work.back()).picked;
  ADD_FAILURE() << "no GatherElements";
  return std::nullopt;
}

TEST(PlainRepeatForms, GatherElementsOfRowsByTheirOwnLists) {
  ModelBuilder b;
  b.input("x", {2, 3, 8}).input("i", {2, 3, 5}, DType::int64).input("z", {2, 3, 5}, DType::int64);
  b.node("Sub", {"i", "i"}, {"zero"}).node("Add", {"zero", "three"}, {"at"});
  b.constant("three", {5}, {3, 0, 7, 1, 3});
  b.node("GatherElements", {"x", "at"}, {"y"}, {number("axis", -1)}).output("y");
  EXPECT_EQ(picked_in(same_in_plain_forms(b)), (PickedRows{6, 8, 1, 5, 6}));
}

/// Heads have the same lists, pixels the same channels.
TEST(PlainRepeatForms, ReadIndicesThatAreRepeatedAsTheyAre) {
  ModelBuilder heads;
  heads.input("x", {4, 3, 8}).constant("few", {1, 3, 2}, {3, 0, 7, 1, 3, 2});
  heads.constant("to", {3}, {4, 3, 2}).node("Expand", {"few", "to"}, {"i"});
  heads.node("GatherElements", {"x", "i"}, {"y"}, {number("axis", 2)}).output("y");
  EXPECT_EQ(picked_in(same_in_plain_forms(heads)), (PickedRows{12, 8, 1, 2, 3}));
  ModelBuilder rows;
  rows.input("x", {2, 9, 8}).constant("few", {2, 3, 1}, {3, 0, 7, 1, 8, 2});
  rows.constant("to", {3}, {2, 3, 8}).node("Expand", {"few", "to"}, {"i"});
  rows.node("GatherElements", {"x", "i"}, {"y"}, {number("axis", 1)}).output("y");
  EXPECT_EQ(picked_in(same_in_plain_forms(rows)), (PickedRows{2, 9, 8, 3, 2}));
}

}  // namespace
}  // namespace accsim::sim
