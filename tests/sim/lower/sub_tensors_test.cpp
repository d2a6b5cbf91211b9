#include "sim/lower/sub_tensors.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/sim/lower/laid_out.h"

namespace accsim::sim {
namespace {

using test::as_index;
using test::ModelBuilder;

/// Where tensors of a graph lie in others.
struct Placed : test::LaidOut {
  using LaidOut::LaidOut;
  SubTensor part(const std::string& tensor) const {
    return lowered.sub_tensors[as_index(id(tensor))];
  }
  SubTensor in(const std::string& whole, int64_t offset, const Pitch& pitch) const {
    return {id(whole), offset, pitch};
  }
  /// Place of an element of a tensor in the bytes of the one that it is a part of.
  int64_t place(const std::string& tensor, int64_t element) const {
    const int64_t dense = place_of(element, layout(tensor));
    const SubTensor p = part(tensor);
    return p.whole == kNoTensor ? dense : p.offset + p.pitch.offset_of(dense);
  }
};
using Names = std::vector<std::string>;

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }

void conv(ModelBuilder& b, const std::string& from, const std::string& to, int64_t in, int64_t out,
          int64_t kernel = 1) {
  b.weight("w_" + to, {out, in, kernel, kernel});
  const int64_t pad = kernel / 2;
  b.node("Conv", {from, "w_" + to}, {to}, {ModelBuilder::ints("pads", {pad, pad, pad, pad})});
}
void concat(ModelBuilder& b, const Names& from, const std::string& to, int64_t axis) {
  b.node("Concat", from, {to}, {number("axis", axis)});
}
void slice(ModelBuilder& b, const std::string& from, const std::string& to, int64_t axis,
           int64_t begin, int64_t end) {
  b.constant(to + "_begin", {1}, {begin}).constant(to + "_end", {1}, {end});
  b.constant(to + "_axis", {1}, {axis});
  b.node("Slice", {from, to + "_begin", to + "_end", to + "_axis"}, {to});
}

TEST(SubTensors, AreChannelsThatASliceCutsOut) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 24);
  slice(b, "a", "s", 1, 8, 24);
  conv(b, "s", "y", 16, 8, 3);
  b.output("y");
  const Placed net(b);
  EXPECT_EQ(net.part("s"), net.in("a", 8, {16, 24}));
  EXPECT_EQ(net.moves(), Names{});
}

TEST(SubTensors, AreWhatASplitGivesOfLines) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 5});
  conv(b, "x", "a", 8, 8);
  b.constant("sizes", {2}, {2, 4});
  b.node("Split", {"a", "sizes"}, {"s", "t"}, {number("axis", 2)});
  conv(b, "s", "y", 8, 8, 3);
  conv(b, "t", "z", 8, 8, 3);
  b.output("y").output("z");
  const Placed net(b);
  EXPECT_EQ(net.part("s"), net.in("a", 0, {}));
  EXPECT_EQ(net.part("t"), net.in("a", 2 * 5 * 8, {}));
  EXPECT_EQ(net.moves(), Names{});
}

TEST(SubTensors, LieWhereAConcatPutsThemTogether) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 24);
  conv(b, "a", "c", 24, 16, 3);
  b.node("MaxPool", {"a"}, {"p"},
         {ModelBuilder::ints("kernel_shape", {3, 3}), ModelBuilder::ints("pads", {1, 1, 1, 1})});
  concat(b, {"a", "c", "p"}, "k", 1);
  conv(b, "k", "y", 64, 8, 3);
  b.output("y");
  const Placed net(b);
  EXPECT_EQ(net.part("a"), net.in("k", 0, {24, 64}));
  EXPECT_EQ(net.part("c"), net.in("k", 24, {16, 64}));
  EXPECT_EQ(net.part("p"), net.in("k", 40, {24, 64}));
  EXPECT_EQ(net.moves(), Names{});
}

