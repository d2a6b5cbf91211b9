#include "sim/flow/pieces.h"

#include <gtest/gtest.h>

#include <set>

#include "hw/config/load.h"
#include "sim/flow/row_runs.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

constexpr OperandPort::Side kInput = OperandPort::Side::input, kOutput = OperandPort::Side::output;

hw::HwConfig machine() { return *hw::load_hw(kSource + "/configs/8x8.yaml"); }

Operand computed() { return {{"t", hw::Memory::dram, false, {}}, 1}; }

/// A batch of products of two computed tensors, of one byte an element.
OpRequest product(int64_t batch, int64_t m, int64_t k, int64_t n) {
  GemmOp op;
  op.batch = batch;
  op.in[2] = op.out[2] = m;
  op.channels = k;
  op.outputs = n;
  OpRequest out;
  out.item = op;
  out.inputs = {computed(), computed()};
  out.outputs = {computed()};
  return out;
}

/// Softmax of `heads` x `rows` rows of `length`, with an addend by head.
OpRequest softmax(int64_t heads, int64_t rows, int64_t length) {
  VectorOp op;
  op.row_work = RowWork{};
  op.row_work->rows = {1, 1, heads, rows};
  op.row_work->row_stride = {0, 0, rows * length, length};
  op.row_work->run = length;
  op.row_work->mask = RowMask{1, heads * length, {0, 0, length, 0}, 0};
  const int64_t elements = heads * rows * length;
  op.inputs = {{0, elements, 0}, {1, heads * length, 0}};
  op.outputs = {{0, elements, 0}};
  op[VectorClass::reduce] = 2 * elements;
  OpRequest out;
  out.item = op;
  out.inputs = {computed(), computed()};
  out.outputs = {computed()};
  return out;
}

TEST(Pieces, OfProductsFindTheirRows) {
  const OpRequest whole = product(6, 20, 7, 11);
  for (const int64_t count : {1, 2, 3, 6, 12, 24, 30, 60, 120}) {
    const auto pieces = cut(whole, count, machine());
    ASSERT_TRUE(pieces) << count;
    const auto& op = std::get<GemmOp>(pieces->request.item);
    EXPECT_EQ(op.batch * op.m() * count, 6 * 20);
    EXPECT_EQ(op.macs() * count, 6 * 20 * 7 * 11);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = i * 120 / count;
      EXPECT_EQ(pieces->offset({kInput, 0}, i), row * 7);
      EXPECT_EQ(pieces->offset({kInput, 1}, i), row / 20 * 7 * 11);
      EXPECT_EQ(pieces->offset({kOutput, 0}, i), row * 11);
    }
  }
  // Parts that would be of two batch entries, but not of all of either.
  for (const int64_t count : {4, 5, 8, 10, 15, 20, 40, 7})
    EXPECT_FALSE(cut(whole, count, machine())) << count;
}

TEST(Pieces, OfSoftmaxFindTheirRows) {
  const OpRequest whole = softmax(3, 10, 16);
  for (const int64_t count : {1, 3, 6, 15, 30}) {
    const auto pieces = cut(whole, count, machine());
    ASSERT_TRUE(pieces) << count;
    const auto& op = std::get<VectorOp>(pieces->request.item);
    const int64_t rows = 30 / count, heads = std::max<int64_t>(1, rows / 10);
    EXPECT_EQ(op.row_work->row_count(), rows);
    EXPECT_EQ(op.inputs[0].elements, rows * 16);
    EXPECT_EQ(op.inputs[1].elements, heads * 16);
    EXPECT_EQ(op.row_work->mask->elements, heads * 16);
    EXPECT_EQ(op[VectorClass::reduce], 2 * rows * 16);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(pieces->offset({kInput, 0}, i), i * rows * 16);
      EXPECT_EQ(pieces->offset({kOutput, 0}, i), i * rows * 16);
      EXPECT_EQ(pieces->offset({kInput, 1}, i), i * rows / 10 * 16);
    }
  }
  EXPECT_FALSE(cut(whole, 2, machine())) << "a head and a half";
}

TEST(Pieces, OnlyOfRowsThatDependOnNoOther) {
  EXPECT_TRUE(row_flow(product(4, 8, 8, 8), machine()));
  OpRequest weights = product(4, 8, 8, 8);
  weights.inputs[1].place.constant = true;
  EXPECT_FALSE(row_flow(weights, machine())) << "they would be read for each piece";
  OpRequest turned = product(4, 8, 8, 8);
  std::get<GemmOp>(turned.item).a_transposed = true;
  EXPECT_FALSE(row_flow(turned, machine()));
  OpRequest shared = product(4, 8, 8, 8);
  std::get<GemmOp>(shared.item).a_shared = true;
  EXPECT_FALSE(row_flow(shared, machine()));
  OpRequest apart = softmax(3, 10, 16);
  std::get<VectorOp>(apart.item).row_work->row_stride[2] += 16;
  EXPECT_FALSE(row_flow(apart, machine())) << "rows aren't one behind the other";
}

/// Each piece once and in order; what it reads is written in a step before; while the vector unit
/// works on a piece, the array has another one that doesn't wait for it.
TEST(Turns, AreAnOrderOfDependentPieces) {
  for (const int64_t count : {1, 2, 3, 12}) {
    const std::vector<Turn> order = turns({true, false, true}, count);
    std::array<int64_t, 3> next{};
    for (size_t i = 0; i < order.size(); ++i) {
      const auto [k, piece] = order[i];
      EXPECT_EQ(piece, next[k]++);
      if (k == 0) continue;
      EXPECT_GT(next[k - 1], piece) << "read before it is written";
      if (k == 1 && piece + 1 < count) {
        EXPECT_GT(next[0], piece + 1) << "the next piece is not made in time";
      }
    }
    EXPECT_EQ(next, (std::array{count, count, count}));
    const std::vector<int64_t> alive = most_alive(order, 3);
    EXPECT_EQ(alive[0], std::min<int64_t>(count, 2));
    EXPECT_EQ(alive[1], std::min<int64_t>(count, 2));
  }
}

}  // namespace
}  // namespace accsim::sim
