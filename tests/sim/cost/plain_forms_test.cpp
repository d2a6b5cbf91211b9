#include "tests/sim/cost/plain_forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

/// Forms that machines do best: the reference executor makes the same numbers of them, they have as
/// many MACs and parameters, and none of the operators that they stand for is left.
namespace accsim::sim {
namespace {

using test::count_of;
using test::ModelBuilder;
using test::number;
using test::same_in_plain_forms;
using test::word;

// ---- softmax ------------------------------------------------------------------------------------

/// What is divided by the sum of its exponentials along an axis, of x or less its maximum.
ModelBuilder spelled_softmax(int64_t axis, bool less_most, bool reciprocal) {
  ModelBuilder b(18);
  b.input("x", {3, 5, 7}).constant("axis", {1}, {axis});
  b.node("Sigmoid", {"x"}, {"s"});
  if (less_most) b.node("ReduceMax", {"s", "axis"}, {"most"}).node("Sub", {"s", "most"}, {"less"});
  b.node("Exp", {less_most ? "less" : "s"}, {"e"}).node("ReduceSum", {"e", "axis"}, {"sum"});
  if (reciprocal)
    b.node("Reciprocal", {"sum"}, {"one"}).node("Mul", {"one", "e"}, {"y"});
  else
    b.node("Div", {"e", "sum"}, {"y"});
  return b.output("y");
}

TEST(PlainForms, MakeASoftmaxOfWhatSpellsItOut) {
  for (const int64_t axis : {-1, 1, 0})
    for (const bool less_most : {false, true})
      for (const bool reciprocal : {false, true}) {
        const Graph g = same_in_plain_forms(spelled_softmax(axis, less_most, reciprocal));
        EXPECT_EQ(count_of(g, "Softmax"), 1);
        EXPECT_EQ(g.nodes.size(), 2U) << "Sigmoid and Softmax";
      }
}

TEST(PlainForms, LeaveWhatIsNoSoftmax) {
  ModelBuilder other_axis(18);  // the sum is along another axis than the quotients' maximum
  other_axis.input("x", {3, 5}).constant("last", {1}, {-1}).constant("first", {1}, {0});
  other_axis.node("Exp", {"x"}, {"e"}).node("ReduceSum", {"e", "last"}, {"sum"});
  other_axis.node("Div", {"sum", "e"}, {"y"}).output("y");
  EXPECT_EQ(count_of(same_in_plain_forms(other_axis), "Softmax"), 0) << "the other way round";
  ModelBuilder read(18);
  read.input("x", {3, 5}).constant("last", {1}, {-1});
  read.node("Exp", {"x"}, {"e"}).node("ReduceSum", {"e", "last"}, {"sum"});
  read.node("Div", {"e", "sum"}, {"y"}).output("y").output("e");
  EXPECT_EQ(count_of(same_in_plain_forms(read), "Exp"), 1) << "the exponentials are given, too";
}

// ---- rows of length 1 ---------------------------------------------------------------------------

/// How rows are divided by their lengths.
enum class Length : uint8_t { l2, turned, expanded, squares, power, reciprocal };

void add_number(ModelBuilder& b, const std::string& name, double value) {
  b.node("Constant", {}, {name}, {{"value_float", "", value}});
}

ModelBuilder spelled_unit_rows(int64_t axis, Length how) {
  ModelBuilder b(18);
  b.input("x", {3, 5, 7}).constant("axis", {1}, {axis}).constant("dims", {3}, {3, 5, 7});
  add_number(b, "two", 2);
  add_number(b, "least", 1e-12);
  b.node("Sigmoid", {"x"}, {"s"});
  if (how == Length::squares || how == Length::power) {
    if (how == Length::squares)
      b.node("Mul", {"s", "s"}, {"square"});
    else
      b.node("Pow", {"s", "two"}, {"square"});
    b.node("ReduceSum", {"square", "axis"}, {"sum"}).node("Add", {"sum", "least"}, {"above"});
    b.node("Sqrt", {"above"}, {"length"});
  } else if (how == Length::turned) {  // the lengths are of the rows before a Transpose
    const std::vector<Attribute> perm{ModelBuilder::ints("perm", {1, 2, 0})};
    b.node("ReduceL2", {"s", "axis"}, {"of_rows"}).node("Transpose", {"of_rows"}, {"root"}, perm);
    b.node("Clip", {"root", "least"}, {"length"}).node("Transpose", {"s"}, {"turned"}, perm);
    return b.node("Div", {"turned", "length"}, {"y"}).output("y");
  } else {
    b.node("ReduceL2", {"s", "axis"}, {"root"}).node("Clip", {"root", "least"}, {"length"});
  }
  if (how == Length::expanded)
    return b.node("Expand", {"length", "dims"}, {"all"})
        .node("Div", {"s", "all"}, {"y"})
        .output("y");
  if (how != Length::reciprocal) return b.node("Div", {"s", "length"}, {"y"}).output("y");
  return b.node("Reciprocal", {"length"}, {"one"}).node("Mul", {"one", "s"}, {"y"}).output("y");
}

TEST(PlainForms, NormaliseRowsThatAreDividedByTheirLength) {
  for (const int64_t axis : {-1, 1, 0})
    for (const Length how : {Length::l2, Length::turned, Length::expanded, Length::squares,
                             Length::power, Length::reciprocal}) {
      const Graph g = same_in_plain_forms(spelled_unit_rows(axis, how));
      EXPECT_EQ(count_of(g, "LpNormalization"), 1) << axis << " " << static_cast<int>(how);
      EXPECT_EQ(count_of(g, "Div") + count_of(g, "Mul"), 0);
    }
}

TEST(PlainForms, LeaveRowsThatAreDividedByAnotherLength) {
  ModelBuilder other(18);
  other.input("x", {3, 5}).input("z", {3, 5}).constant("axis", {1}, {-1});
  other.node("ReduceL2", {"z", "axis"}, {"length"}).node("Div", {"x", "length"}, {"y"}).output("y");
  EXPECT_EQ(count_of(same_in_plain_forms(other), "LpNormalization"), 0);
  ModelBuilder large(18);  // what is added is no small number
  large.input("x", {3, 5}).constant("axis", {1}, {-1});
  add_number(large, "one", 1);
  large.node("ReduceL2", {"x", "axis"}, {"length"}).node("Add", {"length", "one"}, {"above"});
  large.node("Div", {"x", "above"}, {"y"}).output("y");
  EXPECT_EQ(count_of(same_in_plain_forms(large), "LpNormalization"), 0);
}

// ---- indices ------------------------------------------------------------------------------------

TEST(PlainForms, MakeAGatherOfOneColumn) {
  ModelBuilder b;
  b.input("x", {6, 4, 3}).constant("i", {2, 2, 1}, {5, 0, -1, 3});
  const Graph g = same_in_plain_forms(b.node("GatherND", {"x", "i"}, {"y"}).output("y"));
  EXPECT_EQ(count_of(g, "Gather"), 1);
  EXPECT_EQ(count_of(g, "GatherND"), 0);
}

TEST(PlainForms, LeaveAGatherOfMoreColumns) {
  ModelBuilder b;
  b.input("x", {6, 4, 3}).constant("i", {2, 2}, {5, 0, 1, 3});
  const Graph g = same_in_plain_forms(b.node("GatherND", {"x", "i"}, {"y"}).output("y"));
  EXPECT_EQ(count_of(g, "GatherND"), 1);
}

TEST(PlainForms, MakeAScatterNDOfRowsThatAreRepeated) {
  for (const char* reduction : {"none", "add", "mul"}) {
    ModelBuilder b(18);
    b.input("x", {6, 4}).input("u", {3, 4}).input("rows", {3}, DType::int64);
    b.constant("axes", {1}, {1}).constant("shape", {2}, {3, 4}).constant("two", {1}, {2});
    b.node("Range", {"zero", "three", "one"}, {"row"});
    b.constant("zero", {}, {0}).constant("three", {}, {3}).constant("one", {}, {1});
    b.node("Add", {"rows", "row"}, {"sum"}).node("Unsqueeze", {"sum", "axes"}, {"column"});
    b.node("Expand", {"column", "shape"}, {"i"});
    b.node("ScatterElements", {"x", "i", "u"}, {"y"},
           {number("axis", 0), word("reduction", reduction)});
    const Graph g = same_in_plain_forms(b.output("y"));
    EXPECT_EQ(count_of(g, "ScatterND"), 1) << reduction;
    EXPECT_EQ(count_of(g, "ScatterElements"), 0) << reduction;
  }
}

TEST(PlainForms, LeaveAScatterOfPartsOfRows) {
  ModelBuilder b(18);
  b.input("x", {6, 4}).input("u", {3, 2}).constant("column", {3, 1}, {4, 0, 2});
  b.constant("shape", {2}, {3, 2}).node("Expand", {"column", "shape"}, {"i"});
  b.node("ScatterElements", {"x", "i", "u"}, {"y"}, {number("axis", 0)});
  EXPECT_EQ(count_of(same_in_plain_forms(b.output("y")), "ScatterElements"), 1);
}

// ---- volumes ------------------------------------------------------------------------------------

struct Volume {
  std::string what;
  Dims x, w;
  std::vector<int64_t> strides{1, 1, 1}, pads{0, 0, 0, 0, 0, 0};
  std::string becomes = "Conv";
  size_t rank = 4;  ///< of what is worked on
};

void expect_volume(const Volume& v) {
  SCOPED_TRACE(v.what);
  ModelBuilder b;
  b.input("x", v.x).weight("w", v.w).weight("b", {v.w[0]});
  b.node("Conv", {"x", "w", "b"}, {"c"},
         {ModelBuilder::ints("strides", v.strides), ModelBuilder::ints("pads", v.pads)});
  const Graph g = same_in_plain_forms(b.node("Relu", {"c"}, {"y"}).output("y"));
  const auto node = std::ranges::find(g.nodes, v.becomes, &Node::op_type);
  ASSERT_NE(node, g.nodes.end());
  EXPECT_EQ(g.tensor(node->inputs[0]).dims.size(), v.rank);
}

TEST(PlainForms, MakeLessOfAConvolutionOverVolumes) {
  expect_volume({.what = "pixels", .x = {2, 5, 3, 4, 6}, .w = {7, 5, 1, 1, 1}});
  expect_volume({.what = "all of each image",
                 .x = {6, 3, 2, 4, 4},
                 .w = {5, 3, 2, 4, 4},
                 .strides = {2, 4, 4},
                 .becomes = "Gemm",
                 .rank = 2});
  expect_volume({.what = "patches of two planes",
                 .x = {2, 3, 4, 8, 8},
                 .w = {5, 3, 2, 4, 4},
                 .strides = {2, 4, 4}});
  expect_volume({.what = "each plane",
                 .x = {2, 3, 4, 7, 5},
                 .w = {5, 3, 1, 3, 3},
                 .strides = {1, 2, 1},
                 .pads = {0, 1, 0, 0, 1, 2}});
  expect_volume(
      {.what = "planes that overlap", .x = {1, 3, 4, 5, 5}, .w = {5, 3, 2, 1, 1}, .rank = 5});
  expect_volume({.what = "planes that are left over",
                 .x = {1, 3, 5, 5, 5},
                 .w = {5, 3, 2, 1, 1},
                 .strides = {2, 1, 1},
                 .rank = 5});
}

// ---- pixel shuffles -----------------------------------------------------------------------------

/// A convolution, what is behind it, and a shuffle of its 12 channels.
ModelBuilder shuffled(const std::string& mode, const std::vector<std::string>& behind) {
  ModelBuilder b;
  b.input("x", {2, 5, 4, 3}).weight("w", {12, 5, 3, 3}).weight("b", {12}).weight("g", {12, 1, 1});
  for (const char* name : {"gain", "shift", "mean", "var"}) b.weight(name, {12});
  b.node("Conv", {"x", "w", "b"}, {"c"}, {ModelBuilder::ints("pads", {1, 1, 1, 1})});
  std::string at = "c";
  for (const std::string& op : behind) {
    std::vector<std::string> inputs{at};
    at += op;
    if (op == "Mul" || op == "PRelu") inputs.emplace_back("g");
    if (op == "BatchNormalization") inputs.insert(inputs.end(), {"gain", "shift", "mean", "var"});
    b.node(op, inputs, {at});
  }
  if (mode == "spelled") {
    b.constant("apart", {6}, {2, 3, 2, 2, 4, 3}).constant("whole", {4}, {2, 3, 8, 6});
    b.node("Reshape", {at, "apart"}, {"r"})
        .node("Transpose", {"r"}, {"t"}, {ModelBuilder::ints("perm", {0, 1, 4, 2, 5, 3})})
        .node("Reshape", {"t", "whole"}, {"y"});
  } else {
    b.node("DepthToSpace", {at}, {"y"}, {number("blocksize", 2), word("mode", mode)});
  }
  return b.output("y");
}

TEST(PlainForms, MovePixelsAsWholesBehindAConvolution) {
  for (const char* mode : {"DCR", "CRD", "spelled"})
    for (const std::vector<std::string>& behind : std::vector<std::vector<std::string>>{
             {}, {"Relu"}, {"BatchNormalization", "PRelu"}, {"Mul", "Tanh"}}) {
      SCOPED_TRACE(mode);
      const Graph g = same_in_plain_forms(shuffled(mode, behind));
      EXPECT_EQ(count_of(g, "DepthToSpace"), 0);
      const auto turn = std::ranges::find(g.nodes, "Transpose", &Node::op_type);
      ASSERT_NE(turn, g.nodes.end());
      EXPECT_EQ(g.tensor(turn->inputs[0]).dims, (Dims{2, 2, 2, 3, 4, 3})) << "channels innermost";
    }
}

TEST(PlainForms, LeaveChannelsThatAnotherReads) {
  ModelBuilder b = shuffled("CRD", {"Relu"});
  EXPECT_EQ(count_of(same_in_plain_forms(b.output("c")), "DepthToSpace"), 1);
}

// ---- transposed convolutions --------------------------------------------------------------------

struct Transposed {
  std::string what;
  int64_t convolutions = 4;
  Dims x{2, 6, 5, 4};
  Dims w{6, 3, 4, 4};
  std::vector<int64_t> strides{2, 2}, pads{1, 1, 1, 1}, more{0, 0};
  int64_t groups = 1;
};

ModelBuilder transposed_network(const Transposed& t) {
  ModelBuilder b;
  const int64_t outputs = t.w[1] * t.groups;
  b.input("x", t.x).weight("w", t.w).weight("b", {outputs}).weight("g", {outputs, 1, 1});
  for (const char* name : {"gain", "shift", "mean", "var"}) b.weight(name, {outputs});
  b.node("ConvTranspose", {"x", "w", "b"}, {"c"},
         {ModelBuilder::ints("strides", t.strides), ModelBuilder::ints("pads", t.pads),
          ModelBuilder::ints("output_padding", t.more), number("group", t.groups)});
  return b;
}

void expect_transposed(const Transposed& t) {
  SCOPED_TRACE(t.what);
  for (const bool behind : {false, true}) {
    ModelBuilder b = transposed_network(t);
    if (behind && t.x.size() == 4)
      b.node("BatchNormalization", {"c", "gain", "shift", "mean", "var"}, {"n"})
          .node("Mul", {"n", "g"}, {"m"})
          .node("Relu", {"m"}, {"y"});
    else
      b.node("Relu", {"c"}, {"y"});
    const Graph g = same_in_plain_forms(b.output("y"));
    EXPECT_EQ(count_of(g, "ConvTranspose"), t.convolutions == 0 ? 1 : 0);
    EXPECT_EQ(count_of(g, "Conv"), t.convolutions);
    const auto lowered = lower(g);
    for (const Layer& l : lowered->layers)
      EXPECT_TRUE(t.convolutions == 0 || l.fate != Fate::vector) << l.name;
  }
}

TEST(PlainForms, MakePhasesOfATransposedConvolution) {
  expect_transposed({.what = "kernel 4, stride 2"});
  expect_transposed(
      {.what = "kernel 3, stride 2, output padding", .w = {6, 3, 3, 3}, .more = {1, 1}});
  expect_transposed({.what = "kernel 2, stride 2, all the same element",
                     .convolutions = 1,
                     .w = {6, 3, 2, 2},
                     .pads = {0, 0, 0, 0}});
  expect_transposed({.what = "a pixel",
                     .convolutions = 1,
                     .w = {6, 3, 1, 1},
                     .strides = {1, 1},
                     .pads = {0, 0, 0, 0}});
  expect_transposed({.what = "one pixel to many",
                     .convolutions = 1,
                     .x = {2, 6, 1, 1},
                     .w = {6, 3, 4, 4},
                     .strides = {1, 1},
                     .pads = {0, 0, 0, 0}});
  expect_transposed({.what = "stride 1", .convolutions = 1, .w = {6, 3, 3, 3}, .strides = {1, 1}});
  expect_transposed({.what = "groups", .w = {6, 2, 4, 4}, .groups = 3});
  expect_transposed({.what = "depthwise", .w = {6, 1, 4, 4}, .groups = 6});
  expect_transposed({.what = "two strides",
                     .convolutions = 6,
                     .w = {6, 3, 5, 4},
                     .strides = {3, 2},
                     .pads = {1, 1, 1, 1}});
  expect_transposed({.what = "a line",
                     .convolutions = 8,
                     .x = {1, 6, 5},
                     .w = {6, 3, 16},
                     .strides = {8},
                     .pads = {4, 4},
                     .more = {0}});
}

TEST(PlainForms, LeaveATransposedConvolutionOfMoreOutputsThanStrides) {
  expect_transposed(
      {.what = "edges that few inputs reach", .convolutions = 0, .pads = {0, 0, 0, 0}});
  expect_transposed({.what = "an odd output", .convolutions = 0, .w = {6, 3, 3, 3}});
}

}  // namespace
}  // namespace accsim::sim
