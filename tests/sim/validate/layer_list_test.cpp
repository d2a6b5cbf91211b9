#include "sim/validate/layer_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// The network of a YAML text.
Result<Graph> network(const std::string& text) {
  const auto tree = hw::parse_yaml(text, "v.yaml");
  if (!tree) return tree.errors();
  SpecErrors errors("v.yaml");
  const LayerList list = read_layer_list(*tree, errors);
  if (!errors.empty()) return errors.take();
  const auto model = layer_model(list, "v.yaml:1:1");
  if (!model) return model.errors();
  return elaborate(*model, {});
}

int64_t macs(const Graph& graph) {
  auto workload = Workload::prepare(graph);
  EXPECT_TRUE(workload.ok());
  const auto hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  const auto totals = workload->cost(*hw, {});
  EXPECT_TRUE(totals.ok());
  return totals->macs;
}

Dims output_dims(const Graph& graph) { return graph.tensor(graph.outputs.front()).dims; }

std::string error_of(const std::string& text) {
  const auto graph = network(text);
  EXPECT_FALSE(graph.ok()) << text;
  return graph.ok() ? "" : graph.errors().front().text();
}

TEST(LayerList, AreProductsOneBehindTheOther) {
  const auto graph = network(
      "input: 10x20\nlayers:\n  - {product: 30, function: Relu, repeat: 2}\n  - {product: 7}\n");
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(output_dims(*graph), (Dims{10, 7}));
  EXPECT_EQ(macs(*graph), 10 * (20 * 30 + 30 * 30 + 30 * 7));
}

TEST(LayerList, IsAConvolutionPaddedByHalfOfItsKernelUnlessSaid) {
  const auto same = network("input: 2x3x9x11\nlayers: [{conv: 5, kernel: 3}]\n");
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(output_dims(*same), (Dims{2, 5, 9, 11}));
  EXPECT_EQ(macs(*same), 2 * 9 * 11 * 5 * 3 * 3 * 3);
  const auto strided =
      network("input: 1x3x9x11\nlayers: [{conv: 5, kernel: 3, stride: 2, pad: 0}]\n");
  ASSERT_TRUE(strided.ok());
  EXPECT_EQ(output_dims(*strided), (Dims{1, 5, 4, 5}));  // (9 - 3) / 2 + 1, (11 - 3) / 2 + 1
}

TEST(LayerList, HasAResidualGroupAShortcutWhereTheShapesDiffer) {
  const auto graph = network(
      "input: 1x4x8x8\nlayers:\n"
      "  - {residual: true, layers: [{conv: 4, kernel: 3}]}\n"
      "  - {residual: true, function: Relu, layers: [{conv: 6, kernel: 3, stride: 2}]}\n");
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(output_dims(*graph), (Dims{1, 6, 4, 4}));
  EXPECT_EQ(macs(*graph), 64 * 4 * 4 * 9 + 16 * 6 * 4 * 9 + 16 * 6 * 4);
}

TEST(LayerList, HasAResNetTheOperationsOfItsFile) {
  // models/resnet18_op13.onnx without its first convolution and classifier: 1,814,073,344 MACs
  // less 64 x 112 x 112 x 3 x 49 and 512 x 1000.
  std::string text = "input: 1x64x56x56\nlayers:\n";
  for (const int width : {64, 128, 256, 512})
    for (int block = 0; block < 2; ++block) {
      text += fmt::format(
          "  - {{residual: true, layers: [{{conv: {0}, kernel: 3, stride: {1}}}, {{conv: {0}, "
          "kernel: 3}}]}}\n",
          width, width > 64 && block == 0 ? 2 : 1);
    }
  const auto graph = network(text);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(macs(*graph), 1'814'073'344 - 64 * 112 * 112 * 3 * 49 - 512 * 1000);
}

/// What a residual takes the unscaled input of can't be part of a convolution: it has work of its
/// own; behind a convolution it has none.
TEST(LayerList, IsAScaleWorkWhereNoConvolutionTakesIt) {
  const auto layers_with_work = [](const std::string& text) {
    const auto graph = network(text);
    EXPECT_TRUE(graph.ok()) << text;
    const auto workload = Workload::prepare(*graph);
    EXPECT_TRUE(workload.ok());
    return std::ranges::count_if(workload->lowered().layers, [](const Layer& l) {
      return l.fate != Fate::folded && !l.work.empty();
    });
  };
  const std::string convs = "{conv: 4, kernel: 3, function: Relu}, {conv: 4, kernel: 3}";
  const auto block = [&](const std::string& first) {
    return layers_with_work("input: 1x4x8x8\nlayers:\n  - {conv: 4, kernel: 3}\n" +
                            ("  - {residual: true, layers: [" + first + convs + "]}\n"));
  };
  EXPECT_EQ(block("{scale: true, function: Relu}, "), block("") + 1);
  EXPECT_EQ(layers_with_work("input: 1x4x8x8\nlayers: [{conv: 4, kernel: 3}, {scale: true}]\n"),
            layers_with_work("input: 1x4x8x8\nlayers: [{conv: 4, kernel: 3}]\n"));
  EXPECT_EQ(error_of("input: 1x4x8x8\nlayers: [{scale: maybe}]\n"),
            "v.yaml:2:18: scale is true or false");
}

TEST(LayerList, IsAProductOfTwoInputsWithoutWeights) {
  const auto graph = elaborate(product_model({6, 7, 8}), {});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(output_dims(*graph), (Dims{6, 8}));
  EXPECT_EQ(macs(*graph), 6 * 7 * 8);
}

TEST(LayerList, SaysWhatCantBe) {
  EXPECT_NE(error_of("input: 4x4\nlayers: [{conv: 3}]\n").find("reads batch x channels"),
            std::string::npos);
  EXPECT_NE(error_of("input: 1x3x4x4\nlayers: [{product: 3}]\n").find("rows x reduction"),
            std::string::npos);
  EXPECT_NE(error_of("input: 1x3x2x2\nlayers: [{conv: 3, kernel: 5, pad: 0}]\n")
                .find("larger than the padded image"),
            std::string::npos);
  EXPECT_NE(error_of("input: 4x4\nlayers: [{residual: true, layers: [{product: 5}]}]\n")
                .find("only images have a shortcut"),
            std::string::npos);
  EXPECT_EQ(error_of("input: 4x4\nlayers: [{product: 0}]\n"),
            "v.yaml:2:20: product is 0; it must be a whole number from 1");
  EXPECT_EQ(error_of("input: 4x4\nlayers: [{product: 3, conv: 3}]\n"),
            "v.yaml:2:10: a layer has one of product, conv, scale and layers");
  EXPECT_EQ(error_of("input: 4xb\nlayers: [{product: 3}]\n"),
            "v.yaml:1:8: input is sizes like 1x64x56x56");
  EXPECT_NE(error_of("input: 4x4\nlayers: [{produkt: 3}]\n").find("produkt"), std::string::npos);
}

TEST(LayerList, AreSizesWholeNumbersFromOne) {
  EXPECT_EQ(sizes_from("3x40x500"), (Dims{3, 40, 500}));
  for (const char* bad : {"", "x3", "3x", "3xx4", "0x3", "-1x3", "3x4 ", "3.5", "99999999999"})
    EXPECT_FALSE(sizes_from(bad)) << bad;
}

}  // namespace
}  // namespace accsim::sim
