#include "sim/lower/patterns.h"

#include <gtest/gtest.h>

#include <functional>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

struct Spelled {
  Graph graph;
  Lowered lowered;

  const Layer& layer(const std::string& name) const {
    for (const Layer& l : lowered.layers)
      if (l.name == name) return l;
    throw std::logic_error("no layer " + name);
  }
  /// Names of what a layer reads.
  std::vector<std::string> inputs(const std::string& name) const {
    std::vector<std::string> out;
    for (const TensorId id : layer(name).inputs) out.push_back(graph.tensor(id).name);
    return out;
  }
  const VectorOp& op(const std::string& name) const {
    return std::get<VectorOp>(layer(name).work.back());
  }
  int64_t layers_with_work() const {
    int64_t out = 0;
    for (const Layer& l : lowered.layers) out += l.work.empty() ? 0 : 1;
    return out;
  }
};

Spelled lowered_of(const ModelBuilder& b) {
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  auto low = lower_in_memory(*graph);
  EXPECT_TRUE(low.ok()) << low.errors().front().text();
  return {std::move(*graph), std::move(*low)};
}

ModelBuilder& constant(ModelBuilder& b, const std::string& name, double value) {
  return b.node("Constant", {}, {name}, {Attribute{"value_float", "", value}});
}

constexpr int64_t kRows = 12, kLength = 40, kCount = kRows * kLength;

/// A network of rows of kLength with the constants that patterns have.
ModelBuilder rows_network() {
  ModelBuilder b;
  b.input("x", {3, 4, kLength}).weight("gain", {kLength}).weight("shift", {kLength});
  constant(b, "two", 2);
  constant(b, "three", 3);
  constant(b, "one", 1);
  constant(b, "eps", 1e-5);
  return b;
}

Attribute last_axis() { return ModelBuilder::ints("axes", {-1}); }

/// The root of the mean square of `of` and epsilon, as tensor "root".
void add_root(ModelBuilder& b, const std::string& of, bool power) {
  if (power)
    b.node("Pow", {of, "two"}, {"square"});
  else
    b.node("Mul", {of, of}, {"square"});
  b.node("ReduceMean", {"square"}, {"spread"}, {last_axis()})
      .node("Add", {"eps", "spread"}, {"sum"})
      .node("Sqrt", {"sum"}, {"root"});
}

enum class Divided { by_root, by_reciprocal, by_one_over };

void add_normal(ModelBuilder& b, const std::string& of, Divided how) {
  if (how == Divided::by_root) b.node("Div", {of, "root"}, {"normal"});
  if (how == Divided::by_reciprocal)
    b.node("Reciprocal", {"root"}, {"inverse"}).node("Mul", {"inverse", of}, {"normal"});
  if (how == Divided::by_one_over)
    b.node("Div", {"one", "root"}, {"inverse"}).node("Mul", {of, "inverse"}, {"normal"});
}

ModelBuilder layer_norm(bool power = true, Divided how = Divided::by_root) {
  ModelBuilder b = rows_network();
  b.node("ReduceMean", {"x"}, {"mean"}, {last_axis()}).node("Sub", {"x", "mean"}, {"centred"});
  add_root(b, "centred", power);
  add_normal(b, "centred", how);
  b.node("Mul", {"normal", "gain"}, {"gained"}).node("Add", {"shift", "gained"}, {"y"}).output("y");
  return b;
}

ModelBuilder rms_norm(bool power = true, Divided how = Divided::by_reciprocal) {
  ModelBuilder b = rows_network();
  add_root(b, "x", power);
  add_normal(b, "x", how);
  b.node("Mul", {"gain", "normal"}, {"y"}).output("y");
  return b;
}

void expect_rows(const VectorOp& op, RowKind kind) {
  ASSERT_TRUE(op.row_work.has_value());
  EXPECT_EQ(op.row_work->kind, kind);
  EXPECT_EQ(op.row_work->row_count(), kRows);
  EXPECT_EQ(op.row_work->run, kLength);
  EXPECT_EQ(op.row_work->pieces, 1);
  EXPECT_EQ(op.row_work->per_channel, 1);
}

