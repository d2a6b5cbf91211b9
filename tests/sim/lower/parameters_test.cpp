#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/handed_on.h"
#include "sim/lower/lower.h"
#include "sim/lower/lower_each.h"
#include "sim/lower/real_graph.h"
#include "sim/operators/names.h"
#include "tests/support/models.h"

/// What counts as a parameter: what the file has, once, whatever is computed from it off line.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }

struct Counts {
  int64_t params = 0, buffers = 0, bytes = 0;
};
Counts counts(const Lowered& l) {
  int64_t params = 0, buffers = 0;
  for (const Layer& layer : l.layers) {
    params += layer.params;
    buffers += layer.buffers;
  }
  EXPECT_EQ(params, l.params) << "of the layers";
  EXPECT_EQ(buffers, l.buffers) << "of the layers";
  return {l.params, l.buffers, l.weight_bytes};
}

/// Of the network as the file has it and as it is costed, which must agree.
Counts counts(ModelDef model) {
  model.opsets[std::string(kMicrosoft)] = 1;
  const auto written = elaborate(model, {.as_written = true});
  auto costed = elaborate(model, {});
  if (!written || !costed) {
    ADD_FAILURE() << (written ? costed : written).errors().front().text();
    return {};
  }
  const auto each = lower_each(*written);
  const auto merged = lower(real_graph(skip_handed_on(std::move(*costed))));
  EXPECT_TRUE(each.ok() && merged.ok());
  const Counts out = counts(*each), again = counts(*merged);
  EXPECT_EQ(out.params, again.params) << "as it is costed";
  EXPECT_EQ(out.buffers, again.buffers) << "as it is costed";
  EXPECT_EQ(out.bytes, again.bytes) << "as it is costed";
  return out;
}
Counts counts(const ModelBuilder& b) { return counts(b.model()); }

/// "y" = x [4, rows] times weights "w" of other nodes.
Counts times_w(ModelBuilder& b, int64_t rows) {
  return counts(b.input("x", {4, rows}).node("MatMul", {"x", "w"}, {"y"}).output("y"));
}

TEST(Parameters, WeightsThatArePutTogetherCountOnce) {
  ModelBuilder b;
  b.weight("q", {64, 64}).weight("k", {64, 64}).weight("v", {64, 64});
  b.node("Concat", {"q", "k", "v"}, {"w"}, {number("axis", 1)});
  const Counts c = times_w(b, 64);
  EXPECT_EQ(c.params, 3 * 64 * 64);
  EXPECT_EQ(c.bytes, 4 * 3 * 64 * 64);
}

TEST(Parameters, WeightsThatAreRepeatedCountAsOften) {
  ModelBuilder tiled;
  tiled.weight("t", {8, 4}).constant("by", {2}, {2, 16}).node("Tile", {"t", "by"}, {"w"});
  EXPECT_EQ(times_w(tiled, 16).params, 8 * 4);
  ModelBuilder expanded;
  expanded.weight("t", {16, 1}).constant("to", {2}, {16, 64});
  expanded.node("Expand", {"t", "to"}, {"w"});
  EXPECT_EQ(times_w(expanded, 16).params, 16);
}

TEST(Parameters, WeightsThatAreAProductAreItsFactors) {
  ModelBuilder b(17);
  b.weight("a", {64, 8}).weight("b", {8, 64});
  b.node("Einsum", {"a", "b"}, {"w"}, {{"equation", "", std::string("ij,jk->ik")}});
  EXPECT_EQ(times_w(b, 64).params, 2 * 64 * 8);
  ModelBuilder sum;
  sum.weight("base", {64, 64}).weight("a", {64, 2}).weight("b", {2, 64});
  sum.node("MatMul", {"a", "b"}, {"ab"}).node("Add", {"base", "ab"}, {"w"});
  EXPECT_EQ(times_w(sum, 64).params, 64 * 64 + 2 * 64 * 2) << "low rank adaptation";
}