TEST(SubTensors, AreCutOutOfATensorThatIsAPart) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 24);
  slice(b, "a", "s", 1, 0, 8);
  slice(b, "a", "t", 1, 8, 24);
  conv(b, "t", "c", 16, 16, 3);
  concat(b, {"s", "t", "c"}, "k", 1);
  conv(b, "k", "y", 40, 8);
  b.output("y");
  const Placed net(b);
  EXPECT_EQ(net.part("a"), net.in("k", 0, {24, 40}));
  EXPECT_EQ(net.part("s"), net.in("k", 0, {8, 40}));
  EXPECT_EQ(net.part("t"), net.in("k", 8, {16, 40}));
  EXPECT_EQ(net.part("c"), net.in("k", 24, {16, 40}));
  EXPECT_EQ(net.moves(), Names{});
}

TEST(SubTensors, AreCopiedWhereOnlySomeOfATensorIsPutTogether) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 24);
  slice(b, "a", "s", 1, 0, 8);
  slice(b, "a", "t", 1, 8, 24);
  conv(b, "t", "c", 16, 16, 3);
  conv(b, "s", "d", 8, 16, 3);
  concat(b, {"t", "c", "d"}, "k", 1);
  conv(b, "k", "y", 48, 8);
  b.output("y");
  const Placed net(b);
  EXPECT_EQ(net.part("a"), SubTensor{});
  EXPECT_EQ(net.part("t"), net.in("a", 8, {16, 24}));
  EXPECT_EQ(net.part("c"), net.in("k", 16, {16, 48}));
  EXPECT_EQ(net.moves(), Names{"k"});
}

/// A row a beat, whoever reads it on the vector unit, is dearer than a copy that takes a beat a row
/// once, where a beat could take many rows.
TEST(SubTensors, AreCopiedWhereManyReadThemInShortRows) {
  const auto moves = [](int64_t channels, int readers, bool on_array) {
    ModelBuilder b;
    b.input("x", {1, 8, 6, 6});
    conv(b, "x", "a", 8, 64);
    slice(b, "a", "s", 1, 0, channels);
    for (int i = 0; i < readers; ++i) {
      const std::string to = "y" + std::to_string(i);
      if (on_array)
        conv(b, "s", to, channels, 8);
      else
        b.node("Sigmoid", {"s"}, {to});
      b.output(to);
    }
    return Placed(b).moves().size();
  };
  EXPECT_EQ(moves(2, 1, false), 0);
  EXPECT_EQ(moves(2, 3, true), 0);
  for (const int64_t channels : {2, 8, 16, 40, 48})
    for (const int readers : {2, 3, 4}) {
      const double each = 1.0 / static_cast<double>(channels), beat = 1.0 / 64;
      const bool dearer = readers * each > each + readers * beat + 1e-9;
      EXPECT_EQ(moves(channels, readers, false), dearer ? 1 : 0) << channels << " " << readers;
    }
}

TEST(SubTensors, OfPartsLieInTheLargestTensor) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 8);
  std::string all = "a";
  int64_t channels = 8;
  for (const std::string each : {"b", "c", "d"}) {  // as a dense block
    conv(b, all, each, channels, 4, 3);
    concat(b, {all, each}, all + each, 1);
    all += each;
    channels += 4;
  }
  conv(b, all, "y", channels, 8);
  b.output("y");
  const Placed net(b);
  EXPECT_EQ(net.part("a"), net.in("abcd", 0, {8, 20}));
  EXPECT_EQ(net.part("b"), net.in("abcd", 8, {4, 20}));
  EXPECT_EQ(net.part("abc"), net.in("abcd", 0, {16, 20}));
  EXPECT_EQ(net.moves(), Names{});
}