TEST(Patterns, ALayerNormIsOneLayerHoweverItIsSpelled) {
  for (const bool power : {true, false})
    for (const Divided how : {Divided::by_root, Divided::by_reciprocal, Divided::by_one_over}) {
      const Spelled s = lowered_of(layer_norm(power, how));
      EXPECT_EQ(s.layers_with_work(), 1);
      EXPECT_EQ(s.layer("y").fate, Fate::vector);
      EXPECT_EQ(s.inputs("y"), (std::vector<std::string>{"x", "gain", "shift"}));
      expect_rows(s.op("y"), RowKind::layer_norm);
      for (const char* name : {"mean", "centred", "square", "root", "normal", "gained"}) {
        EXPECT_EQ(s.layer(name).fate, Fate::folded);
        EXPECT_EQ(&s.lowered.layers[static_cast<size_t>(s.layer(name).merged_into)], &s.layer("y"));
      }
    }
}

TEST(Patterns, AnRmsNormIsOneLayerHoweverItIsSpelled) {
  for (const bool power : {true, false})
    for (const Divided how : {Divided::by_root, Divided::by_reciprocal, Divided::by_one_over}) {
      const Spelled s = lowered_of(rms_norm(power, how));
      EXPECT_EQ(s.layers_with_work(), 1);
      EXPECT_EQ(s.inputs("y"), (std::vector<std::string>{"x", "gain"}));
      expect_rows(s.op("y"), RowKind::rms_norm);
    }
}

/// What each node does an element or a row, added up; each outer tensor once.
TEST(Patterns, HasALayerTheOperationsOfItsNodesAndOnlyItsOuterTraffic) {
  const Spelled s = lowered_of(layer_norm());
  const VectorOp& op = s.op("y");
  EXPECT_EQ(op[VectorClass::reduce], 2 * kCount);                   // two means
  EXPECT_EQ(op[VectorClass::elementwise], 3 * kCount + 3 * kRows);  // Sub, Mul, Add; / n, eps
  EXPECT_EQ(op[VectorClass::special], 2 * kCount + kRows);          // Pow, Div; Sqrt
  ASSERT_EQ(op.inputs.size(), 3U);
  EXPECT_EQ(op.inputs[0].elements, kCount);
  EXPECT_EQ(op.inputs[1].elements + op.inputs[2].elements, 2 * kLength);
  ASSERT_EQ(op.outputs.size(), 1U);
  EXPECT_EQ(op.outputs[0].elements, kCount);
  EXPECT_EQ(op.row, kLength);
  EXPECT_EQ(s.lowered.params, 2 * kLength);
}

TEST(Patterns, WithoutItsGainAPatternIsSmaller) {
  ModelBuilder b = rows_network();
  add_root(b, "x", true);
  add_normal(b, "x", Divided::by_root);
  b.output("normal");
  const Spelled s = lowered_of(b);
  EXPECT_EQ(s.inputs("normal"), std::vector<std::string>{"x"});
  ASSERT_TRUE(s.op("normal").row_work.has_value());
  EXPECT_EQ(s.op("normal").row_work->per_channel, kLength) << "one channel";
}

/// Where a tensor inside is read by others, what is behind it is still a pattern, or nothing is.
TEST(Patterns, IsATensorThatIsReadElsewhereKept) {
  ModelBuilder b = layer_norm();
  b.node("Neg", {"centred"}, {"other"}).output("other");
  const Spelled some = lowered_of(b);
  EXPECT_EQ(some.layer("centred").fate, Fate::vector);
  EXPECT_EQ(some.inputs("gained"), (std::vector<std::string>{"centred", "gain"}));
  EXPECT_EQ(some.op("gained").row_work->kind, RowKind::rms_norm);
  EXPECT_EQ(some.layer("y").fate, Fate::vector) << "the shift";
  ModelBuilder c = layer_norm();
  c.output("spread");
  const Spelled none = lowered_of(c);
  EXPECT_EQ(none.layer("square").fate, Fate::vector);
  EXPECT_FALSE(none.op("y").row_work.has_value());
}