TEST(Parameters, WeightsOfManyMakersCountOnce) {
  ModelBuilder b;
  b.weight("t", {8, 8}).input("x", {4, 8}).constant("by", {2}, {1, 2});
  b.node("Transpose", {"t"}, {"turned"}).node("Tile", {"t", "by"}, {"twice"});
  b.node("MatMul", {"x", "turned"}, {"a"}).node("MatMul", {"a", "t"}, {"c"});
  b.node("MatMul", {"c", "twice"}, {"y"}).output("y");
  EXPECT_EQ(counts(b).params, 8 * 8);
}

/// As exports have them from which the weights have been taken.
TEST(Parameters, WhatNodesMakeOfNothingCounts) {
  ModelBuilder b;
  b.constant("of_v", {2}, {16, 8}).constant("of_g", {2}, {1, 8});
  b.node("ConstantOfShape", {"of_v"}, {"v"}).node("ConstantOfShape", {"of_g"}, {"g"});
  b.node("Mul", {"v", "g"}, {"w"});
  EXPECT_EQ(times_w(b, 16).params, 16 * 8 + 8);
  ModelBuilder scaled;
  scaled.constant("of_v", {2}, {16, 8}).weight("s", {});
  scaled.node("ConstantOfShape", {"of_v"}, {"v"}).node("Mul", {"v", "s"}, {"w"});
  EXPECT_EQ(times_w(scaled, 16).params, 16 * 8 + 1);
  ModelBuilder masked;
  masked.constant("of_m", {2}, {16, 8}).weight("t", {16, 8});
  masked.node("ConstantOfShape", {"of_m"}, {"mask"}).node("Mul", {"t", "mask"}, {"w"});
  EXPECT_EQ(times_w(masked, 16).params, 16 * 8) << "a mask isn't learned";
}

TEST(Parameters, IntegersThatNodesScaleCountAsTheFileHasThem) {
  ModelBuilder b;
  b.weight("q", {64, 32}, DType::int8).weight("s", {32});
  b.node("Cast", {"q"}, {"reals"}, {number("to", 1)}).node("Mul", {"reals", "s"}, {"w"});
  const Counts c = times_w(b, 64);
  EXPECT_EQ(c.params, 64 * 32 + 32);
  EXPECT_EQ(c.bytes, 64 * 32 + 4 * 32);
}

TEST(Parameters, IntegersOfAProductByElementsCount) {
  ModelBuilder b;
  b.input("x", {4, 64}).weight("s", {}).weight("z", {}, DType::uint8);
  b.weight("gain", {64}, DType::uint8);
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  b.node("QLinearMul", {"q", "s", "z", "gain", "s", "z", "s", "z"}, {"y"});
  b.node("DequantizeLinear", {"y", "s", "z"}, {"reals"}).output("reals");
  ModelDef model = b.model();
  model.graph.nodes[1].domain = kMicrosoft;
  const Counts c = counts(model);
  EXPECT_EQ(c.params, 64 + 1 + 1);
  EXPECT_EQ(c.bytes, 64 + 4 + 1);
}

/// Exporters store equal tensors once: of a network that wasn't trained gain and variance are.
TEST(Parameters, AGainThatIsTheVarianceTooIsAParameter) {
  for (const bool behind_identity : {false, true}) {
    ModelBuilder b;
    b.input("x", {1, 8, 4, 4}).weight("gain", {8}).weight("shift", {8});
    if (behind_identity)
      b.node("Identity", {"gain"}, {"variance"}).node("Identity", {"shift"}, {"mean"});
    const std::string mean = behind_identity ? "mean" : "shift",
                      variance = behind_identity ? "variance" : "gain";
    b.node("BatchNormalization", {"x", "gain", "shift", mean, variance}, {"y"}).output("y");
    const Counts c = counts(b);
    EXPECT_EQ(c.params, 2 * 8) << behind_identity;
    EXPECT_EQ(c.buffers, 0) << behind_identity;
  }
}