TEST(SubTensors, AreTheOutputsOfManyIterationsWhereTheyAreCollected) {
  // More than a layer's moves are looked at otherwise.
  constexpr int64_t kIterations = 1500;
  ModelBuilder b;
  b.input("x", {1, 8}).input("z", {1, 8});
  Names parts;
  for (int64_t i = 0; i < kIterations; ++i) {
    const std::string name = "t" + std::to_string(i);
    b.node("Add", {i == 0 ? "x" : parts.back(), "z"}, {name});
    parts.push_back(name);
  }
  concat(b, parts, "all", 0);
  b.node("Relu", {"all"}, {"y"});
  b.output("y");
  const Placed n(b);
  EXPECT_EQ(n.layer("all").fate, Fate::view);
  EXPECT_TRUE(n.layer("all").work.empty());
  for (int64_t i = 0; i < kIterations; ++i)
    EXPECT_EQ(n.part(parts[static_cast<size_t>(i)]), n.in("all", 8 * i, {})) << i;
}

TEST(SubTensors, AreCopiedWhereTheyLieInAnotherPlaceOfTheWholeAlready) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 8);
  conv(b, "x", "c", 8, 8);
  conv(b, "x", "d", 8, 8);
  concat(b, {"a", "c", "c", "d"}, "all", 1);
  conv(b, "all", "y", 32, 8);
  b.output("y");
  const Placed n(b);
  EXPECT_EQ(n.part("a"), n.in("all", 0, {8, 32}));
  EXPECT_EQ(n.part("c"), n.in("all", 8, {8, 32}));
  EXPECT_EQ(n.part("d"), n.in("all", 24, {8, 32}));
  EXPECT_EQ(n.moves(), Names{"all"});  // c can lie in one place only
}

TEST(SubTensors, AreNoneOfWhatTheNetworkIsGivenOrGives) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6});
  conv(b, "x", "a", 8, 8);
  concat(b, {"x", "a"}, "k", 1);
  slice(b, "k", "s", 1, 4, 12);
  conv(b, "k", "y", 16, 8);
  b.output("a").output("s").output("y");
  const Placed net(b);
  for (const std::string name : {"x", "a", "s", "k"})
    EXPECT_EQ(net.part(name), SubTensor{}) << name;
  EXPECT_EQ(net.moves(), (Names{"k", "k", "s"}));
}

TEST(SubTensors, AreACacheThatIsGivenAndWhatIsAppendedToIt) {
  ModelBuilder b;
  b.input("past", {2, 10, 16}).input("x", {2, 3, 8}).input("q", {2, 3, 16}).weight("w", {8, 16});
  b.node("MatMul", {"x", "w"}, {"new"});
  concat(b, {"past", "new"}, "present", 1);
  b.node("Transpose", {"present"}, {"turned"}, {ModelBuilder::ints("perm", {0, 2, 1})});
  b.node("MatMul", {"q", "turned"}, {"y"});
  b.output("y").output("present");
  const Placed net(b);
  EXPECT_EQ(net.part("past"), net.in("present", 0, {10 * 16, 13 * 16}));
  EXPECT_EQ(net.part("new"), net.in("present", 10 * 16, {3 * 16, 13 * 16}));
  EXPECT_EQ(net.moves(), Names{});
}

/// Latent attention: values are the first columns of the keys, and lie there.
TEST(SubTensors, AreValuesThatAreColumnsOfTheKeys) {
  ModelBuilder b;
  b.input("past", {1, 10, 20}).input("new", {1, 1, 20}).input("q", {1, 4, 20});
  concat(b, {"past", "new"}, "keys", 1);
  b.node("Transpose", {"keys"}, {"turned"}, {ModelBuilder::ints("perm", {0, 2, 1})});
  b.node("MatMul", {"q", "turned"}, {"scores"});
  b.node("Softmax", {"scores"}, {"weights"}, {number("axis", -1)});
  slice(b, "keys", "values", 2, 0, 16);
  b.node("MatMul", {"weights", "values"}, {"y"});
  b.output("y").output("keys");
  const Placed net(b);
  EXPECT_EQ(net.part("values"), net.in("keys", 0, {16, 20}));
  EXPECT_EQ(net.moves(), Names{"keys"}) << "the new row";
}

