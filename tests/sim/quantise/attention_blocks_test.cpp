#include "sim/lower/attention_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "hw/config/load.h"
#include "hw/golden/golden.h"
#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "sim/lower/attention.h"
#include "sim/lower/lower.h"
#include "sim/program/network_reference.h"
#include "sim/quantise/quantised_case.h"
#include "tests/support/graph_values.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

/// Attention in blocks of keys: the same numbers, of the same products.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr int64_t kOpset = 17;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kHeads = 4, kQueries = 6, kDepth = 8, kWidth = 5;

/// How a network spells attention out.
struct Spelling {
  std::string what;
  int64_t keys = 40;
  bool scaled = true, divides = false, computed_mask = false, constant_mask = false;
  bool chooses = false;  ///< by a Where, instead of a mask
  /// No query looks at keys behind its own place: blocks are masked whole.
  enum class Causal : uint8_t { no, added, chosen } causal = Causal::no;
  double low = -1e9;
  bool transposed = true;                          ///< keys lie as values do
  int64_t groups = 1;                              ///< heads to each head of keys and values
  bool scores_read = false, weights_read = false;  ///< by somebody else
};

/// Keys or values of fewer heads, each of them for several.
std::string repeated(ModelBuilder& b, const std::string& name, const Dims& from, int64_t times) {
  if (times == 1) return name;
  Dims one = from, each = from, flat = from;
  one.insert(one.begin() + 2, 1);
  each.insert(each.begin() + 2, times);
  flat[1] *= times;
  const auto shape = [&](const std::string& what, const Dims& dims) {
    b.constant(name + what, {static_cast<int64_t>(dims.size())}, {dims.begin(), dims.end()});
    return name + what;
  };
  b.node("Reshape", {name, shape("_one", one)}, {name + "1"});
  b.node("Expand", {name + "1", shape("_each", each)}, {name + "2"});
  b.node("Reshape", {name + "2", shape("_flat", flat)}, {name + "3"});
  return name + "3";
}

ModelBuilder attention(const Spelling& s) {
  ModelBuilder b(kOpset);
  const int64_t heads = kHeads / s.groups;
  const Dims keys = {1, heads, s.keys, kDepth}, values = {1, heads, s.keys, kWidth};
  b.input("q", {1, kHeads, kQueries, kDepth}).input("v", values);
  std::string k = "k", of = "s";
  if (s.transposed) {
    b.input("k", keys);
    b.node("Transpose", {repeated(b, "k", keys, s.groups)}, {"kt"},
           {ModelBuilder::ints("perm", {0, 1, 3, 2})});
    k = "kt";
  } else {
    b.input("k", {1, kHeads, kDepth, s.keys});
  }
  b.node("MatMul", {"q", k}, {"s"});
  b.node("Constant", {}, {"factor"}, {{"value_float", "", s.divides ? 2.5 : 0.4}});
  b.node("Constant", {}, {"low"}, {{"value_float", "", s.low}});
  const auto then = [&](const std::string& op, const std::vector<std::string>& inputs) {
    b.node(op, inputs, {of + "'"});
    of += '\'';
  };
  if (s.scaled) then(s.divides ? "Div" : "Mul", {of, "factor"});
  if (s.computed_mask) {
    b.input("m", {1, 1, kQueries, s.keys});
    then("Add", {of, "m"});
  }
  if (s.constant_mask) {
    b.weight("c", {kQueries, s.keys});
    then("Add", {"c", of});
  }
  if (s.chooses) {
    b.input("kept", {1, 1, kQueries, s.keys}, DType::boolean);
    then("Where", {"kept", of, "low"});
  }
  if (s.causal != Spelling::Causal::no) {
    std::vector<int64_t> places, keys_in_order;
    for (int64_t i = 0; i < kQueries; ++i) places.push_back(2 + 6 * i);
    for (int64_t i = 0; i < s.keys; ++i) keys_in_order.push_back(i);
    b.constant("places", {kQueries, 1}, places).constant("numbers", {1, s.keys}, keys_in_order);
    b.node("LessOrEqual", {"numbers", "places"}, {"seen"});
  }
  if (s.causal == Spelling::Causal::chosen) then("Where", {"seen", of, "low"});
  if (s.causal == Spelling::Causal::added) {
    b.node("Constant", {}, {"none"}, {{"value_float", "", 0.0}});
    b.node("Where", {"seen", "none", "low"}, {"causal"});
    then("Add", {of, "causal"});
  }
  b.node("Softmax", {of}, {"p"}, {{"axis", "", int64_t{-1}}});
  b.node("MatMul", {"p", repeated(b, "v", values, s.groups)}, {"o"}).output("o");
  if (s.scores_read) b.node("Relu", {"s"}, {"r"}).output("r");
  if (s.weights_read) b.node("Relu", {"p"}, {"r2"}).output("r2");
  return b;
}

