#include <gtest/gtest.h>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

MemoryOp moved(SingleNode& node) {
  const Status s = node.infer();
  EXPECT_TRUE(s) << (s ? "" : s.errors()[0].text());
  return s ? item<MemoryOp>(node.cost()) : MemoryOp{};
}

bool is_free(SingleNode& node) {
  const Status s = node.infer();
  return s && node.cost() && node.cost()->empty();
}

/// Runs of the input and of the output.
std::pair<int64_t, int64_t> transpose_runs(Dims dims, std::vector<int64_t> perm) {
  SingleNode node("Transpose", 13);
  const int64_t count = elements(dims);
  node.in(std::move(dims)).list("perm", std::move(perm));
  const MemoryOp op = moved(node);
  EXPECT_EQ(op.inputs.at(0).elements, count);
  EXPECT_EQ(op.outputs.at(0).elements, count);
  return {op.inputs.at(0).run, op.outputs.at(0).run};
}

TEST(Transpose, IsTheRunWhatStaysTogetherAtTheEnd) {
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(transpose_runs({2, 3, 4, 5}, {1, 0, 2, 3}), P(4 * 5, 4 * 5));
  EXPECT_EQ(transpose_runs({2, 3, 4, 5}, {0, 2, 1, 3}), P(5, 5));
}

TEST(Transpose, AreBlocksTurnedWhenTheInnermostAxisMoves) {
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(transpose_runs({2, 3, 4, 5}, {0, 1, 3, 2}), P(5, 4));
  EXPECT_EQ(transpose_runs({2, 3, 4, 5}, {2, 3, 0, 1}), P(4 * 5, 2 * 3));
  EXPECT_EQ(transpose_runs({1000, 2000}, {1, 0}), P(64, 64));  // at most a block's side
}

TEST(Transpose, IsMovingAxesOfOneElementFree) {
  SingleNode free("Transpose", 13), real("Transpose", 13);
  free.in({1, 3, 1, 5}).list("perm", {1, 2, 0, 3});
  EXPECT_TRUE(is_free(free));
  real.in({2, 3, 1}).list("perm", {1, 2, 0});
  EXPECT_EQ(moved(real).inputs.at(0).run, 3);
}

TEST(Transpose, IsAListThatIsNoPermutationRefused) {
  for (const std::vector<int64_t>& perm : {std::vector<int64_t>{0, 0}, {0, 1, 2}, {1, 2}, {}}) {
    SingleNode node("Transpose", 13);
    node.in({2, 3}).list("perm", perm);
    EXPECT_FALSE(node.infer());
  }
}

TEST(Slice, IsOnlyWhatIsKeptRead) {
  const auto slice = [](int64_t axis, int64_t start, int64_t end, int64_t step) {
    SingleNode node("Slice", 13);
    node.in({4, 6, 10}).ints({start}).ints({end}).ints({axis}).ints({step});
    const MemoryOp op = moved(node);
    return std::pair(op.inputs.at(0).elements, op.inputs.at(0).run);
  };
  EXPECT_EQ(slice(0, 1, 3, 1), std::pair(int64_t{120}, int64_t{0}));  // one contiguous piece
  EXPECT_EQ(slice(1, 0, 2, 1), std::pair(int64_t{80}, int64_t{20}));
  EXPECT_EQ(slice(2, 5, 9, 1), std::pair(int64_t{96}, int64_t{4}));
  EXPECT_EQ(slice(1, 0, 6, 2), std::pair(int64_t{120}, int64_t{10}));
  EXPECT_EQ(slice(2, 9, -11, -1), std::pair(int64_t{240}, int64_t{1}));
}

TEST(Slice, IsASliceOfEverythingFree) {
  SingleNode node("Slice", 13);
  node.in({4, 6}).ints({0}).ints({INT64_MAX});
  EXPECT_TRUE(is_free(node));
}

