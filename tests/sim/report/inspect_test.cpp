#include "sim/report/inspect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower_each.h"
#include "sim/report/table.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using nlohmann::json;
using test::ModelBuilder;

struct Network {
  Graph graph;
  Lowered lowered;
  Analysis analysis;
  Inspection view() const { return {graph, lowered, analysis}; }
};

Network network(const ModelBuilder& b, const AnalyseOptions& options = {}) {
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  auto lowered = lower_each(*graph);
  EXPECT_TRUE(lowered.ok());
  auto analysis = analyse(*graph, *lowered, options);
  EXPECT_TRUE(analysis.ok());
  return {std::move(*graph), std::move(*lowered), std::move(*analysis)};
}

ModelBuilder convolution() {
  ModelBuilder b;
  b.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).weight("shift", {4});
  b.node("Conv", {"x", "w", "shift"}, {"c,\"1\""}, {ModelBuilder::ints("strides", {1, 1})})
      .node("Relu", {"c,\"1\""}, {"y"})
      .output("y");
  return b;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(InspectJson, HasTheSchemasKeysAndFigures) {
  const Network n = network(convolution(), {.reorder = true});
  const json j = json::parse(inspect_json(n.view()));
  EXPECT_EQ(j["schema"], "accsim.inspect/1");
  const int64_t out = 4 * 4 * 6 * 6;  // bytes of 1x4x6x6 floats
  EXPECT_EQ(j["params"], 4 * 27 + 4);
  EXPECT_EQ(j["buffers"], 0);
  EXPECT_EQ(j["weight_bytes"], 4 * (4 * 27 + 4));
  EXPECT_EQ(j["weight_bytes_without_bias"], 4 * 4 * 27);
  EXPECT_EQ(j["macs"], 4 * 27 * 36);
  EXPECT_EQ(j["macs_by_op"], (json{{"Conv", 4 * 27 * 36}}));
  EXPECT_EQ(j["ops"]["Conv"]["count"], 1);
  EXPECT_EQ(j["ops"]["Conv"]["attributes"]["strides"]["values"], json::parse("[[1, 1]]"));
  EXPECT_EQ(j["ops"]["Conv"]["attributes"]["strides"]["max"], 1);
  EXPECT_EQ(j["ops"]["Relu"]["attributes"], json::object());
  const json& a = j["activation"];
  EXPECT_EQ(a["sum_bytes"], 2 * out);
  EXPECT_EQ(a["largest_bytes"], out);
  EXPECT_EQ(a["largest_tensor"], "c,\"1\"");
  EXPECT_EQ(a["peak_live_bytes"], 768 + out) << "the image and the convolution's result";
  EXPECT_EQ(a["peak_node"], "c,\"1\"");
  EXPECT_EQ(a["arena_bytes"], a["arena_lower_bound_bytes"]);
  EXPECT_EQ(a["arena"].size(), 3U);
  EXPECT_EQ(a["reordered"]["order"].size(), 2U);
  EXPECT_EQ(j["bandwidth"]["read_bytes"], 768 + out);
  EXPECT_EQ(j["bandwidth"]["write_bytes"], 2 * out);
  EXPECT_EQ(j["bandwidth"]["total_bytes"], 768 + 3 * out);
  EXPECT_EQ(j["bandwidth"]["peak_node"], "c,\"1\"");
  const json& layer = j["layers"][0];
  EXPECT_EQ(layer["op_type"], "Conv");
  EXPECT_EQ(layer["input_shapes"], json::parse("[[1,3,8,8],[4,3,3,3],[4]]"));
  EXPECT_EQ(layer["output_shapes"], json::parse("[[1,4,6,6]]"));
  EXPECT_EQ(layer["kernel"], json::parse("[3,3]"));
  EXPECT_EQ(layer["params"], 4 * 27 + 4);
  EXPECT_EQ(layer["macs"], 4 * 27 * 36);
  EXPECT_EQ(layer["read_bytes"], 768);
  EXPECT_EQ(layer["write_bytes"], out);
}

TEST(InspectJson, TakesNamesAndNumbersThatJsonHasNoPlaceFor) {
  ModelBuilder b;
  b.input("x\xff", {4});
  b.node("LeakyRelu", {"x\xff"}, {"y\n\xff"}, {Attribute{"alpha", "", std::nan("")}})
      .output("y\n\xff");
  const Network n = network(b);
  const json j = json::parse(inspect_json(n.view()));
  EXPECT_TRUE(j["ops"]["LeakyRelu"]["attributes"]["alpha"]["values"][0].is_null());
}

TEST(InspectCsv, HasALineANodeSortedOnRequest) {
  const Network n = network(convolution());
  const auto lines = split(inspect_csv(n.view(), LayerSort::order));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].substr(0, 13), "name,op_type,");
  EXPECT_EQ(lines[1].substr(0, 17), "\"c,\"\"1\"\"\",Conv,0,") << "quoted";
  const auto by_bandwidth = split(inspect_csv(n.view(), LayerSort::bandwidth));
  // Relu moves 2 x 576 bytes, the convolution 768 + 576.
  EXPECT_EQ(by_bandwidth[1], lines[1]);
  ModelBuilder b;
  b.input("x", {10}).node("Neg", {"x"}, {"small"}).input("z", {20}).node("Neg", {"z"}, {"large"});
  b.output("small").output("large");
  const Network two = network(b);
  EXPECT_EQ(sorted_layers(two.view(), LayerSort::bandwidth), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(sorted_layers(two.view(), LayerSort::macs), (std::vector<size_t>{0, 1}));
}

TEST(InspectText, StaysWithinItsWidth) {
  ModelBuilder b;
  const std::string name = std::string(300, 'n') + "\x1b[2J";
  b.input("x", Dims(12, 3));
  b.node("Gelu", {"x"}, {name}, {Attribute{"approximate", "", std::string(500, 'v')}});
  b.node("Neg", {name}, {"y"}).output("y");
  const Network n = network(b, {.reorder = true});
  for (int width : {0, 60, 80, 100, 160, 400}) {
    const std::string text =
        inspect_text(n.view(), {.width = width, .all_nodes = true, .arena = true});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    for (const std::string& line : split(text))
      EXPECT_LE(visible_width(line), static_cast<size_t>(std::max(width, 60))) << line;
  }
}

TEST(InspectText, SaysWhatIsAsked) {
  const std::string text = inspect_text(network(convolution()).view(), {});
  for (const char* part : {"112", "3,888", "peak of the live set 1,344 B", "pure", "kernel", "3x3",
                           "1 x Relu", "strides = [1, 1]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(InspectText, OfAnEmptyGraphIsFine) {
  Graph graph;
  graph.tensors.push_back({.name = "x",
                           .origin = Tensor::Origin::input,
                           .dtype = DType::float32,
                           .dims = {4},
                           .value = {},
                           .payload = {}});
  graph.inputs = graph.outputs = {0};
  const auto analysis = analyse(graph, {}, {.reorder = true});
  ASSERT_TRUE(analysis.ok());
  const Network n{graph, {}, *analysis};
  EXPECT_NE(inspect_text(n.view(), {.arena = true}).find("total of 0"), std::string::npos);
  EXPECT_EQ(json::parse(inspect_json(n.view()))["activation"]["peak_live_bytes"], 16);
}

}  // namespace
}  // namespace accsim::sim
