#include "sim/report/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/sim/report/fake_report.h"

namespace accsim::sim {
namespace {

using nlohmann::json;

/// A slice of one command on DRAM.
hw::Slice moving(int64_t start, int64_t end, int64_t read, int64_t written) {
  hw::Slice s{.start = start, .end = end, .visible = end, .busy = end - start, .count = 1};
  s.read[hw::MemoryId::dram] = read;
  s.written[hw::MemoryId::dram] = written;
  s.read[hw::MemoryId::shared] = written;
  s.written[hw::MemoryId::shared] = read;
  return s;
}

/// The trace of blocks of layers; those of a block take turns.
json trace_of(const Report& report, const std::vector<NetworkTimeline>& blocks) {
  std::string text;
  TraceWriter writer(report, [&](std::string_view part) {
    text += part;
    return ok();
  });
  EXPECT_TRUE(writer.begin_trace());
  for (const NetworkTimeline& block : blocks) EXPECT_TRUE(writer.add_layers(block));
  EXPECT_TRUE(writer.end_trace(100));
  return json::parse(text);
}

json trace(const Report& report, const NetworkTimeline& timeline) {
  std::vector<NetworkTimeline> blocks;
  for (const LayerTimeline& l : timeline) blocks.push_back({l});
  return trace_of(report, blocks);
}

json trace_of_turns(const Report& report, const NetworkTimeline& block) {
  return trace_of(report, {block});
}

/// Start and length of the slices of such a category, in the order of the file.
std::vector<std::pair<int64_t, int64_t>> spans(const json& trace, const char* category) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "X" && e["cat"] == category) out.emplace_back(e["ts"], e["dur"]);
  return out;
}

/// A counter's value from each cycle on at which it changes.
std::map<int64_t, double> counter(const json& trace, const char* name) {
  std::map<int64_t, double> out;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "C" && e["name"] == name) out[e["ts"]] = e["args"]["bytes/cycle"];
  return out;
}

std::vector<std::string> threads(const json& trace) {
  std::vector<std::string> out;
  for (const json& e : trace["traceEvents"])
    if (e["name"] == "thread_name") out.push_back(e["args"]["name"]);
  return out;
}

/// 64 cycles: a load of the first half at 4 bytes a cycle, a stage into the shared buffer from
/// cycle 16 to 48 at 2 and one back behind it at 3, a store of the last 8 cycles at 5.
LayerTimeline staged() {
  LayerTimeline l;
  l.cycles = 64;
  l.queues[hw::Queue::load] = {moving(0, 32, 128, 0)};
  l.queues[hw::Queue::stage] = {moving(16, 48, 64, 0), moving(48, 60, 0, 36)};
  l.queues[hw::Queue::store] = {moving(56, 64, 0, 40)};
  return l;
}

TEST(Trace, CountsWhatLoadsStoresAndStagesMoveOnDram) {
  const Report report = fake_report(1);
  const json t = trace(report, {staged()});
  EXPECT_EQ(counter(t, "DRAM read"),
            (std::map<int64_t, double>{{0, 4}, {16, 6}, {32, 2}, {48, 0}}));
  EXPECT_EQ(counter(t, "DRAM write"),
            (std::map<int64_t, double>{{16, 0}, {48, 3}, {56, 8}, {60, 5}, {64, 0}}));
}

TEST(Trace, IsAGroupOfStagesInBothDirectionsBothCounters) {
  LayerTimeline l;
  l.cycles = 64;
  l.summarised = true;
  hw::Slice both = moving(0, 32, 64, 0);
  both.append(moving(32, 64, 0, 128));
  l.queues[hw::Queue::stage] = {both};
  const Report report = fake_report(1);
  const json t = trace(report, {l});
  EXPECT_EQ(counter(t, "DRAM read"), (std::map<int64_t, double>{{0, 1}, {64, 0}}));
  EXPECT_EQ(counter(t, "DRAM write"), (std::map<int64_t, double>{{0, 2}, {64, 0}}));
}

TEST(Trace, HasLayersThatTakeTurnsASliceATurn) {
  const Report report = fake_report(2);
  NetworkTimeline block(2);
  block[0].cycles = 30;
  block[0].queues[hw::Queue::load] = {moving(0, 10, 1, 0), moving(20, 30, 1, 0)};
  block[1].layer = 1;
  block[1].start = 30;
  block[1].cycles = 20;
  block[1].queues[hw::Queue::load] = {moving(-20, -10, 1, 0), moving(0, 10, 1, 0)};
  const json t = trace_of_turns(report, block);
  const std::vector<std::pair<int64_t, int64_t>> turns = {{0, 10}, {10, 10}, {20, 10}, {30, 10}};
  EXPECT_EQ(spans(t, "queue"), turns);
  EXPECT_EQ(spans(t, "command"), turns);
}

TEST(Trace, SharesTheTimeOfGroupsThatOverlapByTheirBusyCycles) {
  const Report report = fake_report(2);
  NetworkTimeline block(2);
  const auto group = [](int64_t start, int64_t end, int64_t busy) {
    return hw::Slice{.start = start, .end = end, .visible = end, .busy = busy, .count = 2};
  };
  for (LayerTimeline& l : block) l.cycles = 40;
  block[1].layer = 1;
  block[0].queues[hw::Queue::load] = {group(0, 60, 30)};
  block[1].queues[hw::Queue::load] = {group(20, 80, 10)};
  const json t = trace_of_turns(report, block);
  // 80 cycles by 30 : 10.
  const std::vector<std::pair<int64_t, int64_t>> shared = {{0, 60}, {60, 20}};
  EXPECT_EQ(spans(t, "queue"), shared);
  EXPECT_EQ(spans(t, "summary"), shared);
  for (const json& e : t["traceEvents"])
    if (e["ph"] == "X" && e["cat"] == "summary" && e["ts"] == 60) {
      EXPECT_EQ(e["args"]["from"], 20);
      EXPECT_EQ(e["args"]["to"], 80);
      EXPECT_EQ(e["args"]["busy"], 10);
    }
}

TEST(Trace, HasAStageQueueWhereOneDoesSomething) {
  const Report report = fake_report(1);
  LayerTimeline plain = staged();
  plain.queues[hw::Queue::stage].clear();
  const std::vector<std::string> five = {"layers",     "load queue",   "execute queue",
                                         "post queue", "vector queue", "store queue"};
  EXPECT_EQ(threads(trace(report, {plain})), five);
  LayerTimeline later = staged();
  later.start = 64;
  std::vector<std::string> six = five;
  six.emplace_back("stage queue");
  EXPECT_EQ(threads(trace(report, {plain, later})), six);

  const auto queues = [](const NetworkTimeline& l) {
    return json::parse(to_timeline_json(l))["queues"].get<std::vector<std::string>>();
  };
  EXPECT_EQ(queues({plain}),
            (std::vector<std::string>{"load", "execute", "post", "vector", "store"}));
  EXPECT_EQ(queues({plain, later}),
            (std::vector<std::string>{"load", "execute", "post", "vector", "store", "stage"}));
}

}  // namespace
}  // namespace accsim::sim
