#include "sim/lower/kept_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/plain_forms.h"
#include "sim/lower/real_graph.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// Scales before and behind a Mul or Div, and their zero points.
struct Steps {
  double before = 0.02, behind = 0.01;
  int64_t zero_before = -3, zero_behind = -3;
};

void give(ModelDef& model, const std::string& name, const ConstData& value) {
  for (StoredTensor& t : model.graph.initializers)
    if (t.name == name) t.value = std::make_shared<const ConstData>(value);
}

/// Operators of the graph in plain forms of x, quantised, times or over a number that 127 stands
/// for, quantised.
std::vector<std::string> operators(const char* op, double number, const Steps& s) {
  ModelBuilder b;
  b.input("x", {4, 8});
  for (const char* scale : {"s0", "s1", "sc"}) b.weight(scale, {});
  for (const char* zero : {"z0", "z1", "zc", "c"}) b.weight(zero, {}, DType::int8);
  b.node("Exp", {"x"}, {"e"}).node("QuantizeLinear", {"e", "s0", "z0"}, {"e_q"});
  b.node("DequantizeLinear", {"e_q", "s0", "z0"}, {"e_f"});
  b.node("DequantizeLinear", {"c", "sc", "zc"}, {"c_f"}).node(op, {"e_f", "c_f"}, {"m"});
  b.node("QuantizeLinear", {"m", "s1", "z1"}, {"m_q"});
  b.node("DequantizeLinear", {"m_q", "s1", "z1"}, {"m_f"}).node("Sigmoid", {"m_f"}, {"y"});
  ModelDef model = b.output("y").model();
  give(model, "s0", ConstData(std::vector<double>{s.before}));
  give(model, "s1", ConstData(std::vector<double>{s.behind}));
  give(model, "sc", ConstData(std::vector<double>{number / 255}));
  give(model, "z0", ConstData(std::vector<int64_t>{s.zero_before}));
  give(model, "z1", ConstData(std::vector<int64_t>{s.zero_behind}));
  give(model, "zc", ConstData(std::vector<int64_t>{-128}));
  give(model, "c", ConstData(std::vector<int64_t>{127}));
  auto graph = elaborate(model, {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const Graph plain = plain_forms(real_graph(std::move(*graph)));
  EXPECT_TRUE(verify_graph(plain).ok());
  std::vector<std::string> out;
  for (const Node& n : plain.nodes)
    if (!n.folded) out.push_back(n.op_type);
  return out;
}

using Names = std::vector<std::string>;

TEST(KeptCodes, AreThoseThatOnlyTheScaleChanges) {
  const Names kept{"Exp", "Identity", "Sigmoid"};
  EXPECT_EQ(operators("Mul", 0.5, {}), kept);
  EXPECT_EQ(operators("Div", 2, {}), kept);
  EXPECT_EQ(operators("Mul", 0.5, {0.02, 0.01 * (1 + 1e-7)}), kept) << "as a float rounds it";
}

TEST(KeptCodes, AreNotThoseThatAreRoundedAnew) {
  for (const char* op : {"Mul", "Div"}) {
    const Names changed{"Exp", op, "Sigmoid"};
    const double number = op == std::string("Mul") ? 0.5 : 2;
    EXPECT_EQ(operators(op, number, {0.02, 0.0101}), changed);
    EXPECT_EQ(operators(op, number, {0.02, 0.01, -3, -4}), changed);
    EXPECT_EQ(operators(op, -number, {}), changed);
  }
}

}  // namespace
}  // namespace accsim::sim
