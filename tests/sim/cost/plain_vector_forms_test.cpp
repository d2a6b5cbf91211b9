#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/sim/cost/plain_forms.h"

/// Forms that machines do best: the reference executor makes the same numbers of them, they have as
/// many MACs and parameters, and none of the operators that they stand for is left.
namespace accsim::sim {
namespace {

using test::count_of;
using test::ModelBuilder;
using test::number;
using test::same_in_plain_forms;
using test::word;

// ---- rotations ----------------------------------------------------------------------------------

/// Rotary positions of `size` elements a head whose pairs are neighbours or, `halves`, a half
/// apart.
ModelBuilder rotary(int64_t size, bool halves) {
  ModelBuilder b;
  b.input("x", {1, 2, 5, size}).weight("cos", {5, size}).weight("sin", {5, size});
  b.constant("zero", {1}, {0}).constant("one", {1}, {1}).constant("two", {1}, {2});
  b.constant("half", {1}, {size / 2}).constant("end", {1}, {size}).constant("last", {1}, {-1});
  b.constant("row", {4}, {1, 2, 5, size});
  b.node("Relu", {"x"}, {"q"});
  if (halves) {
    b.node("Slice", {"q", "zero", "half", "last"}, {"first"})
        .node("Slice", {"q", "half", "end", "last"}, {"second"})
        .node("Neg", {"second"}, {"minus"})
        .node("Concat", {"minus", "first"}, {"turned"}, {number("axis", -1)});
  } else {
    b.node("Slice", {"q", "zero", "end", "last", "two"}, {"first"})
        .node("Slice", {"q", "one", "end", "last", "two"}, {"second"})
        .node("Neg", {"second"}, {"minus"})
        .node("Unsqueeze", {"minus", "last"}, {"a"})
        .node("Unsqueeze", {"first", "last"}, {"b"})
        .node("Concat", {"a", "b"}, {"pairs"}, {number("axis", -1)})
        .node("Reshape", {"pairs", "row"}, {"turned"});
  }
  b.node("Mul", {"q", "cos"}, {"of_cos"}).node("Mul", {"turned", "sin"}, {"of_sin"});
  return b.node("Add", {"of_cos", "of_sin"}, {"y"}).output("y");
}

TEST(PlainVectorForms, TurnNeighboursByAMatrix) {
  for (const int64_t size : {16, 64, 96, 128}) {
    const Graph g = same_in_plain_forms(rotary(size, false));
    EXPECT_EQ(count_of(g, "MatMul"), 1) << size;
    EXPECT_EQ(count_of(g, "Slice"), 0) << size;
  }
}

TEST(PlainVectorForms, LeaveHalvesToLanes) {
  EXPECT_EQ(count_of(same_in_plain_forms(rotary(64, true)), "MatMul"), 0);
}

// ---- interpolation and cumulative sums ----------------------------------------------------------

TEST(PlainVectorForms, MakeProductsOfInterpolations) {
  for (const char* mode : {"linear", "cubic"})
    for (const char* places : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})
      for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
               {2, 3, 10, 12}, {2, 3, 5, 11}, {2, 3, 3, 4}, {2, 3, 9, 2}}) {
        SCOPED_TRACE(std::string(mode) + " " + places);
        ModelBuilder b;
        b.input("x", {2, 3, 5, 6}).constant("sizes", {4}, sizes);
        b.node("Resize", {"x", "", "", "sizes"}, {"y"},
               {word("mode", mode), word("coordinate_transformation_mode", places)});
        const Graph g = same_in_plain_forms(b.output("y"));
        EXPECT_EQ(count_of(g, "Resize"), 0);
        EXPECT_EQ(count_of(g, "MatMul"), sizes[2] == 5 ? 1 : 2);
      }
}

TEST(PlainVectorForms, LeaveNearestElements) {
  ModelBuilder b;
  b.input("x", {2, 3, 5, 6}).constant("sizes", {4}, {2, 3, 10, 12});
  b.node("Resize", {"x", "", "", "sizes"}, {"y"}, {word("mode", "nearest")});
  EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "Resize"), 1);
}

TEST(PlainVectorForms, MakeAProductOfCumulativeSums) {
  for (const int64_t axis : {0, 1, -1})
    for (const int64_t exclusive : {0, 1})
      for (const int64_t reverse : {0, 1}) {
        ModelBuilder b;
        b.input("x", {3, 4, 7}).constant("axis", {}, {axis});
        b.node("CumSum", {"x", "axis"}, {"y"},
               {number("exclusive", exclusive), number("reverse", reverse)});
        EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "CumSum"), 0) << axis;
      }
}

// ---- moves --------------------------------------------------------------------------------------

TEST(PlainVectorForms, PadByParts) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    for (const std::vector<int64_t>& pads : std::vector<std::vector<int64_t>>{
             {0, 0, 2, 1, 0, 0, 1, 3}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 1, 0, 2, 0, 1, 0, 0}}) {
      SCOPED_TRACE(mode);
      ModelBuilder b(19);
      b.input("x", {2, 3, 5, 6}).constant("pads", {8}, pads);
      b.node("Tanh", {"x"}, {"t"}).node("Pad", {"t", "pads"}, {"p"}, {word("mode", mode)});
      EXPECT_EQ(count_of(same_in_plain_forms(b.node("Exp", {"p"}, {"y"}).output("y")), "Pad"), 0);
    }
}