TEST(Slice, AreBadListsRefused) {
  const auto slice = [](const std::vector<int64_t>& starts, std::vector<int64_t> axes,
                        std::vector<int64_t> steps) {
    SingleNode node("Slice", 13);
    node.in({4, 6}).ints(starts).ints(starts).ints(std::move(axes)).ints(std::move(steps));
    return shape_or_error(node);
  };
  EXPECT_EQ(slice({0, 0}, {1, -1}, {1, 1}), "Slice: axis 1 is given twice");
  EXPECT_EQ(slice({0}, {2}, {1}), "Slice: axis 2 is outside [-2, 2) of a tensor of rank 2");
  EXPECT_EQ(slice({0}, {1}, {0}), "Slice: a step is 0");
  EXPECT_EQ(slice({0}, {1, 0}, {1}), "Slice: axes and steps must be as long as starts");
}

TEST(Split, DoThePartsHaveToAddUp) {
  const auto split = [](int64_t opset, std::vector<int64_t> sizes, size_t outputs) {
    SingleNode node("Split", opset);
    node.in({10, 7});
    if (!sizes.empty()) node.ints(std::move(sizes));
    node.outs(outputs);
    return shape_or_error(node);
  };
  EXPECT_EQ(split(13, {4, 6}, 2), "4x7");
  EXPECT_EQ(split(13, {4, 5}, 2), "Split: the parts don't add up to dim 0 of 10");
  EXPECT_EQ(split(13, {11, -1}, 2), "Split: the parts don't add up to dim 0 of 10");
  EXPECT_EQ(split(13, {4, 6}, 3), "Split: 2 parts are given for 3 outputs");
  EXPECT_EQ(split(13, {}, 5), "2x7");
  EXPECT_EQ(split(13, {}, 3), "Split: dim 0 of 10 can't be split into 3 parts");
  EXPECT_EQ(split(18, {}, 3), "4x7");
}

TEST(Split, MayTheLastPartsHaveNoName) {
  const auto split = [](int64_t parts, size_t outputs) {
    SingleNode node("Split", 18);
    node.in({10, 6}).attr("num_outputs", parts).outs(outputs);
    return shape_or_error(node);
  };
  EXPECT_EQ(split(4, 2), "3x6");  // 3, 3, 3 and 1 rows
  EXPECT_EQ(split(4, 4), "3x6");
  EXPECT_EQ(split(1, 2), "Split: num_outputs is 1 but it has 2 outputs");
  EXPECT_EQ(split(7, 2), "Split: dim 0 of 10 can't be split into 7 parts");  // five of two are all
}

TEST(Split, IsEveryPartABox) {
  SingleNode node("Split", 13);
  node.in({3, 10}).ints({4, 6}).attr("axis", 1).outs(2);
  ASSERT_TRUE(node.infer());
  const Work work = *node.cost();
  ASSERT_EQ(work.size(), 2);
  const auto &first = std::get<MemoryOp>(work[0]), &second = std::get<MemoryOp>(work[1]);
  EXPECT_EQ(first.inputs.at(0).elements, 12);
  EXPECT_EQ(first.inputs.at(0).run, 4);
  EXPECT_EQ(second.from, 4);
  EXPECT_EQ(second.outputs.at(0).port, 1);
  EXPECT_EQ(second.outputs.at(0).elements, 18);
}

/// Where every element of each output comes from: the input and the index in it; -1: nowhere.
using Sources = std::vector<std::vector<std::pair<int, int64_t>>>;

/// What the node's work says, by the definition of its strides.
Sources sources(SingleNode& node, const std::vector<int64_t>& out_sizes) {
  Sources out;
  for (const int64_t n : out_sizes) out.emplace_back(static_cast<size_t>(n), std::pair(-1, 0));
  if (!node.infer()) return out;
  const Work work = *node.cost();
  for (const WorkItem& each : work) {
    const auto& op = std::get<MemoryOp>(each);
    const std::vector<int64_t> spacing = spacing_of(op);
    const auto visit = [&](const auto& self, size_t axis, int64_t from, int64_t to) -> void {
      if (axis == op.axes.size()) {
        auto& place = out.at(op.outputs.at(0).port.index()).at(static_cast<size_t>(to));
        EXPECT_EQ(place.first, -1) << "written twice";
        place = {static_cast<int>(op.inputs.at(0).port.index()), from};
        return;
      }
      for (int64_t i = 0; i < op.axes[axis].count; ++i)
        self(self, axis + 1, from + i * op.axes[axis].stride, to + i * spacing[axis]);
    };
    visit(visit, 0, op.from, op.to);
  }
  return out;
}

