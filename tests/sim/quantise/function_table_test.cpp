#include "sim/quantise/function_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/functions.h"
#include "sim/operators/op_table.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// The one function of a graph whose constants have these values.
class OneFunction {
 public:
  explicit OneFunction(const ModelBuilder& b, std::map<std::string, double> constants = {})
      : values_(std::move(constants)) {
    auto graph = elaborate(b.model(), {});
    EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
    graph_ = std::move(*graph);
    const auto all = find_functions(graph_, consumers_by_tensor(graph_));
    EXPECT_EQ(all.size(), 1U);
    function_ = all.at(0);
    constants_ = [this](TensorId id) -> Result<ref::Array> {
      ref::Array out(graph_.tensor(id).dtype, graph_.tensor(id).dims);
      out.data<float>()[0] = static_cast<float>(values_.at(graph_.tensor(id).name));
      return out;
    };
  }
  const Graph& graph() const { return graph_; }
  const UnaryFunction& function() const { return function_; }

  std::vector<int8_t> table(double argument, double result) const {
    const auto out = function_table(graph_, function_, constants_, {argument}, {result});
    EXPECT_TRUE(out.ok()) << out.errors().front().text();
    return *out;
  }
  std::vector<double> at(const std::vector<double>& x) const {
    const auto out = evaluate_function(graph_, function_, constants_, x);
    EXPECT_TRUE(out.ok()) << out.errors().front().text();
    return *out;
  }
  AffineFunction affine(double range) const {
    return *affine_function(graph_, function_, constants_, range);
  }

 private:
  Graph graph_;
  UnaryFunction function_;
  std::map<std::string, double> values_;
  Constants constants_;
};

/// round() of C takes halves away from zero.
std::vector<int8_t> expected(double (*f)(double), double argument, double result) {
  std::vector<int8_t> out;
  for (int v = -128; v < 128; ++v)
    out.push_back(static_cast<int8_t>(
        std::max(-128.0, std::min(127.0, std::round(f(v * argument) / result)))));
  return out;
}

TEST(FunctionTable, HasAnEntryForEachArgument) {
  ModelBuilder b(17);
  b.input("x", {2, 3}).weight("k", {1, 1});
  b.node("Mul", {"x", "k"}, {"a"})
      .node("Tanh", {"a"}, {"t"})
      .node("Mul", {"x", "t"}, {"y"})
      .output("y");
  const OneFunction f(b, {{"k", 0.5}});
  const auto x_tanh = [](double x) { return x * std::tanh(x / 2); };
  EXPECT_EQ(f.table(0.037, 0.041), expected(x_tanh, 0.037, 0.041));
  EXPECT_EQ(f.table(0.2, 0.01), expected(x_tanh, 0.2, 0.01)) << "with entries that are clipped";
}

TEST(FunctionTable, RoundsHalvesAwayFromZero) {
  ModelBuilder b(17);
  b.input("x", {4}).node("Neg", {"x"}, {"y"}).output("y");
  // -v / 2 in steps of 1.
  EXPECT_EQ(OneFunction(b).table(0.5, 1), expected([](double x) { return -x; }, 0.5, 1));
}

TEST(FunctionTable, IsZeroWhereThereIsNoNumberAndTheLimitWhereItIsInfinite) {
  ModelBuilder b(17);
  b.input("x", {4}).node("Log", {"x"}, {"y"}).output("y");
  const auto table = OneFunction(b).table(0.1, 0.05);
  EXPECT_EQ(table[0], 0);
  EXPECT_EQ(table[128], -128) << "of 0";
  EXPECT_EQ(table[138], 0) << "of 1";
}

TEST(FunctionTable, GoesThroughBooleansAndTypes) {
  ModelBuilder b(17);
  b.input("x", {4}).weight("zero", {});
  b.node("Greater", {"x", "zero"}, {"g"})
      .node("Cast", {"g"}, {"c"}, {{"to", "", int64_t{1}}})
      .node("Mul", {"c", "x"}, {"y"})
      .output("y");
  EXPECT_EQ(OneFunction(b, {{"zero", 0}}).at({-2, -0.5, 0, 3}), (std::vector<double>{0, 0, 0, 3}));
}

/// Every row that says that it is affine in a port is: on a line through three points.
TEST(AffineFunction, IsWhatRowsSay) {
  int ports = 0;
  for (const OpRow* row : all_ops())
    for (size_t port = 0; row->affine_ports >> port != 0; ++port) {
      if ((row->affine_ports >> port & 1) == 0) continue;
      EXPECT_TRUE(row->pointwise) << row->name;
      if (row->fate == Fate::view) continue;  // alone they are no function
      ModelBuilder b(17);
      b.input("x", {1}).weight("k", {1});  // of one shape: not all broadcast
      std::vector<std::string> inputs(static_cast<size_t>(row->min_inputs), "k");
      inputs[port] = "x";
      std::vector<Attribute> attributes;
      if (row->has_attribute("to")) attributes.push_back({"to", "", int64_t{1}});
      b.node(std::string(row->name), inputs, {"y"}, std::move(attributes)).output("y");
      const auto graph = elaborate(b.model(), {});
      ASSERT_TRUE(graph.ok()) << row->name << ": " << graph.errors().front().text();
      if (graph->nodes[0].op_type != row->name) continue;  // spelled out
      if (find_functions(*graph, consumers_by_tensor(*graph)).empty())
        continue;  // a cast to its own type
      const OneFunction f(b, {{"k", 0.75}});
      EXPECT_TRUE(is_affine(f.graph(), f.graph().nodes[0])) << row->name;
      const AffineFunction line = f.affine(4);
      for (const double x : {-4.0, 1.0, 2.5})
        EXPECT_NEAR(f.at({x})[0], line.factor * x + line.offset, 1e-5) << row->name;
      ++ports;
    }
  EXPECT_GE(ports, 8);
}

}  // namespace
}  // namespace accsim::sim