TEST(PlainVectorForms, LeaveAPadThatCutsOff) {
  ModelBuilder b(19);
  b.input("x", {2, 3, 5, 6}).constant("pads", {8}, {0, 0, -1, 0, 0, 0, 1, 0});
  EXPECT_EQ(count_of(same_in_plain_forms(b.node("Pad", {"x", "pads"}, {"y"}).output("y")), "Pad"),
            1);
}

TEST(PlainVectorForms, TakeATriangleByAFactor) {
  for (const int64_t upper : {0, 1}) {
    ModelBuilder b(14);
    b.input("x", {2, 5, 6}).node("Trilu", {"x"}, {"y"}, {number("upper", upper)});
    EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "Trilu"), 0);
  }
}

// ---- elements and rows --------------------------------------------------------------------------

TEST(PlainVectorForms, PutTwoTogetherAndTheNext) {
  for (const char* op : {"Sum", "Max", "Min"}) {
    ModelBuilder b;
    b.input("x", {3, 4}).input("u", {1, 4}).input("v", {3, 1}).input("w", {4});
    const Graph g = same_in_plain_forms(b.node(op, {"u", "v", "x", "w"}, {"y"}).output("y"));
    EXPECT_EQ(g.nodes.size(), 3U) << op;
  }
}

TEST(PlainVectorForms, MakeAPReluOfWhatThereIs) {
  ModelBuilder b;
  b.input("x", {2, 3, 4, 4}).weight("slope", {3, 1, 1});
  b.node("PRelu", {"x", "slope"}, {"y"}).output("y");
  for (const bool known : {true, false})  // known ones are at most 1
    EXPECT_EQ(count_of(same_in_plain_forms(b, known), "PRelu"), 0);
}

TEST(PlainVectorForms, ChooseBySums) {
  ModelBuilder b;
  b.input("c", {3, 1, 4}, DType::boolean).input("u", {2, 4}).input("v", {3, 1, 1});
  const Graph g = same_in_plain_forms(b.node("Where", {"c", "u", "v"}, {"y"}).output("y"));
  EXPECT_EQ(count_of(g, "Where"), 0);
}

TEST(PlainVectorForms, ReduceBySums) {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum"})
    for (const int64_t keeps : {0, 1}) {
      ModelBuilder b;
      b.input("x", {3, 4, 5}).node("Exp", {"x"}, {"e"});
      b.node(op, {"e"}, {"y"}, {ModelBuilder::ints("axes", {0, -1}), number("keepdims", keeps)});
      EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), op), 0) << op;
    }
}

TEST(PlainVectorForms, MakeALogSoftmaxOfWhatThereIs) {
  for (const int64_t axis : {-1, 0, 1}) {
    ModelBuilder b;
    b.input("x", {3, 4, 5}).node("LogSoftmax", {"x"}, {"y"}, {number("axis", axis)});
    EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "LogSoftmax"), 0);
  }
}

TEST(PlainVectorForms, CompareDifferences) {
  for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    ModelBuilder b(16);
    b.input("x", {3, 4}).input("d", {4}).node(op, {"x", "d"}, {"t"});
    b.node("Cast", {"t"}, {"y"}, {number("to", 1)});
    EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "Sub"), 1) << op;
    ModelBuilder one(16);
    one.input("x", {3, 4}).weight("d", {}).node(op, {"x", "d"}, {"t"});
    one.node("Cast", {"t"}, {"y"}, {number("to", 1)});
    EXPECT_EQ(count_of(same_in_plain_forms(one.output("y")), "Sub"), 0) << "a function of x";
  }
}

/// The Softmax gives the sums with its own rows, if these are the same.
TEST(PlainVectorForms, LeaveALogOfSumsBesideASoftmax) {
  for (const int64_t axis : {1, 0}) {
    ModelBuilder b;
    b.input("x", {3, 4}).node("Softmax", {"x"}, {"s"}, {number("axis", axis)}).output("s");
    b.node("ReduceLogSumExp", {"x"}, {"y"}, {ModelBuilder::ints("axes", {1})}).output("y");
    EXPECT_EQ(count_of(same_in_plain_forms(b), "ReduceLogSumExp"), axis) << axis;
  }
}

TEST(PlainVectorForms, MakeALogOfSumsOfWhatThereIs) {
  for (const int64_t keeps : {0, 1}) {
    ModelBuilder b;
    b.input("x", {3, 4, 5});
    b.node("ReduceLogSumExp", {"x"}, {"y"},
           {ModelBuilder::ints("axes", {0, -1}), number("keepdims", keeps)});
    EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "ReduceLogSumExp"), 0);
  }
}

// ---- what isn't whole ---------------------------------------------------------------------------

/// The graph in plain forms, whatever its nodes lack.
Graph in_plain_forms(const ModelBuilder& b) {
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  Graph plain = plain_forms(std::move(*graph));
  EXPECT_TRUE(verify_graph(plain).ok());
  return plain;
}

TEST(PlainVectorForms, LeaveNodesThatLackAnInput) {
  ModelBuilder none;
  none.input("x", {2, 3});
  none.node("RandomNormal", {}, {"r"}, {ModelBuilder::ints("shape", {2, 3})});
  EXPECT_EQ(count_of(in_plain_forms(none.node("Add", {"x", "r"}, {"y"}).output("y")), "Add"), 1);
  ModelBuilder blank;
  blank.input("x", {2, 3}).input("z", {2, 3});
  EXPECT_EQ(count_of(in_plain_forms(blank.node("Max", {"x", "", "z"}, {"y"}).output("y")), "Max"),
            1);
}

}  // namespace
}  // namespace accsim::sim