TEST(Boxes, AreSlicesWhatTheirIndicesSay) {
  SingleNode node("Slice", 13);
  node.in({5, 6, 7}).ints({4, 1}).ints({-6, 6}).ints({0, 2}).ints({-2, 2});
  const Sources got = sources(node, {3 * 6 * 3});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 6; ++j)
      for (int64_t k = 0; k < 3; ++k)
        EXPECT_EQ(got[0][static_cast<size_t>((i * 6 + j) * 3 + k)],
                  std::pair(0, ((4 - 2 * i) * 6 + j) * 7 + 1 + 2 * k));
}

TEST(Boxes, AreSplitAndConcatBoxesBehindOneAnother) {
  SingleNode split("Split", 13), concat("Concat", 13);
  split.in({2, 5, 3}).ints({2, 3}).attr("axis", 1).outs(2);
  const Sources parts = sources(split, {12, 18});
  concat.in({2, 2, 3}).in({2, 3, 3}).attr("axis", 1);
  const Sources whole = sources(concat, {30});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t k = 0; k < 3; ++k) {
        const int part = j < 2 ? 0 : 1;
        const int64_t all = (i * 5 + j) * 3 + k;
        const int64_t in_part = part == 0 ? (i * 2 + j) * 3 + k : (i * 3 + j - 2) * 3 + k;
        EXPECT_EQ(parts[static_cast<size_t>(part)][static_cast<size_t>(in_part)],
                  std::pair(0, all));
        EXPECT_EQ(whole[0][static_cast<size_t>(all)], std::pair(part, in_part));
      }
}

TEST(Boxes, IsAnExpandedAxisReadAgain) {
  SingleNode node("Expand", 13);
  node.in({3, 1, 4}).ints({2, 3, 5, 4});
  const Sources got = sources(node, {2 * 3 * 5 * 4});
  for (int64_t i = 0; i < 2 * 3 * 5 * 4; ++i)
    EXPECT_EQ(got[0][static_cast<size_t>(i)], std::pair(0, i / 20 % 3 * 4 + i % 4));
}

TEST(Boxes, AreKnownIndicesPickedInEvenParts) {
  SingleNode node("Gather", 13);
  node.in({3, 9, 2}).ints({8, 6, 4, 0, 1, -4}).attr("axis", 1);
  const Sources got = sources(node, {3 * 6 * 2});
  const std::array<int64_t, 6> indices = {8, 6, 4, 0, 1, 5};
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 6; ++j)
      for (int64_t k = 0; k < 2; ++k)
        EXPECT_EQ(got[0][static_cast<size_t>((i * 6 + j) * 2 + k)],
                  std::pair(0, (i * 9 + indices[static_cast<size_t>(j)]) * 2 + k));
}

TEST(Concat, IsTheOutputWrittenInPiecesFromTheAxisOn) {
  SingleNode node("Concat", 13);
  node.in({2, 3, 5}).in({2, 4, 5}).attr("axis", 1);
  ASSERT_TRUE(node.infer());
  const Work work = *node.cost();
  ASSERT_EQ(work.size(), 2);
  const auto &first = std::get<MemoryOp>(work[0]), &second = std::get<MemoryOp>(work[1]);
  EXPECT_EQ(node.out(), (Dims{2, 7, 5}));
  EXPECT_EQ(first.inputs.at(0).elements, 30);
  EXPECT_EQ(first.outputs.at(0).run, 3 * 5);
  EXPECT_EQ(second.inputs.at(0).port, 1);
  EXPECT_EQ(second.outputs.at(0).elements, 40);
  EXPECT_EQ(second.outputs.at(0).run, 4 * 5);
}

