#include "sim/serve/session.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hw/config/load.h"
#include "sim/cost/timeline.h"
#include "tests/support/costing_samples.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using nlohmann::json;
constexpr const char* kToken = "0123456789abcdef0123456789abcdef";
constexpr uint16_t kPort = 8100;

Graph resnet() {
  auto graph = load_graph(kSource + "/models/resnet18_op13.onnx", {});
  EXPECT_TRUE(graph.ok());
  return std::move(*graph);
}

class Timelines : public testing::Test {
 protected:
  static ServeSetup setup() {
    ServeSetup out;
    out.hw = *hw::load_hw(kSource + "/configs/64x64.yaml");
    out.models.push_back({resnet(), "resnet18"});
    out.options.effort = MapEffort::rule;
    return out;
  }
  static HttpRequest request(const std::string& body) {
    return {
        .method = "POST",
        .path = std::string("/") + kToken + "/api/timeline",
        .query = "",
        .headers = {{"host", "127.0.0.1:8100"}, {"content-length", std::to_string(body.size())}},
        .body = body};
  }
  int refused(const HttpRequest& r) const {
    const auto reply = session_.admit(r);
    return reply ? reply->status : 0;
  }
  HttpReply ask(const json& body) { return session_.answer(request(body.dump())); }

  ServeSession session_{setup(), kToken, kPort};
};

TEST_F(Timelines, ComeInPartsThatAreTheNetworks) {
  ServeSetup own = setup();
  own.hw.array.rows = 32;
  const auto network = cost_network(own.models[0].graph, own.hw, own.options);
  ASSERT_TRUE(network.ok());
  const json whole = json::parse(to_timeline_json(network_timeline(*network, kPageSlices)));
  const json of = {{"model", 0}, {"machine", {{"array.rows", 32}}}};
  json next = 0U, layers = json::array();
  while (!next.is_null()) {
    const HttpReply reply = ask({{"of", of}, {"from", next}});
    ASSERT_EQ(reply.status, 200) << reply.body;
    const json part = json::parse(reply.body);
    const json& t = part["timeline"];
    ASSERT_FALSE(t["layers"].empty());
    for (json layer : t["layers"]) {
      for (json& queue : layer["slices"])
        for (json& slice : queue) slice[2] = t["commands"][slice[2].get<size_t>()];
      layers.push_back(layer);
    }
    next = part["next"];
  }
  json expected = whole["layers"];
  for (json& layer : expected)
    for (json& queue : layer["slices"])
      for (json& slice : queue) slice[2] = whole["commands"][slice[2].get<size_t>()];
  EXPECT_EQ(layers, expected);
  int64_t cycles = 0;
  for (const json& layer : layers) cycles += layer["cycles"].get<int64_t>();
  EXPECT_EQ(cycles, network->report.totals.cycles);
}

TEST_F(Timelines, RefuseOptionsAsACommandLineDoes) {
  for (const CostingOption* row : options_for(kPageKeys)) {
    const test::Samples samples = test::samples_of(*row);
    EXPECT_EQ(ask({{"of", {{"model", 0}, {row->key(), samples.good.front()}}}}).status, 200);
    for (const std::string& word : samples.bad) {
      CostingOptions options;
      const Errors refused = take_option(*row, {word}, options);
      const HttpReply reply = ask({{"of", {{"model", 0}, {row->key(), word}}}});
      EXPECT_EQ(reply.status, 422) << row->key() << ": " << word;
      EXPECT_EQ(json::parse(reply.body)["errors"][0]["message"],
                row->key() + ": " + refused.front().message);
    }
  }
}

TEST_F(Timelines, AreRefusedAsEveryRequestIs) {
  const HttpRequest good = request("{}");
  EXPECT_EQ(refused(good), 0);
  HttpRequest r = good;
  r.path[5] ^= 1;
  EXPECT_EQ(refused(r), 403);  // another token
  r = good;
  r.headers["host"] = "evil.example:8100";
  EXPECT_EQ(refused(r), 403);
  r = good;
  r.headers["origin"] = "http://evil.example";
  EXPECT_EQ(refused(r), 403);
  r = good;
  r.method = "GET";
  EXPECT_EQ(refused(r), 405);
  r = good;
  r.headers["content-length"] = std::to_string((1 << 20) + 1);
  EXPECT_EQ(refused(r), 413);
}

TEST_F(Timelines, SayWhatIsWrongWithTheirBody) {
  const json of = {{"model", 0}};
  for (const auto& [body, status] :
       std::vector<std::pair<json, int>>{{json::array(), 400},
                                         {json::object(), 400},
                                         {{{"of", of}, {"until", 3}}, 400},
                                         {{{"of", of}, {"from", -1}}, 400},
                                         {{{"of", of}, {"from", "a"}}, 400},
                                         {{{"of", of}, {"from", 100000}}, 422},
                                         {{{"of", {{"model", 1}}}}, 422},
                                         {{{"of", 3}}, 400},
                                         {{{"of", {{"machine", {{"array.rows", 5000}}}}}}, 422}}) {
    const HttpReply reply = ask(body);
    EXPECT_EQ(reply.status, status) << body;
    EXPECT_FALSE(json::parse(reply.body)["errors"][0]["message"].get<std::string>().empty());
  }
  EXPECT_EQ(session_.answer(request("{")).status, 400);
  const HttpReply wrong = ask({{"of", {{"machine", {{"array.rows", 5000}}}}}});
  EXPECT_EQ(json::parse(wrong.body)["errors"][0]["field"], "array.rows");
}

}  // namespace
}  // namespace accsim::sim
