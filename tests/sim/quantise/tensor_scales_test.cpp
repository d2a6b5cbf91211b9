#include "sim/quantise/tensor_scales.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hw/config/load.h"
#include "sim/lower/real_graph.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

ref::Array values_of(const std::vector<float>& values) {
  ref::Array out(DType::float32, {std::ssize(values)});
  std::copy(values.begin(), values.end(), out.data<float>());
  return out;
}

TEST(Calibration, TakesTheRangeThatAPercentileLeaves) {
  std::vector<float> values;
  for (int i = 0; i <= 100; ++i) values.push_back(static_cast<float>((i * 37) % 101 - 20));
  const ValueRange all = range_of(values_of(values), 100), most = range_of(values_of(values), 95);
  EXPECT_EQ(all.low, -20);
  EXPECT_EQ(all.high, 80);
  EXPECT_EQ(most.low, -15);  // 5 of 100 steps from either end
  EXPECT_EQ(most.high, 75);
}

TEST(Calibration, LooksAtNothingThatStandsForInfinity) {
  const auto all = values_of({-3.4e38F, -INFINITY, NAN, 2, -1e9F, -5});
  EXPECT_EQ(range_of(all, 100).low, -5);
  EXPECT_EQ(range_of(all, 100).high, 2);
  EXPECT_EQ(range_of(values_of({3, 4}), 100).low, 0) << "0 is in every range";
}

TEST(ElementScale, HasCodesFromTheLowestToTheHighest) {
  const hw::ElementScale s = element_scale({-1, 4}, false);
  EXPECT_DOUBLE_EQ(s.scale, 5.0 / 255);
  EXPECT_EQ(s.zero, -128 + 51);
  EXPECT_EQ(code_of(0, s), s.zero);
  EXPECT_EQ(code_of(-1, s), -128);
  EXPECT_EQ(code_of(4, s), 127);
  EXPECT_EQ(code_of(99, s), 127);
  EXPECT_EQ(code_of(-99, s), -128);
  EXPECT_EQ(code_of(NAN, s), 0);
}

TEST(ElementScale, MayBeSymmetric) {
  const hw::ElementScale s = element_scale({-1, 4}, true);
  EXPECT_DOUBLE_EQ(s.scale, 4.0 / 127);
  EXPECT_EQ(s.zero, 0);
  EXPECT_EQ(code_of(-4, s), -127);
}

/// A network's scales, of ranges that the test states by tensor.
class Scales {
 public:
  Scales(const ModelBuilder& b, const std::map<std::string, ValueRange>& ranges,
         const std::map<std::string, float>& constants = {})
      : graph_(real_graph(*elaborate(b.model(), {}))),
        hw_(*hw::load_hw(kSource + "/configs/8x8.yaml")),
        network_(*cost_network(graph_, hw_, {})) {
    Calibration calibration(graph_);
    for (const auto& [name, range] : ranges)
      calibration.observe_values(
          id(name), values_of({static_cast<float>(range.low), static_cast<float>(range.high)}));
    const Constants none = [&](TensorId at) -> Result<ref::Array> {
      const auto found = constants.find(graph_.tensor(at).name);
      if (found == constants.end()) return Error{Errc::invalid, "there are none", ""};
      return values_of({found->second});
    };
    scales_ = *TensorScales::make(graph_, network_, hw_, calibration, none);
  }
  const hw::ElementScale& of(const std::string& name) const { return scales_.scale_of(id(name)); }

 private:
  TensorId id(const std::string& name) const {
    for (size_t i = 0; i < graph_.tensors.size(); ++i)
      if (graph_.tensors[i].name == name) return static_cast<TensorId>(i);
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }

  Graph graph_;
  hw::HwConfig hw_;
  CostedNetwork network_;
  TensorScales scales_;
};

TEST(TensorScales, AreSharedByWhatHasTheSameCodes) {
  ModelBuilder m;
  m.input("x", {1, 4, 8, 8}).input("z", {1, 4, 4, 4});
  m.node("MaxPool", {"x"}, {"p"},
         {ModelBuilder::ints("kernel_shape", {2, 2}), ModelBuilder::ints("strides", {2, 2})});
  m.node("Concat", {"p", "z"}, {"k"}, {{"axis", "", int64_t{1}}});
  m.node("Sigmoid", {"k"}, {"y"});
  m.output("y");
  const Scales s(m, {{"x", {-1, 2}}, {"p", {0, 2}}, {"z", {-3, 1}}, {"k", {-3, 2}}, {"y", {0, 1}}});
  for (const char* name : {"x", "p", "z", "k"}) {
    EXPECT_DOUBLE_EQ(s.of(name).scale, 5.0 / 255) << name;
    EXPECT_EQ(s.of(name).zero, -128 + 153) << name;
  }
  EXPECT_DOUBLE_EQ(s.of("y").scale, 1.0 / 255);
  EXPECT_EQ(s.of("y").zero, -128);
}

TEST(TensorScales, HaveNoZeroPointWhereBothOperandsAreComputed) {
  ModelBuilder m(17);
  m.input("a", {2, 4, 8}).input("b", {2, 8, 4}).weight("w", {4, 6});
  m.node("MatMul", {"a", "b"}, {"c"}).node("MatMul", {"c", "w"}, {"y"}).output("y");
  const Scales s(m, {{"a", {0, 1}}, {"b", {-1, 3}}, {"c", {-1, 4}}, {"y", {0, 1}}});
  EXPECT_EQ(s.of("a").zero, 0);
  EXPECT_EQ(s.of("b").zero, 0);
  EXPECT_DOUBLE_EQ(s.of("b").scale, 3.0 / 127);
  EXPECT_EQ(s.of("c").zero, -128 + 51);
}

TEST(TensorScales, HoldWhatAProductGivesBeforeASum) {
  ModelBuilder m;
  m.input("x", {1, 4, 6, 6}).weight("w", {4, 4, 1, 1});
  m.node("Conv", {"x", "w"}, {"c"}).node("Add", {"c", "x"}, {"s"}).node("Relu", {"s"}, {"y"});
  m.output("y");
  const Scales s(m, {{"x", {-1, 1}}, {"c", {-6, 2}}, {"s", {-6, 4}}, {"y", {0, 4}}});
  EXPECT_DOUBLE_EQ(s.of("y").scale, 10.0 / 255);
  EXPECT_EQ(s.of("y").zero, -128 + 153);
}

TEST(TensorScales, AreThoseThatTheFileStates) {
  for (const DType type : {DType::uint8, DType::int8}) {
    ModelBuilder b;
    b.input("x", {4, 8}).weight("w", {8, 16}).weight("s", {}).weight("z", {}, type);
    b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
    b.node("DequantizeLinear", {"q", "s", "z"}, {"f"});
    b.node("MatMul", {"f", "w"}, {"y"}).output("y");
    const float zero = type == DType::uint8 ? 130 : 2;
    const Scales scales(b, {{"x", {-9, 9}}, {"y", {-1, 4}}}, {{"s", 0.25F}, {"z", zero}});
    EXPECT_EQ(scales.of("x").scale, 0.25) << "whatever the run's range";
    EXPECT_EQ(scales.of("x").zero, 2) << "of int8";
    EXPECT_DOUBLE_EQ(scales.of("y").scale, 5.0 / 255);
  }
}

}  // namespace
}  // namespace accsim::sim
