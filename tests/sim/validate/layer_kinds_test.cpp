#include "sim/validate/layer_kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using Values = std::map<std::string, int64_t, std::less<>>;

Result<Graph> layer(std::string_view name, Values values, std::vector<std::string> functions = {}) {
  const auto kind = std::ranges::find(layer_kinds(), name, &LayerKind::name);
  LayerSizes sizes{std::move(values), std::move(functions)};
  fill_sizes(*kind, sizes);
  const auto model = kind->model(sizes);
  if (!model) return model.errors();
  return elaborate(*model, {});
}

Dims output_dims(const Graph& graph) { return graph.tensor(graph.outputs.front()).dims; }

/// MACs of the main job on a machine, which has to be able to run the layer.
int64_t macs(const Graph& graph) {
  const auto hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  const auto network = cost_network(graph, *hw, {});
  EXPECT_TRUE(network.ok()) << network.errors().front().text();
  return network.ok() ? network->report.totals.macs : -1;
}

std::string error_of(std::string_view name, Values values) {
  const auto graph = layer(name, std::move(values));
  EXPECT_FALSE(graph.ok());
  return graph.ok() ? "" : graph.errors().front().message;
}

TEST(LayerKinds, WhatAProductIs) {
  const auto one = layer("product", {{"m", 3}, {"k", 5}, {"n", 7}});
  ASSERT_TRUE(one.ok()) << one.errors().front().text();
  EXPECT_EQ(output_dims(*one), (Dims{3, 7}));
  EXPECT_EQ(macs(*one), 3 * 5 * 7);
  const auto many = layer("product", {{"batch", 4}, {"m", 3}, {"k", 5}, {"n", 7}});
  ASSERT_TRUE(many.ok());
  EXPECT_EQ(output_dims(*many), (Dims{4, 3, 7}));
  EXPECT_EQ(macs(*many), 4 * 3 * 5 * 7);
}

TEST(LayerKinds, WhatFeedForwardLayersAre) {
  const Values sizes = {{"m", 6}, {"hidden", 16}, {"inner", 40}};
  const auto gated = layer("ffn_gated", sizes), erf = layer("ffn_erf", sizes);
  ASSERT_TRUE(gated.ok() && erf.ok());
  EXPECT_EQ(macs(*gated), 3 * 6 * 16 * 40);
  EXPECT_EQ(macs(*erf), 2 * 6 * 16 * 40);
  EXPECT_EQ(output_dims(*gated), (Dims{6, 16}));
  EXPECT_EQ(output_dims(*erf), (Dims{6, 16}));
}

/// Two products of every query with every key, masked or not; keys are shared by groups of heads.
TEST(LayerKinds, WhatAttentionIs) {
  const Values prefill = {{"heads", 4}, {"q", 32}, {"head", 8}};
  const auto all = layer("attention", prefill);
  ASSERT_TRUE(all.ok()) << all.errors().front().text();
  EXPECT_EQ(macs(*all), 2 * 4 * 32 * 32 * 8);
  const auto grouped = layer("attention", {{"batch", 3},
                                           {"heads", 8},
                                           {"heads_kv", 2},
                                           {"q", 1},
                                           {"kv", 100},
                                           {"head", 16},
                                           {"causal", 1}});
  ASSERT_TRUE(grouped.ok()) << grouped.errors().front().text();
  EXPECT_EQ(output_dims(*grouped), (Dims{3, 2, 4, 16}));
  EXPECT_EQ(macs(*grouped), 2 * 3 * 8 * 1 * 100 * 16);
  Values causal = prefill;
  causal["causal"] = 1;
  const auto masked = layer("attention", causal);
  ASSERT_TRUE(masked.ok());
  EXPECT_EQ(masked->nodes.size(), all->nodes.size() + 1);
  EXPECT_EQ(macs(*masked), macs(*all));
}

