#include "sim/lower/layer_moves.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace accsim::sim {
namespace {

constexpr int kTensors = 6;

/// A layer of moves between random tensors, and a product every few of them.
Layer random_layer(size_t items, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> port(0, kTensors - 1);
  Layer l;
  for (TensorId id = 0; id < kTensors; ++id) {
    l.inputs.push_back(id);
    l.outputs.push_back(kTensors + id);
  }
  for (size_t i = 0; i < items; ++i) {
    MemoryOp move;
    move.inputs = {{port(random), 1, 0}};
    move.outputs = {{port(random), 1, 0}};
    l.work.push_back(i % 5 == 4 ? WorkItem(GemmOp{}) : WorkItem(std::move(move)));
  }
  return l;
}

std::set<size_t> items_by_definition(const Layer& l, TensorId id) {
  std::set<size_t> out;
  for (size_t i = 0; i < l.work.size(); ++i) {
    const auto* op = std::get_if<MemoryOp>(&l.work[i]);
    if (!op || source_of(l, *op) == id || target_of(l, *op) == id) out.insert(i);
  }
  return out;
}

void expect_items(LayerMoves& moves, const Layer& l) {
  for (TensorId id = 0; id < 2 * kTensors; ++id) {
    const std::vector<size_t> found = moves.items_of(l, id);
    EXPECT_EQ(std::set<size_t>(found.begin(), found.end()), items_by_definition(l, id));
  }
}

/// Whether a layer is looked through or has an index.
TEST(LayerMoves, AreThoseOfATensorAndAllOtherWork) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    LayerMoves moves;
    const Layer few = random_layer(10, seed), many = random_layer(60, seed);
    expect_items(moves, few);
    expect_items(moves, many);
  }
}

TEST(LayerMoves, ThatAreLeftOutAreNoWorkAnyMore) {
  for (const size_t items : {size_t{10}, size_t{60}}) {
    LayerMoves moves;
    Layer l = random_layer(items, 1);
    const Layer other = l;
    expect_items(moves, l);
    moves.begin_to_leave_out(l);
    for (size_t i = 0; i < items; i += 2) moves.leave_out(i);
    moves.leave_out(2, false);
    for (size_t i = 0; i < items; ++i) {
      EXPECT_EQ(moves.is_left_out(l, i), i % 2 == 0 && i != 2);
      EXPECT_FALSE(moves.is_left_out(other, i));
    }
    moves.erase_left_out(l);
    EXPECT_EQ(l.work.size(), items / 2 + 1);
    EXPECT_FALSE(moves.is_left_out(l, 0));
    expect_items(moves, l);
  }
}

}  // namespace
}  // namespace accsim::sim
