#include "sim/lower/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "tests/sim/lower/laid_out.h"

namespace accsim::sim {
namespace {

using test::LaidOut;
using test::ModelBuilder;
using Passes = std::vector<LoweringPass>;

Passes all_passes() {
  const auto all = lowering_passes();
  return {all.begin(), all.end()};
}

// ---- a network of which every pass makes something ---------------------------------------------

Attribute axis(int64_t value) { return {"axis", "", value}; }

/// x cos(...): a product with x, whose halves have changed places.
void add_turned_halves(ModelBuilder& b) {
  b.input("t", {1, 3, 5, 8}).input("sin", {1, 1, 5, 8}).constant("four", {2}, {4, 4});
  b.node("Split", {"t", "four"}, {"low", "high"}, {axis(-1)});
  b.node("Neg", {"high"}, {"minus"}).node("Concat", {"minus", "low"}, {"halves"}, {axis(-1)});
  b.node("Mul", {"halves", "sin"}, {"turned"}).output("turned");
}

/// Scores with keys that three heads share, a masked softmax, the logarithms of its sums.
void add_grouped_attention(ModelBuilder& b) {
  b.input("q", {2, 6, 4, 16}).input("k", {2, 2, 1, 5, 16}).input("m", {4, 5});
  b.constant("expanded_dims", {5}, {2, 2, 3, 5, 16}).constant("keys_dims", {4}, {2, 6, 5, 16});
  b.node("Expand", {"k", "expanded_dims"}, {"expanded"});
  b.node("Reshape", {"expanded", "keys_dims"}, {"keys"});
  b.node("Transpose", {"keys"}, {"by_depth"}, {ModelBuilder::ints("perm", {0, 1, 3, 2})});
  b.node("MatMul", {"q", "by_depth"}, {"scores"}).node("Add", {"scores", "m"}, {"masked"});
  b.node("Softmax", {"masked"}, {"weights"}, {axis(-1)}).output("weights");
  b.node("ReduceLogSumExp", {"masked"}, {"sums"},
         {ModelBuilder::ints("axes", {-1}), {"keepdims", "", int64_t{1}}});
  b.output("sums");
}

/// Two convolutions whose results are put together, one of them through a sum.
void add_parts(ModelBuilder& b) {
  b.input("x", {1, 8, 6, 6}).input("y", {1, 24, 6, 6});
  for (const char* name : {"w", "v"}) b.weight(name, {24, 8, 1, 1});
  b.node("Conv", {"x", "w"}, {"a"}).node("Conv", {"x", "v"}, {"c"});
  b.node("Add", {"a", "y"}, {"sum"});
  b.node("Concat", {"sum", "c"}, {"both"}, {axis(1)});
  b.weight("u", {8, 48, 3, 3}).node("Conv", {"both", "u"}, {"z"}).output("z");
  b.node("MaxPool", {"a"}, {"pooled"}, {ModelBuilder::ints("kernel_shape", {2, 2})});
  b.output("pooled");
}

/// Weights of experts that data picks.
void add_picked_experts(ModelBuilder& b) {
  b.input("token", {2, 1, 64}).input("experts", {2}, DType::int64).weight("all", {4, 64, 64});
  b.node("Gather", {"all", "experts"}, {"picked"});
  b.node("MatMul", {"token", "picked"}, {"sent"}).output("sent");
}

ModelBuilder network() {
  ModelBuilder b;
  add_picked_experts(b);
  add_turned_halves(b);
  add_grouped_attention(b);
  add_parts(b);
  return b;
}

// ---- what the passes have made of it -----------------------------------------------------------

using Accesses = std::vector<std::tuple<int, int64_t, int64_t>>;
Accesses accesses(const std::vector<Access>& side) {
  Accesses out;
  for (const Access& a : side) out.emplace_back(a.port.key(), a.elements, a.run);
  return out;
}

auto all_of(const VectorOp& op) {
  return std::tuple(accesses(op.inputs), accesses(op.outputs), op.ops, op.row, op.passes,
                    op.row_work, op.lane);
}
auto all_of(const MemoryOp& op) {
  return std::tuple(accesses(op.inputs), accesses(op.outputs), op.axes, op.spacing, op.from, op.to);
}
auto all_of(const GemmOp& op) {
  return std::tuple(op.batch, op.m(), op.k(), op.n(), op.in, op.out, op.a_transposed,
                    op.b_transposed, op.a_port, op.b_port, op.bias_port);
}
/// All of a layer but its work.
auto all_of(const Layer& l) {
  std::vector<std::pair<int, Layout>> copies;
  for (const PortLayout& copy : l.copies) copies.emplace_back(copy.port.key(), copy.layout);
  return std::tuple(l.fate, l.inputs, l.outputs, l.residual, l.merged_into, l.function.nodes,
                    l.rows.has_value(), l.turned ? l.turned->piece : 0, copies, l.params);
}

bool same_work(const WorkItem& a, const WorkItem& b) {
  return a.index() == b.index() &&
         std::visit(
             [&](const auto& op) {
               return all_of(op) == all_of(std::get<std::decay_t<decltype(op)>>(b));
             },
             a);
}

void expect_same(const Lowered& a, const Lowered& b) {
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_TRUE(all_of(a.layers[i]) == all_of(b.layers[i])) << a.layers[i].name;
    EXPECT_TRUE(std::ranges::equal(a.layers[i].work, b.layers[i].work, same_work))
        << a.layers[i].name;
  }
  EXPECT_EQ(a.layouts, b.layouts);
  EXPECT_EQ(a.sub_tensors, b.sub_tensors);
  EXPECT_EQ(a.params, b.params);
}

/// A pass that isn't run leaves something out of the network.
TEST(Passes, MakeSomethingEachOfThisNetwork) {
  const LaidOut n(network());
  EXPECT_GT(n.lowered.params, 0);
  EXPECT_EQ(n.layer("turned").turned->piece, 4);
  EXPECT_EQ(n.layer("masked").merged_into, n.layer("weights").node) << "of the softmax";
  EXPECT_EQ(n.layer("sums").merged_into, n.layer("weights").node);
  EXPECT_EQ(n.gemm("scores").batch, 2 * 2) << "keys are read once";
  EXPECT_EQ(n.layer("picked").fate, Fate::view) << "experts' weights are read where they lie";
  EXPECT_EQ(n.layout("a"), channels_last_layout({1, 24, 6, 6}));
  EXPECT_TRUE(std::get<VectorOp>(n.layer("weights").work.back()).row_work);
  EXPECT_TRUE(std::get<VectorOp>(n.layer("pooled").work.back()).lane);
  EXPECT_EQ(n.lowered.sub_tensors[test::as_index(n.id("c"))].whole, n.id("both"));
}

TEST(Passes, SeeWhoReadsEachTensorOfTheGraph) {
  const LaidOut n(network());
  ASSERT_EQ(n.lowered.readers.size(), n.graph.tensors.size());
  for (size_t t = 0; t < n.graph.tensors.size(); ++t)
    for (size_t i = 0; i < n.graph.nodes.size(); ++i)
      EXPECT_EQ(std::ranges::count(n.lowered.readers[t], static_cast<NodeId>(i)),
                std::ranges::count(n.graph.nodes[i].inputs, static_cast<TensorId>(t)) > 0 ? 1 : 0);
}

TEST(Passes, StandInAnOrderInWhichNoneMissesWhatItNeeds) {
  EXPECT_EQ(misplaced_pass(lowering_passes()), "");
  EXPECT_TRUE(std::ranges::is_sorted(lowering_passes(), {}, &LoweringPass::stage));
}

TEST(Passes, AreNamedWhereTheyStandBeforeWhatTheyNeed) {
  for (size_t i = 0; i < all_passes().size(); ++i) {
    Passes wrong = all_passes();
    const LoweringPass moved = wrong[i];
    std::rotate(wrong.begin(), wrong.begin() + static_cast<ptrdiff_t>(i),
                wrong.begin() + static_cast<ptrdiff_t>(i) + 1);
    const std::string said = misplaced_pass(wrong);
    if (moved.needs.empty()) {
      EXPECT_EQ(said, "") << moved.name;
      continue;
    }
    const auto needed = std::ranges::find(wrong, moved.needs[0], &LoweringPass::gives);
    EXPECT_EQ(said, std::string(moved.name) + " runs before " + std::string(needed->name) +
                        ", which it needs");
  }
}

TEST(Passes, AreMissedWhereTheyDoNotStand) {
  for (size_t i = 0; i < all_passes().size(); ++i) {
    Passes without = all_passes();
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    const PassFact lost = all_passes()[i].gives;
    const bool needed = std::ranges::any_of(
        without, [&](const LoweringPass& p) { return std::ranges::count(p.needs, lost) > 0; });
    EXPECT_EQ(misplaced_pass(without).empty(), !needed) << all_passes()[i].name;
  }
}

TEST(Passes, DoNotRunInAWrongOrder) {
  const LaidOut n(network());
  Passes wrong = all_passes();
  std::ranges::reverse(wrong);
  Lowered lowered = *lower(n.graph);
  EXPECT_DEATH(run_passes(wrong, PassStage::in_memory, n.graph, lowered),
               "place_sub_tensors runs before set_row_work");
}

/// Of places in the table, in the order in which they run.
bool keeps_needs(const std::vector<size_t>& order) {
  std::vector<bool> given(order.size(), false);
  for (const size_t i : order) {
    const LoweringPass& pass = lowering_passes()[i];
    if (std::ranges::any_of(pass.needs, [&](PassFact f) { return !given[static_cast<size_t>(f)]; }))
      return false;
    given[static_cast<size_t>(pass.gives)] = true;
  }
  return true;
}

/// Else one needs more than its row of the table says.
TEST(Passes, GiveTheSameInEveryOrderThatTheirNeedsLeave) {
  const LaidOut n(network());
  const Lowered layers = *lower_nodes(n.graph);
  const Passes all = all_passes();
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int orders = 0;
  do {
    if (!keeps_needs(order)) continue;
    Passes passes;
    for (const size_t i : order) {
      passes.push_back(all[i]);
      passes.back().stage = PassStage::in_memory;
    }
    Lowered lowered = layers;
    run_passes(passes, PassStage::in_memory, n.graph, lowered);
    expect_same(lowered, n.lowered);
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  // Logarithms and rotations behind patterns in 2 orders, repeats among the three in 4 places,
  // experts among the four in 5, rows and lanes in 2 orders, the count of parameters in 10 places.
  EXPECT_EQ(orders, 2 * 4 * 5 * 2 * 10);
}

}  // namespace
}  // namespace accsim::sim