/// Sizes by ONNX: floor((n + pads - dilation (kernel - 1) - 1) / stride) + 1.
TEST(LayerKinds, WhatAConvolutionIs) {
  const auto conv = layer("conv", {{"c", 6},
                                   {"h", 20},
                                   {"w", 13},
                                   {"k", 8},
                                   {"kernel_h", 3},
                                   {"kernel_w", 5},
                                   {"stride_x", 2},
                                   {"pad_l", 1},
                                   {"pad_b", 2},
                                   {"dilation_y", 4},
                                   {"groups", 2}});
  ASSERT_TRUE(conv.ok()) << conv.errors().front().text();
  const int64_t high = (20 + 2 - 4 * 2 - 1) / 1 + 1, wide = (13 + 1 - 4 - 1) / 2 + 1;
  EXPECT_EQ(output_dims(*conv), (Dims{1, 8, high, wide}));
  EXPECT_EQ(macs(*conv), 8 * high * wide * (6 / 2) * 3 * 5);
  const auto square = layer("conv", {{"batch", 2},
                                     {"c", 3},
                                     {"h", 9},
                                     {"w", 9},
                                     {"k", 4},
                                     {"kernel", 3},
                                     {"stride", 2},
                                     {"pad", 1}});
  ASSERT_TRUE(square.ok());
  EXPECT_EQ(output_dims(*square), (Dims{2, 4, 5, 5}));
}

TEST(LayerKinds, WhatWorksWithoutMacsIs) {
  const Values image = {{"c", 16}, {"h", 8}, {"w", 6}};
  Values window = image;
  window["kernel"] = 2;
  window["stride"] = 2;
  for (const int64_t average : {0, 1}) {
    window["average"] = average;
    const auto pool = layer("pool", window);
    ASSERT_TRUE(pool.ok()) << pool.errors().front().text();
    EXPECT_EQ(output_dims(*pool), (Dims{1, 16, 4, 3}));
    EXPECT_EQ(macs(*pool), 0);
  }
  const auto lrn = layer("lrn", image);
  ASSERT_TRUE(lrn.ok()) << lrn.errors().front().text();
  EXPECT_EQ(output_dims(*lrn), (Dims{1, 16, 8, 6}));
  Values per_channel = image;
  per_channel["per_channel"] = 1;
  for (const Values& sizes : {image, per_channel})
    for (const std::string& function : pointwise_functions()) {
      const auto graph = layer("pointwise", sizes, {function, "Relu"});
      ASSERT_TRUE(graph.ok()) << function << ": " << graph.errors().front().text();
      EXPECT_EQ(output_dims(*graph), (Dims{1, 16, 8, 6}));
      EXPECT_EQ(macs(*graph), 0);
    }
}

TEST(LayerKinds, AreShapesThatCantBeRefused) {
  EXPECT_EQ(error_of("conv", {{"c", 3}, {"h", 2}, {"w", 4}, {"k", 4}, {"kernel", 5}, {"pad", 1}}),
            "a kernel over 5 x 5 (width x height) is larger than the padded image, 6 x 4");
  EXPECT_EQ(error_of("conv", {{"c", 3}, {"h", 2}, {"w", 4}, {"k", 4}, {"groups", 2}}),
            "2 groups don't divide 3 channels and 4 kernels");
  EXPECT_EQ(error_of("attention", {{"heads", 4}, {"heads_kv", 3}, {"q", 2}, {"head", 8}}),
            "3 heads of keys don't divide 4 heads of queries");
  EXPECT_EQ(error_of("attention", {{"heads", 4}, {"q", 9}, {"kv", 8}, {"head", 8}, {"causal", 1}}),
            "causal attention of 9 queries needs as many keys; there are 8");
}

TEST(LayerKinds, HasEachSizeAValueOrIsNeeded) {
  for (const LayerKind& kind : layer_kinds()) {
    std::set<std::string_view> before;
    for (const LayerParameter& p : kind.parameters) {
      EXPECT_FALSE(p.meaning.empty()) << kind.name << " " << p.name;
      EXPECT_TRUE(p.like.empty() || before.contains(p.like)) << kind.name << " " << p.name;
      EXPECT_TRUE(before.insert(p.name).second) << kind.name << " " << p.name;
    }
  }
}

TEST(LayerKinds, AreAllInTheDocument) {
  std::ifstream file(kSource + "/docs/validation.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const LayerKind& kind : layer_kinds()) {
    EXPECT_NE(page.find(fmt::format("| `{}` | ", kind.name)), std::string::npos) << kind.name;
    for (const LayerParameter& p : kind.parameters)
      EXPECT_NE(page.find(fmt::format("`{}`", p.name)), std::string::npos) << p.name;
  }
}

}  // namespace
}  // namespace accsim::sim
