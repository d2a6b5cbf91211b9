#include <gtest/gtest.h>

#include <array>
#include <set>

#include "hw/config/load.h"
#include "sim/schedule/op_flow.h"
#include "sim/schedule/row_tile_shape.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

constexpr OperandPort::Side kInput = OperandPort::Side::input, kOutput = OperandPort::Side::output;

hw::HwConfig machine() { return *hw::load_hw(kSource + "/configs/8x8.yaml"); }

Operand computed() { return {{"t", hw::MemoryId::dram, false, {}}, 1}; }

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

std::optional<OpPieces> pieces_of(const OpRequest& r, int64_t count) {
  return pieces_of_rows(r.item, *row_flow(r, machine()), count);
}

TEST(Pieces, OfProductsFindTheirRows) {
  const OpRequest whole = product(6, 20, 7, 11);
  for (const int64_t count : {1, 2, 3, 6, 12, 24, 30, 60, 120}) {
    const auto pieces = pieces_of(whole, count);
    ASSERT_TRUE(pieces) << count;
    const auto& op = std::get<GemmOp>(pieces->item);
    EXPECT_EQ(op.batch * op.m() * count, 6 * 20);
    EXPECT_EQ(op.macs() * count, 6 * 20 * 7 * 11);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = i * 120 / count;
      EXPECT_EQ(pieces->operands.offset({kInput, 0}, i), row * 7);
      EXPECT_EQ(pieces->operands.offset({kInput, 1}, i), row / 20 * 7 * 11);
      EXPECT_EQ(pieces->operands.offset({kOutput, 0}, i), row * 11);
    }
  }
  // Parts that would be of two batch entries, but not of all of either.
  for (const int64_t count : {4, 5, 8, 10, 15, 20, 40, 7})
    EXPECT_FALSE(pieces_of(whole, count)) << count;
}

TEST(Pieces, OfSoftmaxFindTheirRows) {
  const OpRequest whole = softmax(3, 10, 16);
  for (const int64_t count : {1, 3, 6, 15, 30}) {
    const auto pieces = pieces_of(whole, count);
    ASSERT_TRUE(pieces) << count;
    const auto& op = std::get<VectorOp>(pieces->item);
    const int64_t rows = 30 / count, heads = std::max<int64_t>(1, rows / 10);
    EXPECT_EQ(op.row_work->row_count(), rows);
    EXPECT_EQ(op.inputs[0].elements, rows * 16);
    EXPECT_EQ(op.inputs[1].elements, heads * 16);
    EXPECT_EQ(op.row_work->mask->elements, heads * 16);
    EXPECT_EQ(op[VectorClass::reduce], 2 * rows * 16);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(pieces->operands.offset({kInput, 0}, i), i * rows * 16);
      EXPECT_EQ(pieces->operands.offset({kOutput, 0}, i), i * rows * 16);
      EXPECT_EQ(pieces->operands.offset({kInput, 1}, i), i * rows / 10 * 16);
    }
  }
  EXPECT_FALSE(pieces_of(whole, 2)) << "a head and a half";
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

/// What a layer copies before its product, as attention's queries and keys, is computed as well:
/// pieces find their rows, and the other operand, in the copies.
TEST(Pieces, OfCopiesFindTheirRows) {
  OpRequest whole = product(6, 20, 7, 11);
  auto& op = std::get<GemmOp>(whole.item);
  op.a_port = ValuePort::internal(2);
  op.b_port = ValuePort::internal(4);
  const auto flow = row_flow(whole, machine());
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->in, internal_port(op.a_port));
  const auto pieces = pieces_of_rows(whole.item, *flow, 12);
  ASSERT_TRUE(pieces);
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(pieces->operands.offset(internal_port(op.a_port), i), i * 10 * 7);
    EXPECT_EQ(pieces->operands.offset(internal_port(op.b_port), i), i / 2 * 7 * 11);
  }
}

/// Each piece once and in order; what it reads is written in a step before; while the vector unit
/// works on a piece, the array has another one that doesn't wait for it.
TEST(Turns, AreAnOrderOfDependentPieces) {
  for (const int64_t count : {1, 2, 3, 12}) {
    const std::vector<TileStep> order = interleave({true, false, true}, count);
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
  }
}

/// Every part once and in order, each piece behind what it is made of; ops of the array stand
/// between the parts of a step, and need no more room than whole pieces do.
TEST(Turns, OfPartsHaveTheArrayBetweenThem) {
  const std::vector<bool> array = {true, false, true};
  constexpr int64_t kCount = 12;
  const std::vector<TileStep> whole = interleave(array, kCount);
  for (const int64_t parts : {1, 2, 4}) {
    const std::vector<PartStep> order = in_parts(whole, array, parts);
    std::array<int64_t, 3> next{};  // part of all pieces
    int64_t between = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto& [k, piece, part] = order[i];
      const int64_t each = array[k] ? 1 : parts;
      EXPECT_EQ(piece * each + part, next[k]++);
      if (k > 0) {
        const int64_t made = next[k - 1] / (array[k - 1] ? 1 : parts);
        EXPECT_GT(made, piece) << "read before all of it is written";
      }
      between += i > 0 && array[k] && !array[order[i - 1].k] ? 1 : 0;
    }
    EXPECT_EQ(next, (std::array{kCount, kCount * parts, kCount}));
    // Steps in which both units have two ops, or the vector unit one part, between others.
    EXPECT_GE(between, parts == 1 ? kCount : 2 * (kCount - 3));
    // Nobody reads what the last op writes.
    EXPECT_EQ(most_alive(order, array, parts), (std::vector<int64_t>{2, 2, kCount}));
  }
}

TEST(RowCuts, AreTheFastestOrWithSlackThoseThatMoveLess) {
  RowShapeChoice choice(1000, 1, {{}, 1999, 1000});
  choice.offer({{.pieces = 2}, 1950, 100});
  choice.offer({{.pieces = 4}, 1500, 400});
  choice.offer({{.pieces = 8}, 1500, 300});
  choice.offer({{.pieces = 16}, 1540, 200});
  choice.offer({{.pieces = 32}, 2000, 1});  // slower than the ops as a whole
  const auto best = [&](double slack) { return choice.best(slack).pieces; };
  EXPECT_EQ(best(0), 8);
  EXPECT_EQ(best(0.07), 8) << "40 of 500 cycles are 8 %";
  EXPECT_EQ(best(0.09), 16);
  EXPECT_EQ(best(1), 2) << "950 x 100 is less than 540 x 200";
  RowShapeChoice pairs(1000, 0, {{}, 1999, 1000});
  pairs.offer({{.pieces = 4}, 1500, 400});
  pairs.offer({{.pieces = 8, .pair = 1}, 1400, 600});
  EXPECT_EQ(pairs.best(0).pieces, 4) << "500 x 400 is less than 400 x 600";
  pairs.offer({{.pieces = 2, .pair = 0}, 1400, 450});
  EXPECT_EQ(pairs.best(0).pieces, 2);
  RowShapeChoice little(0, 0.01, {{}, 1000, 100});
  little.offer({{.pieces = 2}, 999, 200});
  EXPECT_EQ(little.best(0.01).pieces, 1) << "a cycle less for twice the bytes";
}

}  // namespace
}  // namespace accsim::sim