TEST(Concat, AreInputsThatDoNotFitNamed) {
  SingleNode node("Concat", 13), none("Concat", 13), one("Concat", 13);
  node.in({2, 3}).in({3, 3}).attr("axis", 1);
  EXPECT_EQ(shape_or_error(node),
            "Concat: input 1 of shape 3x3 doesn't fit input 0 of shape 2x3 along axis 1");
  none.in({2}).in({2});
  EXPECT_EQ(shape_or_error(none), "Concat: attribute 'axis' is missing");
  one.in({2, 3}).attr("axis", 0);
  EXPECT_TRUE(is_free(one));
}

TEST(Gather, IsOnlyWhatIsPickedReadAndTheIndices) {
  SingleNode node("Gather", 13);
  node.in({30000, 768}).in({2, 128}, DType::int64);
  const MemoryOp op = moved(node);
  EXPECT_EQ(node.out(), (Dims{2, 128, 768}));
  EXPECT_EQ(op.inputs.at(0).elements, 2 * 128 * 768);
  EXPECT_EQ(op.inputs.at(0).run, 768);
  EXPECT_EQ(op.inputs.at(1).elements, 2 * 128);
  EXPECT_EQ(op.outputs.at(0).elements, 2 * 128 * 768);
}

TEST(Gather, IsAnIndexOutsideAnErrorWhenFolded) {
  SingleNode node("Gather", 13);
  node.ints({5, 6}).ints({2});
  ASSERT_TRUE(node.infer());
  ASSERT_FALSE(node.fold());
  EXPECT_EQ(node.fold().errors()[0].message, "Gather: index 2 is outside a dim of 2");
}

/// No index lies within an axis of no elements.
TEST(Gather, IsPickingFromNothingRefused) {
  for (const char* op : {"Gather", "GatherElements", "GatherND"}) {
    SingleNode node(op, 13);
    node.in({0, 4}).in({5, 1}, DType::int64);
    ASSERT_TRUE(node.infer());
    const auto work = node.cost();
    ASSERT_FALSE(work.ok()) << op;
    EXPECT_NE(work.errors()[0].message.find("are picked from an input 0x4, which has none"),
              std::string::npos)
        << work.errors()[0].message;
    SingleNode none(op, 13);
    none.in({0, 4}).in({0, 1}, DType::int64);
    ASSERT_TRUE(none.infer());
    EXPECT_TRUE(none.cost().ok()) << op;
  }
}

TEST(Expand, IsTheInputReadOnce) {
  SingleNode node("Expand", 13), same("Expand", 13);
  node.in({8, 1}).ints({4, 1, 3});
  const MemoryOp op = moved(node);
  EXPECT_EQ(op.inputs.at(0).elements, 8);
  EXPECT_EQ(op.outputs.at(0).elements, 4 * 8 * 3);
  same.in({8, 3}).ints({1, 1});
  EXPECT_TRUE(is_free(same));
}

TEST(Pad, IsOnlyWhatStaysRead) {
  SingleNode node("Pad", 13), none("Pad", 13), bad("Pad", 13);
  node.in({4, 5}).ints({-1, 2, 0, 3});
  const MemoryOp op = moved(node);
  EXPECT_EQ(node.out(), (Dims{3, 10}));
  EXPECT_EQ(op.inputs.at(0).elements, 3 * 5);
  EXPECT_EQ(op.outputs.at(0).elements, 30);
  none.in({4}).ints({0, 0});
  EXPECT_TRUE(is_free(none));
  bad.in({4}).ints({-3, -3});
  EXPECT_EQ(shape_or_error(bad), "Pad: output dim 0 would be -2");
}