std::vector<Spelling> spellings() {
  return {{.what = "plain", .scaled = false},
          {.what = "scaled"},
          {.what = "divided", .divides = true},
          {.what = "with a mask", .computed_mask = true},
          {.what = "with two masks", .computed_mask = true, .constant_mask = true},
          {.what = "with a choice", .chooses = true},
          {.what = "keys as columns", .transposed = false},
          {.what = "grouped", .groups = 2},
          {.what = "grouped with a mask", .computed_mask = true, .groups = 4},
          {.what = "causal", .causal = Spelling::Causal::added},
          {.what = "causal, -inf", .causal = Spelling::Causal::added, .low = -kInfinity},
          {.what = "causal, -10000", .causal = Spelling::Causal::added, .low = -1e4},
          {.what = "causal by choice, -inf", .causal = Spelling::Causal::chosen, .low = -kInfinity},
          {.what = "uneven blocks", .keys = 43, .computed_mask = true, .groups = 2}};
}

Graph graph_of(const Spelling& s) {
  Result<Graph> graph = elaborate(attention(s).model(), {});
  EXPECT_TRUE(graph.ok()) << s.what;
  return std::move(*graph);
}

int64_t count(const Graph& graph, const std::string& op) {
  return std::ranges::count(graph.nodes, op, &Node::op_type);
}

/// Of the output, the only one.
std::vector<double> values_of(const Graph& graph) { return test::graph_values(graph, 3, 4).at(0); }

int64_t macs(const Graph& graph) {
  const auto lowered = lower(graph);
  int64_t sum = 0;
  for (const Layer& l : lowered->layers) sum += l.macs;
  return sum;
}

TEST(KeyBlocks, GiveWhatAttentionGives) {
  for (const Spelling& s : spellings()) {
    const Graph whole = graph_of(s);
    ASSERT_EQ(find_attentions(whole).size(), 1U) << s.what;
    const Graph cut = in_key_blocks(whole, 10);
    ASSERT_TRUE(verify_graph(cut).ok())
        << s.what << ": " << verify_graph(cut).errors().front().text();
    EXPECT_EQ(count(cut, "ReduceLogSumExp"), 4) << s.what;
    EXPECT_EQ(count(cut, "MatMul"), 8) << s.what;
    EXPECT_EQ(macs(cut), macs(whole)) << s.what;
    const std::vector<double> a = values_of(whole), b = values_of(cut);
    ASSERT_EQ(a.size(), static_cast<size_t>(kHeads * kQueries * kWidth));
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(b[i], a[i], 1e-5) << s.what;
  }
}

/// What one softmax attends to can be another one's scores: then that one stays as it is.
TEST(KeyBlocks, AreOfOneSoftmaxOfTwoInARow) {
  ModelBuilder b(kOpset);
  b.input("q", {2, 30, 4}).input("k", {2, 4, 30}).input("v", {2, 30, 30}).input("w", {2, 30, 5});
  b.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  b.node("MatMul", {"p", "v"}, {"t"}).node("Softmax", {"t"}, {"u"});
  b.node("MatMul", {"u", "w"}, {"o"}).output("o");
  const Result<Graph> whole = elaborate(b.model(), {});
  ASSERT_TRUE(whole.ok());
  const Graph cut = in_key_blocks(*whole, 10);
  ASSERT_TRUE(verify_graph(cut).ok());
  EXPECT_EQ(count(cut, "Softmax"), 3 + 1 + 1);
  const std::vector<double> a = values_of(*whole), c = values_of(cut);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(c[i], a[i], 1e-5);
}

/// A mask that several layers share is cut, and made finite, once.
TEST(KeyBlocks, CutAMaskOnceThatSeveralShare) {
  ModelBuilder b(kOpset);
  b.input("q", {2, 30, 4}).input("k", {2, 4, 30}).input("v", {2, 30, 4}).input("m", {30, 30});
  std::string q = "q";
  for (const std::string layer : {"a", "b"}) {
    b.node("MatMul", {q, "k"}, {layer + "s"}).node("Add", {layer + "s", "m"}, {layer + "z"});
    b.node("Softmax", {layer + "z"}, {layer + "p"});
    b.node("MatMul", {layer + "p", "v"}, {layer + "o"});
    q = layer + "o";
  }
  b.node("Relu", {q}, {"o"}).output("o");
  const Result<Graph> whole = elaborate(b.model(), {});
  ASSERT_TRUE(whole.ok());
  const Graph cut = in_key_blocks(*whole, 10);
  EXPECT_EQ(count(cut, "Split"), 3) << "keys, values and mask";
  EXPECT_EQ(count(cut, "Max"), 1);
  std::set<std::string> names;
  for (const Node& n : cut.nodes) EXPECT_TRUE(names.insert(n.name).second) << n.name;
  const std::vector<double> a = values_of(*whole), c = values_of(cut);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(c[i], a[i], 1e-5);
}

