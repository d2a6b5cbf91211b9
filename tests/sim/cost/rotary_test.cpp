#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/operators/names.h"
#include "sim/ref/executor.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

/// The operator RotaryEmbedding is what exporters spell out: the same layers, costs and values.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr int64_t kBatch = 2, kTokens = 6, kHeads = 4, kSize = 16, kPositions = 32;

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }

/// Which form of the operator.
struct Form {
  bool microsoft = false;
  bool interleaved = false;
  int64_t angles = kSize / 2;  ///< of a token; fewer than half a head: a part of it turns
  bool gathered = true;        ///< by positions
};
constexpr Form kForms[] = {{},
                           {.interleaved = true},
                           {.angles = kSize / 4},
                           {.gathered = false},
                           {.microsoft = true},
                           {.microsoft = true, .interleaved = true, .angles = kSize / 4}};

/// "x" is batch, heads, tokens, size of a head; "ids" one position a token.
ModelBuilder with_inputs(const Form& f) {
  ModelBuilder m(23);
  m.input("x", {kBatch, kHeads, kTokens, kSize});
  const Dims cache = f.gathered ? Dims{kPositions, f.angles} : Dims{kBatch, kTokens, f.angles};
  m.input("cos", cache).input("sin", cache);
  if (f.gathered) m.input("ids", {kBatch, kTokens}, DType::int64);
  return m;
}

ModelDef of_operator(const Form& f) {
  ModelBuilder m = with_inputs(f);
  std::vector<std::string> inputs = {"x", "cos", "sin"};
  if (f.gathered) inputs.insert(inputs.begin() + (f.microsoft ? 1 : 3), "ids");
  std::vector<Attribute> attributes = {number("interleaved", f.interleaved)};
  if (2 * f.angles < kSize) {
    attributes.push_back(number("rotary_embedding_dim", 2 * f.angles));
    attributes.push_back(number("num_heads", kHeads));
  }
  m.node("RotaryEmbedding", inputs, {"y"}, attributes).output("y");
  ModelDef model = m.model();
  if (f.microsoft) {
    model.opsets[std::string(kMicrosoft)] = 1;
    model.graph.nodes[0].domain = kMicrosoft;
  }
  return model;
}

/// Nodes as exporters write them: caches gathered, two products and a sum, of pairs that lie along
/// a dim of their own.
ModelDef spelled_out(const Form& f) {
  ModelBuilder m = with_inputs(f);
  const int64_t h = f.angles, first = f.interleaved ? h : 2, last = f.interleaved ? 2 : h;
  const int64_t axis = f.interleaved ? 4 : 3, ones = f.interleaved ? h : 1;
  m.constant("pairs", {5}, {kBatch, kHeads, kTokens, first, last});
  m.constant("row", {5}, {kBatch, 1, kTokens, ones, f.interleaved ? 1 : h});
  m.constant("back", {4}, {kBatch, kHeads, kTokens, 2 * h}).constant("axis", {1}, {axis});
  m.constant("zero", {1}, {0}).constant("one", {1}, {1}).constant("two", {1}, {2});
  std::string part = "x";
  if (2 * h < kSize) {
    m.constant("cut", {2}, {2 * h, kSize - 2 * h});
    m.node("Split", {"x", "cut"}, {"part", "rest"}, {number("axis", -1)});
    part = "part";
  }
  m.node("Reshape", {part, "pairs"}, {"p"}).node("Slice", {"p", "zero", "one", "axis"}, {"low"});
  m.node("Slice", {"p", "one", "two", "axis"}, {"high"}).node("Neg", {"high"}, {"minus"});
  m.node("Concat", {"minus", "low"}, {"turned"}, {number("axis", axis)});
  for (const std::string angle : {"cos", "sin"}) {
    if (f.gathered) m.node("Gather", {angle, "ids"}, {angle + "_rows"});
    m.node("Reshape", {f.gathered ? angle + "_rows" : angle, "row"}, {angle + "_of"});
  }
  m.node("Mul", {"p", "cos_of"}, {"a"}).node("Mul", {"turned", "sin_of"}, {"b"});
  m.node("Add", {"a", "b"}, {"sum"}).node("Reshape", {"sum", "back"}, {"flat"});
  if (2 * h == kSize) return m.output("flat").model();
  m.node("Concat", {"flat", "rest"}, {"y"}, {number("axis", -1)});
  return m.output("y").model();
}