TEST(BlockOperators, DoTheyUndoEachOther) {
  SingleNode to("SpaceToDepth", 13), from("DepthToSpace", 13), bad("DepthToSpace", 13);
  to.in({1, 3, 8, 12}).attr("blocksize", 4);
  EXPECT_EQ(shape_or_error(to), "1x48x2x3");
  from.in({1, 48, 2, 3}).attr("blocksize", 4);
  EXPECT_EQ(shape_or_error(from), "1x3x8x12");
  EXPECT_EQ(moved(from).inputs.at(0).run, 1);
  bad.in({1, 3, 2, 2}).attr("blocksize", 2);
  EXPECT_FALSE(bad.infer());
}

TEST(TensorScatter, DoesOnlyTheUpdateMove) {
  SingleNode node("TensorScatter", 24);
  node.in({2, 8, 1024, 64}).in({2, 8, 1, 64}).in({2}, DType::int64);
  const MemoryOp op = moved(node);
  EXPECT_EQ(node.out(), (Dims{2, 8, 1024, 64}));
  EXPECT_EQ(op.inputs.at(0).port, 1);
  EXPECT_EQ(op.inputs.at(0).elements, 2 * 8 * 64);
  EXPECT_EQ(op.outputs.at(0).elements, 2 * 8 * 64);
  EXPECT_EQ(op.outputs.at(0).run, 64);
}

TEST(Scatter, MustTheUpdatesFitTheIndices) {
  SingleNode nd("ScatterND", 16), elements("ScatterElements", 16), reduction("ScatterND", 16);
  nd.in({4, 5}).in({3, 1}, DType::int64).in({3, 4});
  EXPECT_EQ(shape_or_error(nd),
            "ScatterND: updates must be float32 of shape 3x5, not float32 of shape 3x4");
  elements.in({4, 5}).in({3, 1}, DType::int64).in({3, 2});
  EXPECT_FALSE(elements.infer());
  reduction.in({4}).in({1, 1}, DType::int64).in({1}).attr("reduction", "sum");
  EXPECT_FALSE(reduction.infer());
}

TEST(Scatter, IsEveryElementWrittenOnceWithoutAReduction) {
  for (const char* op : {"ScatterElements", "ScatterND"}) {
    SingleNode node(op, 18);
    const bool nd = std::string(op) == "ScatterND";
    node.in({6, 5}).in(nd ? Dims{3, 1} : Dims{3, 5}, DType::int64).in({3, 5});
    node.attr("reduction", "none");
    const MemoryOp op_moves = moved(node);
    EXPECT_EQ(node.cost()->size(), 1);
    EXPECT_EQ(op_moves.inputs.size(), 3);
    EXPECT_EQ(op_moves.outputs.at(0).elements, 6 * 5);
  }
}

TEST(Scatter, DoesAReductionReadTheOldElementsAndCombineEachUpdate) {
  for (const char* reduction : {"add", "mul", "min", "max"}) {
    SingleNode nd("ScatterND", 18), elements("ScatterElements", 18);
    nd.in({6, 5}).in({3, 1}, DType::int64).in({3, 5}).attr("reduction", reduction);
    elements.in({6, 5}).in({2, 4}, DType::int64).in({2, 4}).attr("reduction", reduction);
    const auto check = [](SingleNode& node, int64_t updates, int64_t run) {
      const MemoryOp copy = moved(node);
      EXPECT_EQ(copy.inputs.at(0).elements, 6 * 5);
      EXPECT_EQ(copy.outputs.at(0).elements, 6 * 5);
      const auto combine = item<VectorOp>(node.cost(), 1);
      ASSERT_EQ(combine.inputs.size(), 3);
      EXPECT_EQ(combine.inputs[0].elements, updates);
      EXPECT_EQ(combine.inputs[0].run, run);
      EXPECT_EQ(combine.inputs[2].elements, updates);
      EXPECT_EQ(combine.outputs.at(0).elements, updates);
      EXPECT_EQ(combine.outputs.at(0).run, run);
      EXPECT_EQ(combine[VectorClass::elementwise], updates);
    };
    check(nd, 3 * 5, 5);
    check(elements, 2 * 4, 1);
  }
}