/// What others read, and rows that are few, stay as they are.
TEST(KeyBlocks, AreOfWhatNobodyElseReadsAndIsLong) {
  EXPECT_TRUE(find_attentions(graph_of({.what = "scores read", .scores_read = true})).empty());
  EXPECT_TRUE(find_attentions(graph_of({.what = "weights read", .weights_read = true})).empty());
  const Graph whole = graph_of({.what = "short"});
  EXPECT_EQ(count(in_key_blocks(whole, 21), "Softmax"), 1);
  EXPECT_EQ(count(in_key_blocks(whole, 20), "Softmax"), 3) << "two blocks, and what joins them";
}

/// Repeated keys and values are views of their blocks: no copy is made of them, and none is left of
/// what was read whole.
TEST(KeyBlocks, OfRepeatedHeadsCostNoCopies) {
  const Graph cut = in_key_blocks(graph_of({.what = "grouped", .groups = 2}), 10);
  const auto lowered = lower_in_memory(cut);
  ASSERT_TRUE(lowered.ok());
  for (const Layer& l : lowered->layers) {
    const bool shows = l.op_type == "Expand" || l.op_type == "Reshape";
    if (shows) {
      EXPECT_TRUE(l.work.empty()) << l.name;
    }
  }
  EXPECT_EQ(count(cut, "Expand"), 2 * 4);
}

/// In int8: the program's numbers are the integer reference's, with scales of a float run.
TEST(KeyBlocks, GiveTheReferencesNumbersInInt8) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  for (const Spelling& s : spellings()) {
    SCOPED_TRACE(s.what);
    const Graph cut = in_key_blocks(graph_of(s), 10);
    const Result<CostedNetwork> costed = cost_network(cut, hw, {});
    ASSERT_TRUE(costed.ok()) << costed.errors().front().text();
    const auto made = quantised_network_case(cut, *costed, hw, 1, 1);
    ASSERT_TRUE(made.ok()) << made.errors().front().text();
    int64_t logarithms = 0;
    for (const NetworkPart& part : made->network.parts)
      if (const auto* row = part.mapping->source_as<RowSource>())
        logarithms += row->problem.work.log ? 1 : 0;
    EXPECT_GE(logarithms, 4) << "one a block, or more where it is done in pieces";
    hw::MemoryImage golden = made->image;
    ASSERT_TRUE(hw::run_golden(made->network.program, made->hw, golden).ok());
    const ReferenceResult r =
        compare_with_reference(*costed, made->network, made->numbers, made->image, golden);
    EXPECT_EQ(r.difference, "");
    EXPECT_TRUE(r.taken.empty());
    EXPECT_GT(r.compared, 12);
  }
}

/// Attention in blocks is what `accsim --key-blocks` costs; where none is long enough it says so.
TEST(KeyBlocks, AreAnOptionOfTheGraphThatIsCosted) {
  ElaborateOptions options;
  options.key_blocks = 10;
  const auto cut = costed_graph(graph_of({.what = "plain"}), options);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->key_blocks, 10);
  EXPECT_EQ(count(*cut, "ReduceLogSumExp"), 4);
  options.key_blocks = 21;
  const auto refused = costed_graph(graph_of({.what = "plain"}), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors().front().text().find("over at least 42 keys"), std::string::npos);
  options.skip_unknown = true;
  EXPECT_EQ(costed_graph(graph_of({.what = "plain"}), options)->key_blocks, 0);
}

TEST(KeyBlocks, KnowTheSizesOfAttention) {
  const std::vector<Attention> found = find_attentions(graph_of({.what = "plain", .keys = 43}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].keys, 43);
  EXPECT_EQ(found[0].rows, kQueries);
  EXPECT_EQ(found[0].matrices, kHeads);
  EXPECT_EQ(found[0].depth, kDepth);
  EXPECT_EQ(found[0].width, kWidth);
}

}  // namespace
}  // namespace accsim::sim
