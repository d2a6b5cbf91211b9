#include "sim/lower/rotations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/lower/laid_out.h"

namespace accsim::sim {
namespace {

using test::LaidOut;
using test::ModelBuilder;

constexpr int64_t kHeads = 3, kRows = 5, kWidth = 8;
const Dims kDims{1, kHeads, kRows, kWidth};

/// A slice of the last axis.
struct Cut {
  int64_t from, to, step = 1;
};

Attribute last_axis() { return {"axis", "", int64_t{-1}}; }

void cut(ModelBuilder& b, const std::string& to, const std::string& from, const Cut& c) {
  b.constant(to + "_from", {1}, {c.from}).constant(to + "_to", {1}, {c.to});
  b.constant(to + "_step", {1}, {c.step});
  b.node("Slice", {from, to + "_from", to + "_to", "last", to + "_step"}, {to});
}

/// x, the sine and the constants of slices.
ModelBuilder network(const Dims& x = kDims, const Dims& sin = {1, 1, kRows, kWidth}) {
  ModelBuilder b;
  b.input("x", x).input("sin", sin).constant("last", {1}, {-1});
  return b;
}

/// How halves are spelled: which are cut, what of them is negated, in what order they are put.
struct Spelling {
  Cut low{0, kWidth / 2}, high{kWidth / 2, kWidth};
  std::string negative = "high", first = "minus", second = "low";
};

ModelBuilder halves(const Spelling& s = {}) {
  ModelBuilder b = network();
  cut(b, "low", "x", s.low);
  cut(b, "high", "x", s.high);
  b.node("Neg", {s.negative}, {"minus"});
  b.node("Concat", {s.first, s.second}, {"turned"}, {last_axis()});
  b.node("Mul", {"turned", "sin"}, {"y"}).output("y");
  return b;
}

std::vector<std::string> with_work(const LaidOut& l) {
  std::vector<std::string> out;
  for (const Layer& each : l.lowered.layers)
    if (!each.work.empty()) out.push_back(each.name);
  return out;
}

/// Is y a product that reads `x` turned, of pieces of so many elements?
void expect_turned(const LaidOut& l, int64_t piece, const std::string& x = "x") {
  const Layer& y = l.layer("y");
  ASSERT_TRUE(y.turned.has_value());
  EXPECT_EQ(y.turned->piece, piece);
  EXPECT_EQ(y.inputs[y.turned->port.index()], l.id(x));
  const auto& op = std::get<VectorOp>(y.work.back());
  ASSERT_TRUE(op.lane.has_value());
  EXPECT_EQ(op.lane->op, LaneArithmetic::mul);
  EXPECT_EQ(op.lane->a_port, y.turned->port);
  EXPECT_EQ(std::ranges::count_if(op.lane->axes, &LaneAxis::turned), 1);
}
bool is_turned(const ModelBuilder& b) {
  const LaidOut l(b);
  return std::ranges::any_of(l.lowered.layers,
                             [](const Layer& each) { return each.turned.has_value(); });
}

TEST(Rotations, TurnedHalvesAreReadByTheProductWhereTheyLie) {
  const LaidOut l(halves());
  EXPECT_EQ(with_work(l), std::vector<std::string>{"y"});
  expect_turned(l, kWidth / 2);
  for (const char* name : {"low", "high", "minus", "turned"}) {
    EXPECT_EQ(l.layer(name).fate, Fate::folded) << name;
    EXPECT_EQ(&l.lowered.layers[test::as_index(l.layer(name).merged_into)], &l.layer("y"));
  }
  const auto& op = std::get<VectorOp>(l.layer("y").work.back());
  EXPECT_EQ(op[VectorClass::elementwise], elements(kDims)) << "one product an element";
  const LaneAxis turned{2, kWidth / 2, kWidth / 2, LaneSlide::of_turned_axis(), true};
  EXPECT_EQ(op.lane->axes[op.lane->axes.size() - 2], turned);
}

TEST(Rotations, AreSplitsNeighboursAndViewsSpellingsToo) {
  ModelBuilder split = network();
  split.node("Split", {"x"}, {"low", "high"}, {last_axis()})
      .node("Neg", {"high"}, {"minus"})
      .node("Concat", {"minus", "low"}, {"turned"}, {last_axis()})
      .node("Mul", {"sin", "turned"}, {"y"})
      .output("y");
  const LaidOut of_split(split);
  EXPECT_EQ(with_work(of_split), std::vector<std::string>{"y"});
  expect_turned(of_split, kWidth / 2);

  ModelBuilder pairs = network();
  pairs.constant("pairs", {5}, {1, kHeads, kRows, kWidth / 2, 1});
  pairs.constant("as_x", {4}, {1, kHeads, kRows, kWidth});
  cut(pairs, "even", "x", {0, kWidth, 2});
  cut(pairs, "odd", "x", {1, kWidth, 2});
  pairs.node("Neg", {"odd"}, {"minus"})
      .node("Reshape", {"minus", "pairs"}, {"minus_column"})
      .node("Reshape", {"even", "pairs"}, {"even_column"})
      .node("Concat", {"minus_column", "even_column"}, {"stack"}, {last_axis()})
      .node("Reshape", {"stack", "as_x"}, {"turned"})
      .node("Mul", {"turned", "sin"}, {"y"})
      .output("y");
  const LaidOut of_pairs(pairs);
  EXPECT_EQ(with_work(of_pairs), std::vector<std::string>{"y"});
  expect_turned(of_pairs, 1);
}

/// The halves may be those of any axis: pieces are as long as what is behind it makes them.
TEST(Rotations, AreHalvesOfAnotherAxisLongerPieces) {
  ModelBuilder b;
  b.input("x", {2, 6, 7}).input("sin", {6, 7});
  b.node("Split", {"x"}, {"low", "high"}, {{"axis", "", int64_t{1}}})
      .node("Neg", {"high"}, {"minus"})
      .node("Concat", {"minus", "low"}, {"turned"}, {{"axis", "", int64_t{1}}})
      .node("Mul", {"turned", "sin"}, {"y"})
      .output("y");
  expect_turned(LaidOut(b), 21);
}

/// A part of a head is turned, the rest goes on as it is: what is cut out is turned where it lies,
/// in rows as long as a beat or longer.
TEST(Rotations, IsAPartOfATensorTurnedWhereItLies) {
  constexpr int64_t kPart = 64, kWhole = 96;
  ModelBuilder b = network({1, kHeads, kRows, kWhole}, {1, 1, kRows, kPart});
  b.input("cos", {1, 1, kRows, kPart}).node("Relu", {"x"}, {"in"});
  cut(b, "part", "in", {0, kPart});
  cut(b, "rest", "in", {kPart, kWhole});
  cut(b, "low", "part", {0, kPart / 2});
  cut(b, "high", "part", {kPart / 2, kPart});
  b.node("Neg", {"high"}, {"minus"})
      .node("Concat", {"minus", "low"}, {"turned"}, {last_axis()})
      .node("Mul", {"turned", "sin"}, {"y"})
      .node("Mul", {"part", "cos"}, {"z"})
      .node("Add", {"y", "z"}, {"sum"})
      .node("Concat", {"sum", "rest"}, {"all"}, {last_axis()})
      .output("all");
  const LaidOut l(b);
  expect_turned(l, kPart / 2, "part");
  EXPECT_EQ(l.lowered.sub_tensors[test::as_index(l.id("part"))],
            (SubTensor{l.id("in"), 0, {kPart, kWhole}}));
  const auto& axes = std::get<VectorOp>(l.layer("y").work.back()).lane->axes;
  ASSERT_EQ(axes.size(), 4U) << "heads, rows, halves, elements";
  EXPECT_EQ(axes[1].a, kPart) << "from row to row of the part, whose pitch is the ports'";
  EXPECT_EQ(axes[2], (LaneAxis{2, kPart / 2, kPart / 2, LaneSlide::of_turned_axis(), true}));
}

TEST(Rotations, IsAnythingElseNone) {
  constexpr int64_t kHalf = kWidth / 2;
  EXPECT_TRUE(is_turned(halves()));
  const auto turns = [](auto change) {
    Spelling s;
    change(s);
    return is_turned(halves(s));
  };
  EXPECT_FALSE(turns([](Spelling& s) { s.negative = "low", s.second = "high"; }))
      << "nothing changes places";
  EXPECT_FALSE(turns([](Spelling& s) { s.negative = "low", s.first = "high", s.second = "minus"; }))
      << "the other one is negated";
  EXPECT_FALSE(turns([](Spelling& s) { s.first = "low", s.second = "minus"; }))
      << "the other order";
  EXPECT_FALSE(turns([](Spelling& s) { s.first = "high"; })) << "nothing is negated";
  EXPECT_FALSE(turns([](Spelling& s) { s.low = {1, kHalf + 1}; })) << "no half";
  EXPECT_FALSE(turns([](Spelling& s) { s.low.to = kHalf - 1, s.high.from = kHalf - 1; }))
      << "a shorter and a longer part";
  EXPECT_FALSE(turns([](Spelling& s) { s.low = {0, kWidth, 2}; })) << "half of the elements";
  EXPECT_FALSE(turns([](Spelling& s) {
    s.low = {kHalf, kWidth}, s.high = {0, kHalf};
  })) << "each in its place";
}

TEST(Rotations, AreHalvesOfTwoTensorsNone) {
  ModelBuilder b = network();
  b.input("z", kDims);
  cut(b, "low", "z", {0, kWidth / 2});
  cut(b, "high", "x", {kWidth / 2, kWidth});
  b.node("Neg", {"high"}, {"minus"})
      .node("Concat", {"minus", "low"}, {"turned"}, {last_axis()})
      .node("Mul", {"turned", "sin"}, {"y"})
      .output("y");
  EXPECT_FALSE(is_turned(b));
}

/// What has turned is there for others, too; a half that others read costs what it costs them.
TEST(Rotations, WhatOthersReadIsKept) {
  for (const bool is_output : {true, false}) {
    ModelBuilder b = halves();
    if (is_output)
      b.output("turned");
    else
      b.node("Sigmoid", {"turned"}, {"other"}).output("other");
    EXPECT_FALSE(is_turned(b));
  }
  ModelBuilder b = halves();
  b.node("Sigmoid", {"minus"}, {"other"}).output("other");
  const LaidOut l(b);
  expect_turned(l, kWidth / 2);
  EXPECT_NE(l.layer("minus").fate, Fate::folded);
  EXPECT_NE(l.layer("high").fate, Fate::folded);
  EXPECT_EQ(l.layer("low").fate, Fate::folded);
  EXPECT_EQ(l.layer("turned").fate, Fate::folded);
}

/// Sums with what has turned, and products of other shapes, aren't what the command does.
TEST(Rotations, AreOtherReadersNoProducts) {
  const auto with = [](const std::string& op, const Dims& x, const Dims& sin) {
    ModelBuilder b = network(x, sin);
    b.node("Split", {"x"}, {"low", "high"}, {last_axis()})
        .node("Neg", {"high"}, {"minus"})
        .node("Concat", {"minus", "low"}, {"turned"}, {last_axis()})
        .node(op, {"turned", "sin"}, {"y"})
        .output("y");
    return is_turned(b);
  };
  EXPECT_TRUE(with("Mul", kDims, {1, kWidth}));
  EXPECT_TRUE(with("Mul", kDims, kDims));
  EXPECT_FALSE(with("Add", kDims, kDims));
  EXPECT_FALSE(with("Sub", kDims, kDims));
  EXPECT_FALSE(with("Mul", {1, 1, kRows, kWidth}, kDims)) << "the result has more elements";
}

}  // namespace
}  // namespace accsim::sim