TEST(Patterns, AreConstantsOfOtherValuesOrShapesOtherOperations) {
  const auto other = [](const std::string& exponent, const std::string& epsilon,
                        const std::string& one) {
    ModelBuilder b = rows_network();
    b.weight("many", {3, 4, 1});
    b.node("Pow", {"x", exponent}, {"square"})
        .node("ReduceMean", {"square"}, {"spread"}, {last_axis()})
        .node("Add", {"spread", epsilon}, {"sum"})
        .node("Sqrt", {"sum"}, {"root"})
        .node("Div", {one, "root"}, {"inverse"})
        .node("Mul", {"x", "inverse"}, {"y"})
        .output("y");
    const Spelled s = lowered_of(b);
    return s.op("y").row_work.has_value();
  };
  EXPECT_TRUE(other("two", "eps", "one"));
  EXPECT_FALSE(other("three", "eps", "one"));
  EXPECT_FALSE(other("two", "many", "one"));
  EXPECT_FALSE(other("two", "eps", "three"));
}

TEST(Patterns, IsAnotherTensorsMeanAnotherOperation) {
  ModelBuilder b = rows_network();
  b.input("z", {3, 4, kLength});
  b.node("ReduceMean", {"z"}, {"mean"}, {last_axis()}).node("Sub", {"x", "mean"}, {"centred"});
  add_root(b, "centred", true);
  add_normal(b, "centred", Divided::by_root);
  b.output("normal");
  const Spelled s = lowered_of(b);
  EXPECT_EQ(s.layer("centred").fate, Fate::vector);
  EXPECT_EQ(s.op("normal").row_work->kind, RowKind::rms_norm) << "of what is behind the Sub";
}

/// Means of dims that convolutions have in front: with a gain for each of them, channels last.
TEST(Patterns, IsANormOverChannelsOneOfPixels) {
  ModelBuilder b;
  b.input("x", {2, 8, 4, 5}).weight("gain", {8, 1, 1});
  constant(b, "two", 2);
  constant(b, "eps", 1e-6);
  b.node("Pow", {"x", "two"}, {"square"})
      .node("ReduceMean", {"square"}, {"spread"}, {ModelBuilder::ints("axes", {1})})
      .node("Add", {"spread", "eps"}, {"sum"})
      .node("Sqrt", {"sum"}, {"root"})
      .node("Div", {"x", "root"}, {"normal"})
      .node("Mul", {"normal", "gain"}, {"y"})
      .output("y");
  const Spelled s = lowered_of(b);
  ASSERT_EQ(s.layers_with_work(), 1);
  const auto& w = s.op("y").row_work;
  ASSERT_TRUE(w.has_value());
  EXPECT_EQ(w->run, 8);
  EXPECT_EQ(w->per_channel, 1);
  EXPECT_EQ(w->row_count(), 40);
}

// ---- softmax ------------------------------------------------------------------------------------

/// Scores of 2 x 3 heads, 4 x 5 each.
ModelBuilder scores() {
  ModelBuilder b;
  b.input("x", {2, 3, 4, 5})
      .input("mask", {2, 1, 1, 5})
      .input("kept", {1, 1, 4, 5}, DType::boolean);
  constant(b, "eight", 8);
  constant(b, "low", -1e9);
  constant(b, "zero", 0);
  return b;
}

