#include "sim/lower/lay_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "sim/operators/node_view.h"
#include "tests/sim/lower/laid_out.h"
#include "tests/sim/lower/memory_contents.h"

namespace accsim::sim {
namespace {

using test::as_index;
using test::LaidOut;
using test::ModelBuilder;

void reshape(ModelBuilder& b, const std::string& from, const std::string& to, const Dims& dims) {
  b.node("Constant", {}, {to + "_dims"}, {ModelBuilder::ints("value_ints", dims)});
  b.node("Reshape", {from, to + "_dims"}, {to});
}
void transpose(ModelBuilder& b, const std::string& from, const std::string& to,
               std::vector<int64_t> perm) {
  b.node("Transpose", {from}, {to}, {ModelBuilder::ints("perm", std::move(perm))});
}

TEST(LayOut, GoesAChannelShuffleThroughPlanesOfPixels) {
  constexpr int64_t kC = 24, kG = 3, kSide = 7;
  ModelBuilder b;
  b.input("x", {1, kC, kSide, kSide}).weight("w", {kC, kC, 1, 1}).weight("v", {kC, kC, 3, 3});
  b.node("Conv", {"x", "w"}, {"a"});
  reshape(b, "a", "split", {1, kG, kC / kG, kSide, kSide});
  transpose(b, "split", "turned", {0, 2, 1, 3, 4});
  reshape(b, "turned", "joined", {1, kC, kSide, kSide});
  b.node("Conv", {"joined", "v"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_EQ(net.moves(), (std::vector<std::string>{"turned", "turned"}));
  const Work& work = net.layer("turned").work;
  const auto &op = std::get<MemoryOp>(work.at(0)), &back = std::get<MemoryOp>(work.at(1));
  // In a pixel, channel g * 8 + c goes to c * 3 + g.
  constexpr int64_t kPixels = kSide * kSide;
  EXPECT_EQ(op.axes, (std::vector<MoveAxis>{{kC / kG, 1}, {kG, kC / kG}, {kPixels, kC}}));
  EXPECT_EQ(back.axes, (std::vector<MoveAxis>{{kPixels, 1}, {kC, kPixels}}));
  EXPECT_EQ(op.inputs.at(0).elements, kC * kSide * kSide);
  EXPECT_EQ(net.layout("joined"), channels_last_layout({1, kC, kSide, kSide}));
}

TEST(LayOut, IsAnEinsumThatTurnsLeftToItsReadersLikeATranspose) {
  ModelBuilder b;
  b.input("x", {4, 16, 8}).node("Relu", {"x"}, {"a"});
  b.node("Einsum", {"a"}, {"b"}, {{"equation", "", std::string("abc->bac")}});
  b.node("Einsum", {"b"}, {"c"}, {{"equation", "", std::string("abc->abc")}});
  b.node("Softmax", {"c"}, {"y"}, {{"axis", "", int64_t{2}}}).output("y");
  const LaidOut net(b);
  EXPECT_TRUE(net.moves().empty());
  for (const char* name : {"b", "c"}) {
    EXPECT_EQ(net.layer(name).op_type, "Einsum");
    EXPECT_EQ(net.layer(name).fate, Fate::view);
  }
}

/// What a network of transposes of [1, 4, 6, 8] moves.
std::vector<std::string> moves_of(const std::vector<std::vector<int64_t>>& perms) {
  ModelBuilder b;
  b.input("t0", {1, 4, 6, 8});
  for (size_t i = 0; i < perms.size(); ++i)
    b.node("Transpose", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)},
           {ModelBuilder::ints("perm", perms[i])});
  b.output("t" + std::to_string(perms.size()));
  return LaidOut(b).moves();
}

TEST(LayOut, WhatTheNetworkItselfTurnsMoves) {
  using Moves = std::vector<std::string>;
  EXPECT_EQ(moves_of({{0, 2, 3, 1}}), Moves{"t1"});
  EXPECT_EQ(moves_of({{0, 3, 1, 2}}), Moves{"t1"});
  EXPECT_EQ(moves_of({{0, 2, 3, 1}, {0, 3, 1, 2}}), Moves{});  // nothing is turned
  EXPECT_EQ(moves_of({{0, 2, 1, 3}}), Moves{"t1"});
}

TEST(LayOut, AreMaximaWithIndicesMadeByTheSameCommands) {
  const auto maxima = [](const std::vector<std::string>& outputs) {
    ModelBuilder b;
    b.input("x", {1, 8, 6, 6});
    b.node("MaxPool", {"x"}, outputs,
           {ModelBuilder::ints("kernel_shape", {2, 2}), ModelBuilder::ints("strides", {2, 2})});
    for (const std::string& output : outputs) b.output(output);
    return LaidOut(b).layer("y").work;
  };
  const Work alone = maxima({"y"}), both = maxima({"y", "where"});
  const auto &one = std::get<VectorOp>(alone.at(0)), &same = std::get<VectorOp>(both.at(0));
  ASSERT_TRUE(one.lane);
  ASSERT_TRUE(same.lane);
  EXPECT_EQ(same.lane->axes, one.lane->axes);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_FALSE(std::get<VectorOp>(both[1]).lane) << "no command finds where maxima are";
}

TEST(LayOut, ArePatchesOfAnImageTokensForNothing) {
  ModelBuilder b;
  b.input("x", {1, 3, 32, 32}).weight("w", {48, 3, 8, 8}).weight("g", {48}).weight("m", {48, 48});
  b.node("Conv", {"x", "w"}, {"patches"}, {ModelBuilder::ints("strides", {8, 8})});
  reshape(b, "patches", "flat", {1, 48, 16});
  transpose(b, "flat", "tokens", {0, 2, 1});
  b.node("LayerNormalization", {"tokens", "g"}, {"norm"}).node("MatMul", {"norm", "m"}, {"y"});
  b.output("y");
  const LaidOut net(b);
  EXPECT_TRUE(net.moves().empty());
  EXPECT_EQ(net.layer("tokens").fate, Fate::view);
  EXPECT_EQ(net.layout("tokens"), row_major_layout({1, 16, 48}));
  EXPECT_EQ(net.layout("x"), channels_last_layout({1, 3, 32, 32})) << "the host lays it out";
}

TEST(LayOut, IsFlattenBeforeConstantWeightsFree) {
  const auto flattened = [](bool constant) {
    ModelBuilder b;
    b.input("x", {2, 4, 5, 5}).weight("w", {6, 4, 3, 3});
    b.node("Conv", {"x", "w"}, {"a"}).node("Flatten", {"a"}, {"f"});
    if (constant)
      b.weight("m", {54, 10});
    else
      b.input("m", {54, 10});
    b.node("Gemm", {"f", "m"}, {"y"}).output("y");
    return LaidOut(b);
  };
  EXPECT_TRUE(flattened(true).moves().empty());
  EXPECT_FALSE(flattened(true).gemm("y").a_transposed);
  // The rows of computed weights can't be put in another order off line.
  const LaidOut dynamic = flattened(false);
  EXPECT_EQ(dynamic.moves(), std::vector<std::string>{"f"});
  EXPECT_EQ(dynamic.layer("f").fate, Fate::memory);
  EXPECT_EQ(std::get<MemoryOp>(dynamic.layer("f").work[0]).axes,
            (std::vector<MoveAxis>{{2, 54}, {6, 1}, {9, 6}}));
}

TEST(LayOut, AreTransposesThatCancelFree) {
  ModelBuilder b;
  b.input("x", {2, 5, 7}).weight("g", {7});
  b.node("LayerNormalization", {"x", "g"}, {"n"});
  transpose(b, "n", "t", {0, 2, 1});
  b.node("Sigmoid", {"t"}, {"s"});
  transpose(b, "s", "u", {0, 2, 1});
  b.node("LayerNormalization", {"u", "g"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_TRUE(net.moves().empty());
  EXPECT_EQ(net.layout("s"), (Layout{{2, 35}, {5, 1}, {7, 5}}));
}

TEST(LayOut, IsATransposeBeforeANormOfItsLastAxisACopyThatTurns) {
  ModelBuilder b;
  b.input("x", {2, 5, 7}).weight("h", {7}).weight("g", {5});
  b.node("LayerNormalization", {"x", "h"}, {"n"});
  transpose(b, "n", "t", {0, 2, 1});
  b.node("LayerNormalization", {"t", "g"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_EQ(net.moves(), std::vector<std::string>{"t"});
  EXPECT_EQ(std::get<MemoryOp>(net.layer("t").work[0]).axes,
            (std::vector<MoveAxis>{{2, 35}, {7, 1}, {5, 7}}));
}

TEST(LayOut, MovesSlicesAndConcatsOfChannelsInRunsOfAPixel) {
  ModelBuilder b;
  b.input("x", {1, 16, 6, 6}).weight("w", {16, 16, 1, 1});
  b.node("Conv", {"x", "w"}, {"a"})
      .node("Split", {"a"}, {"s", "t"}, {{"axis", "", int64_t{1}}})
      .node("Sigmoid", {"t"}, {"u"})
      .node("Concat", {"a", "u"}, {"y"}, {{"axis", "", int64_t{1}}});
  for (const std::string given : {"a", "s", "t", "u", "y"}) b.output(given);  // none is a part
  const LaidOut net(b);
  EXPECT_EQ(net.moves(), (std::vector<std::string>{"s", "s", "y", "y"}));
  EXPECT_EQ(std::get<MemoryOp>(net.layer("s").work[0]).inputs[0].run, 8);
  EXPECT_EQ(std::get<MemoryOp>(net.layer("y").work[0]).outputs[0].run, 16);
  EXPECT_EQ(std::get<MemoryOp>(net.layer("y").work[1]).outputs[0].run, 8);
  EXPECT_EQ(std::get<MemoryOp>(net.layer("y").work[1]).to, 16);
  EXPECT_EQ(net.layout("y"), channels_last_layout({1, 24, 6, 6}));
  EXPECT_EQ(net.layout("t"), channels_last_layout({1, 8, 6, 6}));
}

TEST(LayOut, IsEveryBlockOfChannelsAPixelOfDepthToSpace) {
  const auto axes = [](const char* mode) {
    ModelBuilder b;
    b.input("x", {1, 12, 2, 5}).weight("w", {12, 12, 1, 1});
    b.node("Conv", {"x", "w"}, {"a"})
        .node("DepthToSpace", {"a"}, {"y"},
              {{"blocksize", "", int64_t{2}}, {"mode", "", std::string(mode)}})
        .output("y");
    return std::get<MemoryOp>(LaidOut(b).layer("y").work.at(0)).axes;
  };
  // A line of two columns of 3 channels of each of 5 blocks goes to a line of the image.
  EXPECT_EQ(axes("DCR"), (std::vector<MoveAxis>{{2, 60}, {2, 6}, {5, 12}, {6, 1}}));
  EXPECT_EQ(axes("CRD"), (std::vector<MoveAxis>{{2, 60}, {2, 2}, {5, 12}, {2, 1}, {3, 4}}));
}

TEST(LayOut, ReadsAProductItsOperandsEitherWayRound) {
  const auto product = [](std::vector<int64_t> perm_q, std::vector<int64_t> perm_k) {
    ModelBuilder b;
    b.input("q", {2, 4, 8}).input("k", {2, 6, 8}).weight("g", {8});
    b.node("LayerNormalization", {"q", "g"}, {"nq"}).node("LayerNormalization", {"k", "g"}, {"nk"});
    transpose(b, "nq", "tq", std::move(perm_q));
    transpose(b, "nk", "tk", std::move(perm_k));
    b.node("MatMul", {"tq", "tk"}, {"y"}).output("y");
    return LaidOut(b);
  };
  const LaidOut keys = product({0, 1, 2}, {0, 2, 1});
  EXPECT_TRUE(keys.moves().empty());
  EXPECT_TRUE(keys.gemm("y").b_transposed);
  EXPECT_FALSE(keys.gemm("y").a_transposed);

  ModelBuilder b;
  b.input("x", {2, 4, 8}).weight("g", {8}).weight("w", {4, 16});
  b.node("LayerNormalization", {"x", "g"}, {"n"});
  transpose(b, "n", "t", {0, 2, 1});
  b.node("MatMul", {"t", "w"}, {"y"}).output("y");
  const LaidOut mixer(b);
  // Rows of two images, one behind the other, aren't one matrix turned.
  EXPECT_EQ(mixer.moves(), std::vector<std::string>{"t"});
  EXPECT_FALSE(mixer.gemm("y").a_transposed);
}

TEST(LayOut, IsOneImagesTransposeLeftToTheLoadOfItsProduct) {
  ModelBuilder b;
  b.input("x", {1, 4, 8}).weight("g", {8}).weight("w", {4, 16});
  b.node("LayerNormalization", {"x", "g"}, {"n"});
  transpose(b, "n", "t", {0, 2, 1});
  b.node("MatMul", {"t", "w"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_TRUE(net.moves().empty());
  EXPECT_TRUE(net.gemm("y").a_transposed);
  EXPECT_EQ(net.layout("y"), row_major_layout({1, 8, 16}));
}

TEST(LayOut, KeepsRowsOfAProductInTheOrderTheyLieIn) {
  ModelBuilder b;
  b.input("x", {4, 3, 8}).weight("g", {8}).weight("w", {8, 16}).weight("h", {16});
  b.node("LayerNormalization", {"x", "g"}, {"n"});
  transpose(b, "n", "t", {1, 0, 2});
  b.node("MatMul", {"t", "w"}, {"m"}).node("LayerNormalization", {"m", "h"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_TRUE(net.moves().empty());
  EXPECT_EQ(net.layout("y"), layout_in_order({3, 4, 16}, {1, 0, 2}));
}

TEST(LayOut, IsACopyTheTransposesThroughAFunctionOfItsElements) {
  ModelBuilder b;
  b.input("x", {2, 4, 24}).input("k", {2, 3, 8, 4}).weight("w", {24, 24}).weight("one", {1});
  b.node("MatMul", {"x", "w"}, {"p"});
  reshape(b, "p", "heads", {2, 4, 3, 8});
  transpose(b, "heads", "t", {0, 2, 1, 3});
  b.node("Mul", {"t", "one"}, {"scaled"}).node("MatMul", {"scaled", "k"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_EQ(net.moves(), std::vector<std::string>{"t"});
  EXPECT_EQ(std::get<MemoryOp>(net.layer("t").work[0]).axes,
            (std::vector<MoveAxis>{{2, 96}, {3, 8}, {4, 24}, {8, 1}}));
  EXPECT_EQ(net.layout("scaled"), row_major_layout({2, 3, 4, 8}));
}

TEST(LayOut, KeepsPixelsTogetherBehindAShuffleThatIsSplit) {
  ModelBuilder b;
  b.input("x", {1, 8, 5, 5}).weight("w", {8, 8, 1, 1});
  b.node("Conv", {"x", "w"}, {"a"});
  reshape(b, "a", "two", {1, 2, 4, 5, 5});
  transpose(b, "two", "t", {0, 2, 1, 3, 4});
  reshape(b, "t", "shuffled", {1, 8, 5, 5});
  b.node("Split", {"shuffled"}, {"left", "right"}, {{"axis", "", int64_t{1}}});
  b.output("left").output("right");
  const LaidOut net(b);
  EXPECT_EQ(net.moves(), (std::vector<std::string>{"t", "t", "left", "left"}));
  EXPECT_EQ(std::get<MemoryOp>(net.layer("t").work[1]).axes,
            (std::vector<MoveAxis>{{25, 1}, {8, 25}}));
  EXPECT_EQ(std::get<MemoryOp>(net.layer("left").work[0]).inputs[0].run, 4);
  EXPECT_EQ(net.layout("right"), channels_last_layout({1, 4, 5, 5}));
}

TEST(LayOut, LeavesACacheThatAProductReadsTurnedRowByRow) {
  ModelBuilder b;
  b.input("past", {1, 2, 9, 8}).input("new", {1, 2, 1, 8}).input("q", {1, 2, 1, 8});
  b.node("Concat", {"past", "new"}, {"keys"}, {{"axis", "", int64_t{2}}});
  transpose(b, "keys", "turned", {0, 1, 3, 2});
  b.node("MatMul", {"q", "turned"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_EQ(net.layout("past"), row_major_layout({1, 2, 9, 8}));
  EXPECT_EQ(net.moves(), (std::vector<std::string>{"keys", "keys"}));
  EXPECT_EQ(std::get<MemoryOp>(net.layer("keys").work[0]).outputs[0].run, 9 * 8);
  EXPECT_EQ(std::get<MemoryOp>(net.layer("keys").work[1]).outputs[0].run, 8);
  EXPECT_TRUE(net.gemm("y").b_transposed);
}

/// Keys of blocks of queries overlap: all are copied once, head by head, and not box by box.
TEST(LayOut, CopiesWhatIsCutIntoBoxesThatOverlapOnce) {
  for (const bool overlap : {false, true}) {
    ModelBuilder b;
    b.input("x", {1, 12, 32}).weight("w", {32, 32}).input("q", {1, 4, 5, 8});
    b.node("MatMul", {"x", "w"}, {"k"});
    reshape(b, "k", "split", {1, 12, 4, 8});
    transpose(b, "split", "heads", {0, 2, 1, 3});
    b.constant("axis", {1}, {2});
    for (const std::string part : {"a", "b"}) {
      b.constant(part + "_from", {1}, {part == "a" ? 0 : overlap ? 2 : 6});
      b.constant(part + "_to", {1}, {part == "a" ? 6 : 12});
      b.node("Slice", {"heads", part + "_from", part + "_to", "axis"}, {part + "_keys"});
      transpose(b, part + "_keys", part + "_turned", {0, 1, 3, 2});
      b.node("MatMul", {"q", part + "_turned"}, {part}).output(part);
    }
    const LaidOut net(b);
    const std::vector<std::string> once = {"heads"}, each = {"a_turned", "b_turned"};
    EXPECT_EQ(net.moves(), overlap ? once : each);
  }
}

TEST(LayOut, CopiesWhatTwoReadersWantInTwoOrders) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6}).weight("w", {8, 8, 1, 1}).weight("g", {6});
  b.node("Conv", {"x", "w"}, {"a"})
      .node("Sigmoid", {"a"}, {"s"})
      .node("LayerNormalization", {"a", "g"}, {"n"})
      .output("s")
      .output("n");
  const LaidOut net(b);
  const Work& work = net.layer("n").work;
  ASSERT_EQ(work.size(), 2U);
  const auto& copy = std::get<MemoryOp>(work[0]);
  EXPECT_EQ(copy.inputs[0].port, 0);
  EXPECT_EQ(copy.outputs[0].port, copy_port(0));
  // Lines of 6 pixels by 8 channels, turned: the norm is over a line's pixels.
  EXPECT_EQ(copy.axes, (std::vector<MoveAxis>{{6, 48}, {8, 1}, {6, 8}}));
  EXPECT_EQ(std::get<VectorOp>(work[1]).inputs[0].port, copy_port(0));
  ASSERT_TRUE(std::get<VectorOp>(work[1]).row_work);
  EXPECT_EQ(std::get<VectorOp>(work[1]).row_work->in_port, copy_port(0));
}

TEST(LayOut, HasAResidualLieLikeTheProductsOutput) {
  ModelBuilder b;
  b.input("x", {1, 8, 6, 6}).input("r", {6, 8}).weight("v", {8, 36}).weight("w", {8, 8, 1, 1});
  b.node("MatMul", {"r", "v"}, {"p"});
  b.node("Conv", {"x", "w"}, {"a"});
  reshape(b, "p", "image", {1, 6, 6, 6});
  b.weight("u", {8, 6, 1, 1});
  b.node("Conv", {"image", "u"}, {"c"}).node("Add", {"a", "c"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_EQ(net.moves(), std::vector<std::string>{"image"}) << "by the reshape, for its reader";
  EXPECT_EQ(net.layer("c").residual, 2);
  EXPECT_EQ(net.layout("y"), channels_last_layout({1, 8, 6, 6}));
}

/// A graph of a few steps that keep, turn, reshape or fix the order of elements.
ModelBuilder random_chain(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  ModelBuilder b;
  Dims dims{pick(1, 3), 2 * pick(1, 3), pick(1, 4), 2 * pick(1, 2)};
  b.input("t0", dims);
  const int64_t steps = pick(3, 9);
  for (int64_t i = 0; i < steps; ++i) {
    const std::string from = "t" + std::to_string(i), to = "t" + std::to_string(i + 1);
    switch (pick(0, 5)) {
      case 0:
      case 1: {
        std::vector<int64_t> perm(dims.size());
        std::iota(perm.begin(), perm.end(), 0);
        std::ranges::shuffle(perm, random);
        Dims turned;
        for (const int64_t p : perm) turned.push_back(dims[as_index(p)]);
        transpose(b, from, to, perm);
        dims = turned;
        break;
      }
      case 2: {  // two dims become one, or one two
        const size_t at = as_index(pick(0, std::ssize(dims) - 1));
        if (dims.size() > 3 && at + 1 < dims.size()) {
          dims[at] *= dims[at + 1];
          dims.erase(dims.begin() + static_cast<ptrdiff_t>(at) + 1);
        } else if (dims[at] % 2 == 0) {
          dims[at] /= 2;
          dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), 2);
        }
        reshape(b, from, to, dims);
        break;
      }
      case 3:
        b.node("Sigmoid", {from}, {to});
        break;
      case 4:
        b.node("GlobalLpPool", {from}, {to + "_side"}).output(to + "_side");
        b.node("Sigmoid", {from}, {to});
        break;
      default:
        b.node("Softmax", {from}, {to}, {{"axis", "", pick(0, std::ssize(dims) - 1)}});
    }
  }
  b.output("t" + std::to_string(steps));
  return b;
}

/// Memory as element numbers: each of t0's elements is known by its index and keeps its number
/// through every step, as ONNX defines the steps.
class NumberedMemory {
 public:
  explicit NumberedMemory(const LaidOut& net) : net_(net), numbers_(net.graph.tensors.size()) {
    for (size_t i = 0; i < net.graph.nodes.size(); ++i) step(net.lowered.layers[i]);
  }
  int copies = 0, views = 0, own_copies = 0;

 private:
  const Graph& graph() const { return net_.graph; }
  std::vector<int64_t>& numbers(TensorId id) {
    auto& list = numbers_[as_index(id)];
    if (list.empty()) {
      list.resize(as_index(elements(graph().tensor(id).dims)));
      std::iota(list.begin(), list.end(), 0);
    }
    return list;
  }
  std::vector<int64_t> memory(TensorId id) {
    std::vector<int64_t> out;
    for (const int64_t n : test::contents(net_.lowered.layouts[as_index(id)]))
      out.push_back(numbers(id)[as_index(n)]);
    return out;
  }

  void step(const Layer& l) {
    const Node& node = graph().nodes[as_index(l.node)];
    if (l.fate == Fate::folded) return;
    const TensorId in = l.inputs[0], out = l.outputs[0];
    const Dims &from = graph().tensor(in).dims, &to = graph().tensor(out).dims;
    const std::vector<int64_t> before = numbers(in);
    const auto perm = NodeView(graph(), node).attr_ints("perm");
    if (elements(from) == elements(to)) {
      numbers(out) = before;
      for (size_t n = 0; perm && n < before.size(); ++n)
        numbers(out)[n] =
            before[as_index(test::before_transpose(static_cast<int64_t>(n), from, *perm))];
    }
    std::vector<int64_t> held = memory(in);
    for (const WorkItem& item : l.work)
      if (const auto* op = std::get_if<MemoryOp>(&item)) {
        ASSERT_FALSE(op->axes.empty()) << l.name;
        held = test::moved(held, op->axes);
        (!op->outputs[0].port.is_of_node() ? own_copies : copies) += 1;
      }
    views += l.work.empty();
    if (elements(from) == elements(to)) {
      EXPECT_EQ(held, memory(out)) << l.name << " (" << l.op_type << ")";
    } else {  // pooling wants pixels
      EXPECT_EQ(contents_of_pixels(in), held) << l.name;
    }
  }

  std::vector<int64_t> contents_of_pixels(TensorId id) {
    std::vector<int64_t> out;
    for (const int64_t n : test::contents(channels_last_layout(graph().tensor(id).dims)))
      out.push_back(numbers(id)[as_index(n)]);
    return out;
  }

  const LaidOut& net_;
  std::vector<std::vector<int64_t>> numbers_;
};

TEST(LayOut, EveryStepFindsItsElementsWhereTheyLie) {
  std::mt19937 random(21);
  int copies = 0, views = 0, own_copies = 0;
  for (int round = 0; round < 400 && !testing::Test::HasFailure(); ++round) {
    const ModelBuilder b = random_chain(random);
    const LaidOut net(b);
    const NumberedMemory memory(net);
    copies += memory.copies;
    views += memory.views;
    own_copies += memory.own_copies;
  }
  EXPECT_GT(copies, 100);
  EXPECT_GT(views, 400);
  EXPECT_GT(own_copies, 30);
}

}  // namespace
}  // namespace accsim::sim