TEST(Scatter, IsAReductionOfNoUpdatesACopy) {
  SingleNode node("ScatterND", 18);
  node.in({6, 5}).in({0, 1}, DType::int64).in({0, 5}).attr("reduction", "add");
  EXPECT_EQ(moved(node).outputs.at(0).elements, 6 * 5);
  EXPECT_EQ(item<VectorOp>(node.cost(), 1)[VectorClass::elementwise], 0);
}

TEST(DataDependentShapes, AreTheMostThatThereCanBe) {
  SingleNode nonzero("NonZero", 13), unique("Unique", 11), along("Unique", 11);
  SingleNode compress("Compress", 11), rows("Compress", 11);
  nonzero.in({3, 4});
  EXPECT_EQ(shape_or_error(nonzero), "2x12");
  unique.in({5, 2}).outs(4);
  ASSERT_TRUE(unique.infer());
  EXPECT_EQ(unique.out(0), (Dims{10}));
  EXPECT_EQ(unique.out(3), (Dims{10}));
  along.in({5, 2}).attr("axis", 1);
  EXPECT_EQ(shape_or_error(along), "5x2");
  compress.in({4, 3}).in({9}, DType::boolean);
  EXPECT_EQ(shape_or_error(compress), "9");
  rows.in({4, 3}).in({9}, DType::boolean).attr("axis", 0);
  EXPECT_EQ(shape_or_error(rows), "4x3");
}

TEST(DataDependentShapes, AreBoxesOfEachClassAsManyAsMayBeSelected) {
  const auto shape = [](std::vector<int64_t> most, bool unknown = false) {
    SingleNode node("NonMaxSuppression", 11);
    node.in({2, 600, 4}).in({2, 80, 600});
    if (unknown) node.in({1}, DType::int64);
    if (!most.empty()) node.ints(std::move(most));
    return shape_or_error(node);
  };
  EXPECT_EQ(shape({100}), "16000x3");
  EXPECT_EQ(shape({1000}), "96000x3") << "not more than there are";
  EXPECT_EQ(shape({-1}), "0x3");
  EXPECT_EQ(shape({}), "0x3") << "without the input none are selected";
  EXPECT_EQ(shape({}, true), "96000x3");
  SingleNode wrong("NonMaxSuppression", 11);
  wrong.in({2, 600, 4}).in({2, 80, 599});
  ASSERT_FALSE(wrong.infer());
  EXPECT_NE(wrong.infer().errors()[0].message.find("2x80x599"), std::string::npos);
}

TEST(DataDependentShapes, IsASuppressionASortAndTheOverlapsWithThoseSelected) {
  SingleNode node("NonMaxSuppression", 11);
  node.in({1, 600, 4}).in({1, 2, 600}).ints({100});
  ASSERT_TRUE(node.infer());
  const auto work = node.cost();
  ASSERT_TRUE(work.ok()) << work.errors()[0].message;
  const auto& op = std::get<VectorOp>(work->front());
  EXPECT_EQ(op[VectorClass::search], 2 * 600 * (1 + 10)) << "2^9 < 600 <= 2^10";
  EXPECT_EQ(op[VectorClass::elementwise], 2 * 600 * 100 * 13);
}

TEST(Col2Im, IsEveryColumnAddedOnce) {
  SingleNode node("Col2Im", 18);
  node.in({1, 5, 5}).ints({5, 5}).ints({1, 5});
  ASSERT_TRUE(node.infer());
  EXPECT_EQ(node.out(), (Dims{1, 1, 5, 5}));
  EXPECT_EQ(item<VectorOp>(node.cost())[VectorClass::reduce], 25);
}

TEST(CenterCropPad, IsTheSmallerOfBothRead) {
  SingleNode node("CenterCropPad", 18);
  node.in({20, 10, 3}).ints({10, 20}).list("axes", {0, 1});
  const MemoryOp op = moved(node);
  EXPECT_EQ(node.out(), (Dims{10, 20, 3}));
  EXPECT_EQ(op.inputs.at(0).elements, 10 * 10 * 3);
  EXPECT_EQ(op.outputs.at(0).elements, 10 * 20 * 3);
}

}  // namespace
}  // namespace accsim::sim