TEST(RotaryOperator, CostsWhatItsNodesCost) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64.yaml");
  for (const Form& f : kForms) {
    const auto op = elaborate(of_operator(f), {}), nodes = elaborate(spelled_out(f), {});
    ASSERT_TRUE(op.ok()) << op.errors().front().text();
    ASSERT_TRUE(nodes.ok()) << nodes.errors().front().text();
    const auto one = cost_network(*op, hw, {}), other = cost_network(*nodes, hw, {});
    ASSERT_TRUE(one.ok() && other.ok());
    const Costs &a = one->report.totals, &b = other->report.totals;
    EXPECT_EQ(a.cycles, b.cycles);
    EXPECT_EQ(a.dram_read, b.dram_read);
    EXPECT_EQ(a.dram_write, b.dram_write);
    EXPECT_EQ(a.energy.total_pj(), b.energy.total_pj());
  }
}

/// Two products and a sum by lane commands, and rows that are gathered; nothing is only moved.
TEST(RotaryOperator, IsTwoProductsAndASum) {
  for (const Form& f : kForms) {
    const auto graph = elaborate(of_operator(f), {});
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    const auto lowered = lower_in_memory(*graph);
    ASSERT_TRUE(lowered.ok());
    int lanes = 0, gathers = 0, turned = 0;
    for (const Layer& l : lowered->layers)
      for (const WorkItem& item : l.work) {
        const auto* vector = std::get_if<VectorOp>(&item);
        const auto* memory = std::get_if<MemoryOp>(&item);
        lanes += vector != nullptr && vector->lane ? 1 : 0;
        gathers += memory != nullptr && memory->picked ? 1 : 0;
        turned += l.turned ? 1 : 0;
      }
    EXPECT_EQ(lanes, 3);
    EXPECT_EQ(gathers, f.gathered ? 2 : 0);
    EXPECT_EQ(turned, 1);
  }
}

/// Queries and keys of two layers turn by rows that are gathered once.
TEST(RotaryOperator, SharesItsAnglesWithOthers) {
  ModelBuilder m = with_inputs({});
  for (const char* y : {"a", "b", "c"})
    m.node("RotaryEmbedding", {"x", "cos", "sin", "ids"}, {y}).output(y);
  const auto graph = elaborate(m.model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(std::ranges::count(graph->nodes, std::string("Gather"), &Node::op_type), 2);
}

/// The last result of a network on random inputs and given positions.
std::vector<double> values_of(const ModelDef& model, const ElaborateOptions& options) {
  const auto graph = elaborate(model, options);
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  ref::Arrays inputs;
  for (const TensorId id : graph->inputs) {
    const Tensor& t = graph->tensor(id);
    if (is_float(t.dtype)) inputs[t.name] = ref::random_input(*graph, id, 7);
    if (is_float(t.dtype)) continue;
    ref::Array ids(t.dtype, t.dims);
    for (int64_t i = 0; i < ids.size(); ++i) ids.data<int64_t>()[i] = (5 * i + 3) % kPositions;
    inputs[t.name] = std::move(ids);
  }
  const auto result = ref::run_graph(*graph, inputs, {});
  EXPECT_TRUE(result.ok()) << result.errors().front().text();
  return result->outputs.begin()->second.reals();
}

/// The operator's kernel rounds once. Nodes round each product (|x| |cos| 2^-24) and the sum.
TEST(RotaryOperator, GivesWhatItsKernelGives) {
  for (const Form& f : kForms) {
    const std::vector<double> want = values_of(of_operator(f), {.as_written = true});
    const std::vector<double> got = values_of(of_operator(f), {});
    ASSERT_EQ(got.size(), static_cast<size_t>(kBatch * kHeads * kTokens * kSize));
    ASSERT_EQ(want.size(), got.size());
    double largest = 0;
    for (const double v : want) largest = std::max(largest, std::abs(v));
    EXPECT_GT(largest, 0);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 8 * largest * std::ldexp(1, -24)) << i;
  }
}

/// What isn't spelled out stays an operator of the vector unit.
TEST(RotaryOperator, StaysWhereItsAnglesArentKnown) {
  ModelDef packed = of_operator({.microsoft = true});
  packed.graph.nodes[0].attributes.push_back(number("is_packed_batching", 1));
  const auto graph = elaborate(packed, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->nodes.size(), 1U);
}

}  // namespace
}  // namespace accsim::sim
