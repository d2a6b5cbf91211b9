#include "sim/flow/timeline.h"

#include <algorithm>

namespace accsim::sim {
namespace {

/// Puts an item's slices at their place in the layer.
void append_item(LayerTimeline& layer, const hw::Timeline& item, bool as_group) {
  for (size_t q = 0; q < hw::kQueues; ++q) {
    std::vector<hw::Slice>& to = layer.queues[q];
    layer.hidden[q] += item.hidden[q];
    for (hw::Slice s : item.queues[q]) {
      s.start -= layer.start;
      s.end -= layer.start;
      s.visible -= layer.start;
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

LayerTimeline LayerTimelines::next(size_t layer, int64_t limit) {
  const auto& mappings = network_.mappings[layer];
  LayerTimeline out;
  out.layer = static_cast<int>(layer);
  out.start = start_;
  // Where not even a slice a queue and item is left, as many items as necessary become one group.
  constexpr auto kLeast = static_cast<int64_t>(hw::kQueues);
  const int64_t items = std::ssize(mappings);
  const int64_t groups = std::clamp<int64_t>(limit / kLeast, 1, std::max<int64_t>(1, items));
  const bool all = count_commands(mappings) <= limit;
  int64_t last_group = -1;
  for (int64_t i = 0; i < items; ++i) {
    const Mapping& m = *mappings[static_cast<size_t>(i)];
    const int64_t group = i * groups / items;
    const hw::Timeline item =
        chain_.next(m.program, m.link.steps, numbers(m.link, network_.tensors[layer]),
                    all ? m.counts.commands : limit / items);
    append_item(out, item, groups < items && group == last_group);
    out.cycles += item.total.count();
    last_group = group;
  }
  check(out.cycles == network_.report.layers[layer].costs.cycles,
        "a layer's timeline ends at other cycles than those reported");
  for (const auto& queue : out.queues)
    for (const hw::Slice& s : queue) out.summarised = out.summarised || s.count > 1;
  start_ += out.cycles;
  return out;
}

void LayerTimelines::skip(size_t layer) {
  for (const auto& m : network_.mappings[layer])
    chain_.skip(m->link.steps, numbers(m->link, network_.tensors[layer]));
  start_ += network_.report.layers[layer].costs.cycles;
}

NetworkTimeline network_timeline(const CostedNetwork& network, int64_t limit) {
  return timeline_part(network, limit, 0, [] { return false; }).layers;
}

TimelinePart timeline_part(const CostedNetwork& network, int64_t limit, size_t first,
                           const std::function<bool()>& enough) {
  const std::vector<int64_t> share = shares_of_slices(network, limit);
  TimelinePart out;
  LayerTimelines timelines(network);
  for (size_t i = 0; i < network.mappings.size(); ++i) {
    if (network.mappings[i].empty()) continue;
    if (i < first) {
      timelines.skip(i);
      continue;
    }
    if (!out.layers.empty() && enough()) return out;
    out.layers.push_back(timelines.next(i, share[i]));
    out.next = i + 1;
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
  LayerTimelines timelines(network);
  for (size_t i = 0; i < network.mappings.size(); ++i)
    if (!network.mappings[i].empty())
      if (const Status s = writer.layer(timelines.next(i, limit)); !s) return s;
  return writer.end(limit);
}

}  // namespace accsim::sim
