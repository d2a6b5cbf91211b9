#include "sim/flow/timeline.h"

#include <algorithm>
#include <map>

namespace accsim::sim {
namespace {

/// Puts an item's slices at their place in the layer.
void append_item(LayerTimeline& layer, const hw::Timeline& item, int64_t start, bool as_group) {
  for (size_t q = 0; q < hw::kQueues; ++q) {
    std::vector<hw::Slice>& to = layer.queues[q];
    for (hw::Slice s : item.queues[q]) {
      s.start += start;
      s.end += start;
      s.visible += start;
      if (as_group && !to.empty())
        to.back().append(s);
      else
        to.push_back(s);
    }
  }
}

int64_t count_commands(const std::vector<std::shared_ptr<const Mapping>>& mappings) {
  int64_t out = 0;
  for (const auto& m : mappings) out += m->counts.commands;
  return out;
}

/// By layer, how many of `limit` slices it gets.
std::vector<int64_t> shares_of_slices(const CostedNetwork& network, int64_t limit) {
  std::vector<std::pair<int64_t, size_t>> by_commands;
  for (size_t i = 0; i < network.mappings.size(); ++i)
    if (!network.mappings[i].empty())
      by_commands.emplace_back(count_commands(network.mappings[i]), i);
  std::sort(by_commands.begin(), by_commands.end());
  std::vector<int64_t> out(network.mappings.size(), 0);
  for (size_t i = 0; i < by_commands.size(); ++i) {
    const auto [wanted, layer] = by_commands[i];
    const int64_t share = limit / static_cast<int64_t>(by_commands.size() - i);
    out[layer] = std::min(wanted, share);
    limit = std::max<int64_t>(0, limit - std::max<int64_t>(out[layer], hw::kQueues));
  }
  return out;
}

}  // namespace

LayerTimeline layer_timeline(const CostedNetwork& network, size_t layer, int64_t start,
                             int64_t limit) {
  const auto& mappings = network.mappings[layer];
  LayerTimeline out;
  out.layer = static_cast<int>(layer);
  out.start = start;
  // Where not even a slice a queue and item is left, as many items as necessary become one group.
  constexpr auto kLeast = static_cast<int64_t>(hw::kQueues);
  const int64_t items = std::ssize(mappings);
  const int64_t groups = std::clamp<int64_t>(limit / kLeast, 1, std::max<int64_t>(1, items));
  const bool all = count_commands(mappings) <= limit;
  int64_t last_group = -1;
  std::map<const Mapping*, hw::Timeline> known;  // heads and batches are items of one mapping
  for (int64_t i = 0; i < items; ++i) {
    const Mapping& m = *mappings[static_cast<size_t>(i)];
    const int64_t group = i * groups / items;
    const auto [item, added] = known.try_emplace(&m);
    if (added)
      item->second =
          hw::timeline(m.program, network.report.hw, all ? m.counts.commands : limit / items);
    check(item->second.total == m.timing.total, "a timeline takes other cycles than its program");
    append_item(out, item->second, out.cycles, groups < items && group == last_group);
    out.cycles += m.timing.total.count();
    last_group = group;
  }
  check(out.cycles == network.report.layers[layer].costs.cycles,
        "a layer's timeline ends at other cycles than those reported");
  for (const auto& queue : out.queues)
    for (const hw::Slice& s : queue) out.summarised = out.summarised || s.count > 1;
  return out;
}

NetworkTimeline network_timeline(const CostedNetwork& network, int64_t limit) {
  return timeline_part(network, limit, 0, [] { return false; }).layers;
}

TimelinePart timeline_part(const CostedNetwork& network, int64_t limit, size_t first,
                           const std::function<bool()>& enough) {
  const std::vector<int64_t> share = shares_of_slices(network, limit);
  TimelinePart out;
  int64_t start = 0;
  for (size_t i = 0; i < network.mappings.size(); ++i) {
    if (network.mappings[i].empty()) continue;
    if (i >= first) {
      if (!out.layers.empty() && enough()) return out;
      out.layers.push_back(layer_timeline(network, i, start, share[i]));
      out.next = i + 1;
    }
    start += network.report.layers[i].costs.cycles;
  }
  out.next.reset();
  return out;
}

std::string to_timeline_json(const CostedNetwork& network, int64_t limit) {
  return to_timeline_json(network_timeline(network, limit));
}

Status write_trace(const CostedNetwork& network, int64_t limit, const TextSink& sink) {
  TraceWriter writer(network.report, sink);
  if (const Status s = writer.begin(); !s) return s;
  int64_t start = 0;
  for (size_t i = 0; i < network.mappings.size(); ++i) {
    if (network.mappings[i].empty()) continue;
    const LayerTimeline layer = layer_timeline(network, i, start, limit);
    if (const Status s = writer.layer(layer); !s) return s;
    start += layer.cycles;
  }
  return writer.end(limit);
}

}  // namespace accsim::sim