TEST(Patterns, ASoftmaxTakesItsFactorAndItsAddend) {
  for (const char* op : {"Mul", "Div"}) {
    ModelBuilder b = scores();
    b.node(op, {"x", "eight"}, {"scaled"})
        .node("Add", {"mask", "scaled"}, {"sum"})
        .node("Softmax", {"sum"}, {"y"})
        .output("y");
    const Spelled s = lowered_of(b);
    EXPECT_EQ(s.layers_with_work(), 1);
    EXPECT_EQ(s.inputs("y"), (std::vector<std::string>{"x", "mask"}));
    const auto& w = s.op("y").row_work;
    ASSERT_TRUE(w && w->mask);
    EXPECT_EQ(w->mask->port, 1);
    EXPECT_EQ(w->rows, (RowNest{1, 1, 2, 12}));
    EXPECT_EQ(w->mask->row_stride, (RowNest{0, 0, 5, 0}));
    EXPECT_EQ(w->run, 5);
  }
}

/// A factor that requantisation of the product before it does isn't the softmax' any more.
TEST(Patterns, IsAFactorBehindAProductTheProducts) {
  ModelBuilder b;
  b.input("q", {2, 4, 8}).input("k", {2, 8, 5}).input("mask", {2, 1, 5});
  constant(b, "eight", 8);
  b.node("MatMul", {"q", "k"}, {"scores"})
      .node("Div", {"scores", "eight"}, {"scaled"})
      .node("Add", {"scaled", "mask"}, {"sum"})
      .node("Softmax", {"sum"}, {"y"})
      .output("y");
  const Spelled s = lowered_of(b);
  EXPECT_EQ(s.layers_with_work(), 2);
  EXPECT_EQ(s.inputs("y"), (std::vector<std::string>{"scaled", "mask"}));
  EXPECT_EQ(s.layer("scores").fate, Fate::gemm);
  EXPECT_FALSE(s.layer("scores").function.empty());
}

/// Of two tensors of the same shape that are added either may be the mask: the larger pattern wins.
TEST(Patterns, AMaskOfTheSameShapeIsTheOneThatHasNoFactor) {
  ModelBuilder b = scores();
  b.input("z", {2, 3, 4, 5});
  b.node("Mul", {"x", "eight"}, {"scaled"})
      .node("Add", {"z", "scaled"}, {"sum"})
      .node("Softmax", {"sum"}, {"y"})
      .output("y");
  EXPECT_EQ(lowered_of(b).inputs("y"), (std::vector<std::string>{"x", "z"}));
}

TEST(Patterns, ASoftmaxTakesAChoice) {
  ModelBuilder b = scores();
  b.node("Div", {"x", "eight"}, {"scaled"})
      .node("Where", {"kept", "scaled", "low"}, {"chosen"})
      .node("Softmax", {"chosen"}, {"y"})
      .output("y");
  const Spelled s = lowered_of(b);
  EXPECT_EQ(s.layers_with_work(), 1);
  EXPECT_EQ(s.inputs("y"), (std::vector<std::string>{"x", "kept"}));
  ASSERT_TRUE(s.op("y").row_work && s.op("y").row_work->mask);
  EXPECT_EQ(s.op("y").row_work->mask->row_stride, (RowNest{0, 0, 0, 5}));
}

/// A softmax where what isn't chosen counts as 0, and one of what is chosen by another network.
TEST(Patterns, IsAChoiceOfAnythingElseNoMask) {
  ModelBuilder zero = scores(), turned = scores();
  zero.node("Where", {"kept", "x", "zero"}, {"chosen"}).node("Softmax", {"chosen"}, {"y"});
  EXPECT_EQ(lowered_of(zero.output("y")).layers_with_work(), 2);
  turned.node("Where", {"kept", "low", "x"}, {"chosen"}).node("Softmax", {"chosen"}, {"y"});
  EXPECT_EQ(lowered_of(turned.output("y")).layers_with_work(), 2)
      << "a sum can't take away what is true";
}

TEST(Patterns, ASoftmaxAloneIsNone) {
  ModelBuilder b = scores();
  b.node("Softmax", {"x"}, {"y"}).output("y");
  const Spelled s = lowered_of(b);
  EXPECT_FALSE(match_pattern(s.graph, s.lowered, static_cast<NodeId>(s.graph.nodes.size() - 1)));
  EXPECT_TRUE(s.op("y").row_work.has_value());
}

}  // namespace
}  // namespace accsim::sim
