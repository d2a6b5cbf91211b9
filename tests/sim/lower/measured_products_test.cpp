#include "sim/lower/measured_products.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// A product of measured integers; "scale" times "sw" scales its sums.
ModelBuilder measured_product() {
  ModelBuilder b;
  b.input("x", {4, 8}).weight("w", {8, 16}, DType::int8).weight("sw", {16});
  b.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  b.node("MatMulInteger", {"q", "w", "zero"}, {"sums"});
  b.node("Cast", {"sums"}, {"cast"}, {{"to", "", int64_t{1}}});
  b.node("Mul", {"scale", "sw"}, {"both"}).node("Mul", {"both", "cast"}, {"y"}).output("y");
  return b;
}

/// With the names of the graph in the place of ids.
struct Found {
  std::map<std::string, std::string> weight_scale;
  std::map<std::string, size_t> passing;
  std::set<std::string> factors;

  explicit Found(const ModelBuilder& b) {
    const auto graph = elaborate(b.model(), {});
    EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
    const auto name = [&](NodeId id) { return graph->nodes[static_cast<size_t>(id)].name; };
    const MeasuredProducts products = find_measured_products(*graph);
    for (const auto& [node, scale] : products.weight_scale)
      weight_scale[name(node)] = scale == kNoTensor ? "" : graph->tensor(scale).name;
    for (const auto& [node, input] : products.passing) passing[name(node)] = input;
    for (const NodeId node : products.factors) factors.insert(name(node));
  }
};

TEST(MeasuredProducts, HaveTheScalesOfTheirWeightsAndWhatIsThereForThemAlone) {
  const Found found(measured_product());
  EXPECT_EQ(found.weight_scale, (std::map<std::string, std::string>{{"sums", "sw"}}));
  EXPECT_EQ(found.passing, (std::map<std::string, size_t>{{"q", 0}, {"cast", 0}, {"y", 1}}));
  EXPECT_EQ(found.factors, std::set<std::string>{"both"});
}

TEST(MeasuredProducts, AreNoneWhereAnythingElseReadsWhatIsMeasured) {
  for (const char* also : {"q", "scale", "zero", "both"}) {
    ModelBuilder b = measured_product();
    b.node("Identity", {also}, {"seen"}).output("seen");
    EXPECT_TRUE(Found(b).weight_scale.empty()) << also;
    EXPECT_TRUE(Found(b).passing.empty()) << also;
  }
}

}  // namespace
}  // namespace accsim::sim