TEST(Parameters, StatisticsBehindNodesAreBuffers) {
  ModelBuilder b;
  b.input("x", {1, 8, 4, 4}).weight("gain", {8}).weight("shift", {8});
  b.weight("mean16", {8}, DType::float16).weight("variance", {8});
  b.node("Cast", {"mean16"}, {"mean"}, {number("to", 1)});
  b.node("BatchNormalization", {"x", "gain", "shift", "mean", "variance"}, {"y"}).output("y");
  const Counts c = counts(b);
  EXPECT_EQ(c.params, 2 * 8);
  EXPECT_EQ(c.buffers, 2 * 8);
}

// ---- rotary embeddings --------------------------------------------------------------------------

constexpr int64_t kPositions = 32, kTokens = 6, kHeads = 2, kHalf = 8;

/// "x" is a product's result, 1 x heads x tokens x size of a head.
ModelBuilder heads() {
  ModelBuilder b(17);
  b.input("in", {1, kHeads, kTokens, 2 * kHalf}).weight("w", {2 * kHalf, 2 * kHalf});
  b.node("MatMul", {"in", "w"}, {"x"});
  b.constant("zero", {1}, {0}).constant("half", {1}, {kHalf}).constant("all", {1}, {2 * kHalf});
  b.constant("last", {1}, {3}).constant("tokens", {1}, {kTokens}).constant("first", {1}, {0});
  return b;
}
constexpr int64_t kWeights = 4 * kHalf * kHalf;

/// x cos + rotate_half(x) sin.
void turn(ModelBuilder& b, const std::string& cos, const std::string& sin) {
  b.node("Slice", {"x", "zero", "half", "last"}, {"low"});
  b.node("Slice", {"x", "half", "all", "last"}, {"high"}).node("Neg", {"high"}, {"minus"});
  b.node("Concat", {"minus", "low"}, {"turned"}, {number("axis", -1)});
  b.node("Mul", {"x", cos}, {"a"}).node("Mul", {"turned", sin}, {"b"});
  b.node("Add", {"a", "b"}, {"y"}).output("y");
}

void check_tables(const ModelBuilder& b, int64_t tables, const char* what) {
  const Counts c = counts(b);
  EXPECT_EQ(c.params, kWeights) << what;
  EXPECT_EQ(c.buffers, tables) << what;
  EXPECT_EQ(c.bytes, 4 * kWeights) << what;
}

TEST(RotaryTables, TablesOfCosinesAndSinesAreBuffers) {
  ModelBuilder b = heads();
  b.weight("cos", {kTokens, 2 * kHalf}).weight("sin", {kTokens, 2 * kHalf});
  turn(b, "cos", "sin");
  check_tables(b, 2 * kTokens * 2 * kHalf, "as they are");

  ModelBuilder sliced = heads();
  sliced.weight("c", {kPositions, 2 * kHalf}).weight("s", {kPositions, 2 * kHalf});
  for (const std::string t : {"c", "s"})
    sliced.node("Slice", {t, "zero", "tokens", "first"}, {t + "_of"});
  turn(sliced, "c_of", "s_of");
  check_tables(sliced, 2 * kPositions * 2 * kHalf, "the first rows");

  ModelBuilder gathered = heads();
  gathered.input("ids", {kTokens}, DType::int64);
  gathered.weight("c", {kPositions, kHalf}).weight("s", {kPositions, kHalf});
  for (const std::string t : {"c", "s"}) {
    gathered.node("Gather", {t, "ids"}, {t + "_rows"});
    gathered.node("Concat", {t + "_rows", t + "_rows"}, {t + "_of"}, {number("axis", -1)});
  }
  turn(gathered, "c_of", "s_of");
  check_tables(gathered, 2 * kPositions * kHalf, "rows by position");
}

TEST(RotaryTables, FrequenciesAreBuffers) {
  ModelBuilder b = heads();
  b.input("ids", {kTokens, 1}).weight("frequencies", {1, kHalf});
  b.node("MatMul", {"ids", "frequencies"}, {"angles"});
  b.node("Concat", {"angles", "angles"}, {"both"}, {number("axis", -1)});
  b.node("Cos", {"both"}, {"cos"}).node("Sin", {"both"}, {"sin"});
  turn(b, "cos", "sin");
  check_tables(b, kHalf, "computed");
}

