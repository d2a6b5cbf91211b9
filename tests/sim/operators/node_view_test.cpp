#include "sim/operators/node_view.h"

#include <gtest/gtest.h>

#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

struct Fixture {
  Graph graph;
  Node node;
  Fixture() { node.op_type = "Op"; }
  void input(DType dtype, Dims dims, ConstPtr value) {
    Tensor t;
    t.name = "x";
    t.dtype = dtype;
    t.dims = std::move(dims);
    t.constant = value != nullptr;
    t.value = std::move(value);
    graph.tensors.push_back(std::move(t));
    node.inputs.push_back(static_cast<TensorId>(graph.tensors.size() - 1));
  }
  NodeView view() const { return NodeView(graph, node); }
};

ConstPtr ints(std::vector<int64_t> v) { return std::make_shared<ConstData>(std::move(v)); }

TEST(NodeView, IsAValueGivenOnlyWhenItFitsItsTensor) {
  Fixture f;
  f.input(DType::int64, {2}, ints({1, 2}));
  f.input(DType::int64, {3}, ints({1, 2}));
  f.input(DType::float32, {2}, ints({1, 2}));
  f.input(DType::int64, {2}, nullptr);
  EXPECT_NE(f.view().value(0), nullptr);
  EXPECT_EQ(f.view().value(1), nullptr);  // another size
  EXPECT_EQ(f.view().value(2), nullptr);  // integers for a float tensor
  EXPECT_EQ(f.view().value(3), nullptr);
  EXPECT_EQ(f.view().value(9), nullptr);  // no such input
}

TEST(NodeView, IsAnEmptyTensorAlwaysKnown) {
  Fixture f;
  f.input(DType::int64, {3, 0}, nullptr);
  ASSERT_NE(f.view().value(0), nullptr);
  EXPECT_EQ(f.view().value(0)->size(), 0U);
  EXPECT_TRUE(f.view().known_integers(0)->empty());
}

TEST(NodeView, DoErrorsOfUnknownIntegersNameTheInput) {
  Fixture f;
  f.input(DType::int64, {2}, nullptr);
  f.input(DType::float32, {2}, nullptr);
  for (size_t i : {0, 1, 2}) ASSERT_FALSE(f.view().known_integers(i));
  EXPECT_EQ(f.view().known_integers(0).errors()[0].code, Errc::unsupported);
  EXPECT_NE(f.view().known_integers(0).errors()[0].message.find("'x'"), std::string::npos);
  EXPECT_EQ(f.view().known_integers(1).errors()[0].code, Errc::invalid);
  EXPECT_EQ(f.view().known_integers(2).errors()[0].code, Errc::invalid);
}

TEST(NodeView, DoesAnAttributeOfAnotherTypeCountAsAbsent) {
  Fixture f;
  f.node.attributes.push_back({"axis", "", int64_t{3}});
  f.node.attributes.push_back({"mode", "", std::string("edge")});
  EXPECT_EQ(int_attr(f.view(), "axis", 7), 3);
  EXPECT_EQ(int_attr(f.view(), "mode", 7), 7);
  EXPECT_EQ(int_attr(f.view(), "none", 7), 7);
  EXPECT_EQ(real_attr(f.view(), "axis", 0.5), 0.5);
  EXPECT_EQ(f.view().attr("mode", "x"), "edge");
  EXPECT_FALSE(f.view().attr_ints("axis"));
}

TEST(NormalizeAxis, AreAxesCountedFromBothEnds) {
  EXPECT_EQ(*normalize_axis(-1, 3), 2);
  EXPECT_EQ(*normalize_axis(-3, 3), 0);
  EXPECT_EQ(*normalize_axis(2, 3), 2);
  for (int64_t bad : {-4, 3}) EXPECT_FALSE(normalize_axis(bad, 3));
  EXPECT_FALSE(normalize_axis(0, 0));
}

TEST(NormalizeAxes, AreTheySortedAndDistinct) {
  EXPECT_EQ(*normalize_axes({-1, 0}, 3), (std::vector<int64_t>{0, 2}));
  EXPECT_FALSE(normalize_axes({2, -1}, 3));
  EXPECT_FALSE(normalize_axes({3}, 3));
}

TEST(Rules, DoesAnUnknownValueErrorSayWhatAndWhy) {
  Fixture f;
  f.input(DType::int64, {2}, nullptr);
  f.node.op_type = "Reshape";
  EXPECT_EQ(unknown_value(f.view(), 0, "shape", "output dim 1").message,
            "Reshape: output dim 1 depends on the value of input 'shape' (tensor 'x'), which isn't "
            "constant; give --value x=N,N... (int64 2)");
}

TEST(Rules, DoSizesStayWithin62Bits) {
  const int64_t most = int64_t{1} << 62;
  EXPECT_EQ(size_sum(most - 1, 1), most);
  EXPECT_FALSE(size_sum(most, 1));
  EXPECT_EQ(size_product(int64_t{1} << 31, int64_t{1} << 31), most);
  EXPECT_FALSE(size_product(int64_t{1} << 32, int64_t{1} << 31));
}

}  // namespace
}  // namespace accsim::sim