/// A window of the keys of each head, and some of the queries.
TEST(SubTensors, AreRowsOfEachHeadsMatrices) {
  ModelBuilder b;
  b.input("x", {1, 6, 8}).weight("w", {3, 8, 8}).input("keys", {3, 8, 12});
  b.node("MatMul", {"x", "w"}, {"q"});
  slice(b, "q", "some", 1, 2, 6);
  slice(b, "keys", "window", 1, 0, 8);
  b.node("MatMul", {"some", "window"}, {"y"}).output("y");
  slice(b, "q", "others", 1, 0, 2);
  b.node("MatMul", {"others", "window"}, {"z"}).output("z");
  const Placed net(b);
  EXPECT_EQ(net.part("some"), net.in("q", 2 * 8, {4 * 8, 6 * 8}));
  EXPECT_EQ(net.part("others"), net.in("q", 0, {2 * 8, 6 * 8}));
}

TEST(SubTensors, OfWhatIsGivenOnlyTheLargestIsThereBefore) {
  ModelBuilder b;
  b.input("new", {2, 3, 16}).input("past", {2, 10, 16}).input("more", {2, 10, 16});
  concat(b, {"new", "past", "more"}, "present", 1);
  b.output("present");
  const Placed net(b);
  EXPECT_EQ(net.part("past"), net.in("present", 3 * 16, {10 * 16, 23 * 16}));
  EXPECT_EQ(net.part("new"), SubTensor{});
  EXPECT_EQ(net.part("more"), SubTensor{});
  EXPECT_EQ(net.moves(), (Names{"present", "present"}));
}

TEST(SubTensors, ACacheMayBePartOfAPart) {
  ModelBuilder b;
  b.input("x", {4, 16}).input("y", {6, 16}).input("z", {8, 16});
  concat(b, {"x", "y"}, "both", 0);
  concat(b, {"both", "z"}, "all", 0);
  b.output("all");
  EXPECT_EQ(Placed(b).moves().size(), 2U);
}

/// Of random branches, put together and cut along any axis: an element lies where that element of
/// the whole lies, by the definition of Concat and Slice.
TEST(SubTensors, AreWhereTheWholesElementsLie) {
  std::mt19937 random(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int placed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto axis = pick(1, 3);
    const int64_t first = pick(1, 9), second = pick(1, 9);
    Dims a{1, 6, 5, 4}, c = a;
    a[as_index(axis)] = first;
    c[as_index(axis)] = second;
    ModelBuilder b;
    b.input("x", a).input("z", c);
    conv(b, "x", "a", a[1], a[1], 3);
    conv(b, "z", "c", c[1], c[1], 3);
    concat(b, {"a", "c"}, "k", axis);
    const int64_t from = pick(0, first), to = pick(from + 1, first + second);
    slice(b, "k", "s", axis, from, to);
    conv(b, "s", "y", axis == 1 ? to - from : 6, 8, 3);
    conv(b, "k", "o", axis == 1 ? first + second : 6, 8, 3);
    b.output("y").output("o");
    const Placed net(b);
    const auto check = [&](const std::string& part, int64_t before) {
      if (net.part(part).whole != net.id("k")) return;
      ++placed;
      const Dims &whole = net.graph.tensor(net.id("k")).dims,
                 &dims = net.graph.tensor(net.id(part)).dims;
      const int64_t inner = elements(whole, as_index(axis) + 1, whole.size());
      const int64_t length = dims[as_index(axis)], all = whole[as_index(axis)];
      for (int64_t n = 0; n < elements(dims); ++n) {
        const int64_t outer = n / (length * inner), along = n / inner % length;
        const int64_t there = (outer * all + along + before) * inner + n % inner;
        EXPECT_EQ(net.place(part, n), net.place("k", there));
      }
    };
    check("a", 0);
    check("c", first);
    check("s", from);
  }
  EXPECT_GT(placed, 100);
}

}  // namespace
}  // namespace accsim::sim