/// a cos - b sin and b cos + a sin, of halves and of neighbours.
ModelBuilder turned_by_pairs(bool neighbours, bool sum) {
  ModelBuilder b = heads();
  b.constant("one", {1}, {1}).constant("two", {1}, {2});
  b.weight("cos", {kTokens, kHalf}).weight("sin", {kTokens, kHalf});
  if (neighbours) {
    b.node("Slice", {"x", "zero", "all", "last", "two"}, {"p"});
    b.node("Slice", {"x", "one", "all", "last", "two"}, {"q"});
  } else {
    b.node("Split", {"x"}, {"p", "q"}, {number("axis", -1)});
  }
  b.node("Mul", {"p", "cos"}, {"p_cos"}).node("Mul", {"q", "sin"}, {"q_sin"});
  b.node("Mul", {"q", "cos"}, {"q_cos"}).node("Mul", {"p", "sin"}, {"p_sin"});
  b.node("Sub", {"p_cos", "q_sin"}, {"low"})
      .node(sum ? "Add" : "Sub", {"p_sin", "q_cos"}, {"high"});
  b.node("Concat", {"low", "high"}, {"y"}, {number("axis", -1)}).output("y");
  return b;
}

TEST(RotaryTables, TablesOfPairsAreBuffers) {
  check_tables(turned_by_pairs(false, true), 2 * kTokens * kHalf, "halves");
  check_tables(turned_by_pairs(true, true), 2 * kTokens * kHalf, "neighbours");
}

TEST(RotaryTables, CachesOfOperatorsAreBuffers) {
  for (const bool microsoft : {false, true}) {
    ModelBuilder b(23);
    b.input("in", {1, kTokens, 2 * kHalf}).weight("w", {2 * kHalf, 2 * kHalf});
    b.input("ids", {1, kTokens}, DType::int64).node("MatMul", {"in", "w"}, {"x"});
    b.weight("cos", {kPositions, kHalf}).weight("sin", {kPositions, kHalf});
    std::vector<std::string> inputs = {"x", "cos", "sin"};
    inputs.insert(inputs.begin() + (microsoft ? 1 : 3), "ids");
    b.node("RotaryEmbedding", inputs, {"y"}, {number("num_heads", 1)}).output("y");
    ModelDef model = b.model();
    if (microsoft) model.graph.nodes[1].domain = kMicrosoft;
    const Counts c = counts(model);
    EXPECT_EQ(c.params, kWeights) << microsoft;
    EXPECT_EQ(c.buffers, 2 * kPositions * kHalf) << microsoft;
  }
}

TEST(RotaryTables, FactorsOfSomethingElseAreParameters) {
  const int64_t factors = 2 * kTokens * 2 * kHalf;
  ModelBuilder shifted = heads();  // a blend with the token before, as of RWKV
  shifted.weight("cos", {kTokens, 2 * kHalf}).weight("sin", {kTokens, 2 * kHalf});
  shifted.weight("state", {1, kHeads, 1, 2 * kHalf}).constant("end", {1}, {kTokens - 1});
  shifted.constant("along", {1}, {2});
  shifted.node("Slice", {"x", "zero", "end", "along"}, {"rest"});
  shifted.node("Concat", {"state", "rest"}, {"turned"}, {number("axis", 2)});
  shifted.node("Mul", {"x", "cos"}, {"a"}).node("Mul", {"turned", "sin"}, {"b"});
  shifted.node("Add", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(counts(shifted).params, kWeights + factors + kHeads * 2 * kHalf);

  EXPECT_EQ(counts(turned_by_pairs(false, false)).params, kWeights + 2 * kTokens * kHalf);

  ModelBuilder shared = heads();  // the table is something else's factor, too
  shared.weight("cos", {kTokens, 2 * kHalf}).weight("sin", {kTokens, 2 * kHalf});
  turn(shared, "cos", "sin");
  shared.node("Mul", {"x", "sin"}, {"other"}).output("other");
  EXPECT_EQ(counts(shared).params, kWeights + kTokens * 2 * kHalf);
}

}  // namespace
}  // namespace accsim::sim
