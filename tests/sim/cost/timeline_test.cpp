#include "sim/cost/timeline.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hw/config/load.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using nlohmann::json;
const std::filesystem::path kTree = kSource;

CostedNetwork costed(const std::string& model, const std::string& machine) {
  const auto hw = hw::load_hw((kTree / "configs" / machine).string());
  EXPECT_TRUE(hw.ok());
  const auto graph = load_graph((kTree / "models" / model).string(), {});
  EXPECT_TRUE(graph.ok());
  MapOptions options;
  options.effort = MapEffort::rule;
  auto network = cost_network(*graph, *hw, options);
  EXPECT_TRUE(network.ok());
  return std::move(*network);
}

/// One network a kind of work: products, vector and memory operations; several items a layer.
struct NetworkCase {
  const char *model, *machine;
};
class OfNetwork : public testing::TestWithParam<NetworkCase> {};

TEST_P(OfNetwork, SlicesAddUpToTheProgramsWhateverTheLimit) {
  const CostedNetwork network = costed(GetParam().model, GetParam().machine);
  std::vector<bool> turns(network.mappings.size(), false);  // of layers that come in pieces
  for (const ScheduledOp& s : network.order) turns[s.layer] = turns[s.layer] || s.piece >= 0;
  for (const int64_t limit : {int64_t{0}, int64_t{3000}, kPageSlices}) {
    const NetworkTimeline timeline = network_timeline(network, limit);
    int64_t start = 0, slices = 0, end_of_all = 0;
    for (const LayerTimeline& l : timeline) {
      const LayerReport& layer = network.report.layers[static_cast<size_t>(l.layer)];
      EXPECT_EQ(l.start, start);
      EXPECT_EQ(l.cycles, layer.costs.cycles) << layer.name;
      int64_t last = -start;
      for (const hw::Queue q : hw::Queue::all()) {
        int64_t busy = 0, reported = 0, count = 0, end = -start;
        for (const hw::Slice& s : l.queues[q]) {
          if (s.count == 1) {
            EXPECT_GE(s.start, end) << layer.name;
          }
          end = s.end;
          busy += s.busy;
          count += s.count;
          last = std::max(last, s.visible);
          ++slices;
        }
        for (const ScheduledOp& s : network.order)
          if (s.layer == static_cast<size_t>(l.layer))
            reported += s.mapping->timing.queues[q].busy.count();
        EXPECT_EQ(busy, reported) << layer.name;
      }
      end_of_all = std::max(end_of_all, start + last);
      start += l.cycles;
      if (turns[static_cast<size_t>(l.layer)]) continue;
      // Behind layers that take turns it still ends last: when all before it have.
      if (l.cycles > 0) {
        EXPECT_EQ(start, end_of_all) << layer.name;
      }
      EXPECT_LE(last, l.cycles) << layer.name;
    }
    EXPECT_EQ(start, network.report.totals.cycles);
    const int64_t least = std::ssize(timeline) * static_cast<int64_t>(hw::Queue::kCount);
    EXPECT_LE(slices, std::max(limit, least));
  }
}

TEST_P(OfNetwork, PartsAreTheWhole) {
  const CostedNetwork network = costed(GetParam().model, GetParam().machine);
  const NetworkTimeline whole = network_timeline(network, kPageSlices);
  size_t blocks = 0;
  for (LayerTimelines timelines(network); !timelines.is_done(); timelines.skip_block()) ++blocks;
  EXPECT_LE(blocks, whole.size());
  EXPECT_GE(blocks, whole.size() / 3);  // attention is three layers
  for (const int most : {0, 1, 7}) {    // layers beside the first of a part
    NetworkTimeline joined;
    std::optional<size_t> first = 0;
    size_t parts = 0;
    while (first) {
      int asked = 0;
      const TimelinePart part =
          timeline_part(network, kPageSlices, *first, [&] { return asked++ == most; });
      ASSERT_LE(asked, most + 1);
      ASSERT_FALSE(part.layers.empty());
      joined.insert(joined.end(), part.layers.begin(), part.layers.end());
      first = part.next;
      ++parts;
    }
    const auto each = static_cast<size_t>(most) + 1;
    EXPECT_EQ(parts, (blocks + each - 1) / each);
    EXPECT_EQ(to_timeline_json(joined), to_timeline_json(whole));
  }
}

TEST_P(OfNetwork, PageGetsAllInFourHundredKilobytes) {
  const CostedNetwork network = costed(GetParam().model, GetParam().machine);
  const std::string text = to_timeline_json(network);
  EXPECT_LE(text.size(), 450'000U);
  const json j = json::parse(text);
  EXPECT_EQ(j["unit"], "cycles");
  EXPECT_EQ(j["queues"], json({"load", "execute", "post", "vector", "store"}));
  int64_t cycles = 0;
  for (const json& layer : j["layers"]) {
    EXPECT_EQ(layer["start"], cycles);
    cycles += layer["cycles"].get<int64_t>();
    for (const auto& [queue, slices] : layer["slices"].items())
      for (const json& s : slices) {
        ASSERT_EQ(s.size(), s[3] == 1 ? 4U : 5U);
        ASSERT_LT(s[2], j["commands"].size());
        ASSERT_LE(layer["start"].get<int64_t>() + s[0].get<int64_t>() + s[1].get<int64_t>(),
                  network.report.totals.cycles);
      }
  }
  EXPECT_EQ(cycles, network.report.totals.cycles);
}

INSTANTIATE_TEST_SUITE_P(Timeline, OfNetwork,
                         testing::Values(NetworkCase{"resnet50_op17.onnx", "64x64.yaml"},
                                         NetworkCase{"gpt2_small_op17.onnx", "64x64.yaml"}));

}  // namespace
}  // namespace accsim::sim
