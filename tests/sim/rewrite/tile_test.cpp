#include "sim/rewrite/tile.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/graph/graph.h"
#include "sim/onnx/reader.h"
#include "sim/onnx/writer.h"
#include "sim/operators/node_view.h"
#include "sim/rewrite/gemm_model.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

GemmModelOptions sizes(int64_t m, int64_t k, int64_t n) {
  GemmModelOptions o;
  o.m = m;
  o.k = k;
  o.n = n;
  return o;
}

Result<TiledModel> tile(const std::string& bytes, const TileOptions& options) {
  return tile_model(test::write_temp("model.onnx", bytes), {}, options);
}

Result<Graph> graph_of(const std::string& bytes) {
  const auto model = read_model(test::write_temp("model.onnx", bytes));
  if (!model) return model.errors();
  return elaborate(*model, {});
}

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// MatMul nodes and MACs of a graph, and the largest of each dim.
struct Products {
  int64_t nodes = 0, macs = 0, m = 0, k = 0, n = 0;
};
Products products(const Graph& graph) {
  Products out;
  for (const Node& node : graph.nodes) {
    if (node.op_type != "MatMul") continue;
    const NodeView view(graph, node);
    const int64_t m = view.dims(0)[0], k = view.dims(0)[1], n = view.dims(1)[1];
    ++out.nodes;
    out.macs += m * k * n;
    out.m = std::max(out.m, m);
    out.k = std::max(out.k, k);
    out.n = std::max(out.n, n);
  }
  return out;
}

TEST(Tile, HasTheProductsOfTheFormula) {
  for (const bool pad : {false, true})
    for (const int64_t opset : {7, 10, 11, 13, 17})
      for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 130, 70}, {65, 64, 63}, {7, 7, 7}}) {
        GemmModelOptions o = sizes(m, k, n);
        o.opset = opset;
        o.b_transposed = o.bias = true;
        o.weight_seed = 1;
        const TileOptions options{{16, 32, 64}, pad, false, "*"};
        const auto tiled = tile(*gemm_model(o), options);
        ASSERT_TRUE(tiled) << tiled.errors()[0].text();
        const auto graph = graph_of(tiled->bytes);
        ASSERT_TRUE(graph) << graph.errors()[0].text();
        ASSERT_TRUE(verify_graph(*graph));
        const Products p = products(*graph);
        EXPECT_EQ(p.nodes, ceil_of(m, 16) * ceil_of(k, 32) * ceil_of(n, 64));
        EXPECT_EQ(p.nodes, tiled->layers[0].products);
        const auto whole = [&](int64_t size, int64_t t) {
          return pad ? ceil_of(size, t) * t : size;
        };
        EXPECT_EQ(p.macs, whole(m, 16) * whole(k, 32) * whole(n, 64));
        EXPECT_LE(p.m, 16);
        EXPECT_LE(p.k, 32);
        EXPECT_LE(p.n, 64);
        EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (Dims{m, n}));
      }
}

TEST(Tile, RefusesMoreProductsThanCanBeCosted) {
  const auto model = gemm_model(sizes(1 << 10, 1 << 10, 1 << 10));
  const auto tiled = tile(*model, {{1, 1, 1}, false, false, "*"});
  ASSERT_FALSE(tiled);
  EXPECT_EQ(tiled.errors()[0].code, Errc::capacity);
  EXPECT_NE(tiled.errors()[0].text().find("node 'gemm'"), std::string::npos);
}

TEST(Tile, RefusesWhenNothingMatches) {
  const auto tiled = tile(*gemm_model(sizes(4, 4, 4)), {{2, 2, 2}, false, false, "other*"});
  ASSERT_FALSE(tiled);
  EXPECT_NE(tiled.errors()[0].text().find("'other*'"), std::string::npos);
}

TEST(Tile, DamagedModelsAreErrorsAndNotCrashes) {
  GemmModelOptions o = sizes(5, 6, 7);
  o.bias = true;
  o.weight_seed = 3;
  const std::string good = *gemm_model(o);
  int refused = 0;
  for (size_t i = 0; i < good.size(); i += 3) {
    for (const int bits : {0x01, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ bits);
      const auto tiled = tile(bad, {{2, 2, 2}, true, true, "*"});
      refused += tiled ? 0 : 1;
    }
    refused += tile(good.substr(0, i), {{2, 2, 2}, false, true, "*"}) ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

TEST(EditModel, WithoutChangesGivesTheSameBytes) {
  GemmModelOptions o = sizes(5, 6, 7);
  o.weight_seed = 3;
  const std::string bytes = *gemm_model(o);
  EXPECT_EQ(*edit_model(test::write_temp("model.onnx", bytes), {}), bytes);
}

TEST(GemmModel, SaysWhatItWasAsked) {
  GemmModelOptions o = sizes(5, 6, 7);
  o.a_transposed = o.b_transposed = o.bias = true;
  o.alpha = 0.5;
  o.beta = -2;
  o.weight_seed = 3;
  const auto graph = graph_of(*gemm_model(o));
  ASSERT_TRUE(graph);
  const NodeView node(*graph, graph->nodes.at(0));
  EXPECT_EQ(node.node().op_type, "Gemm");
  EXPECT_EQ(node.dims(0), (Dims{6, 5}));
  EXPECT_EQ(node.dims(1), (Dims{7, 6}));
  EXPECT_EQ(node.dims(2), (Dims{7}));
  EXPECT_EQ(node.attr("alpha", 0.0), 0.5);
  EXPECT_EQ(node.attr("beta", 0.0), -2.0);
  EXPECT_EQ(graph->inputs.size(), 1u);
  EXPECT_EQ(*gemm_model(o), *gemm_model(o));
  o.batch = 2;
  EXPECT_FALSE(gemm_model(o));
  GemmModelOptions large = sizes(1, 1 << 20, 1 << 20);
  EXPECT_TRUE(gemm_model(large));
  large.weight_seed = 1;
  EXPECT_FALSE(gemm_model(large));
  EXPECT_FALSE(gemm_model(sizes(0, 1, 1)));
}

}  // namespace
}  // namespace accsim::sim
