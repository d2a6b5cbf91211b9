#include "sim/cost/timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace accsim::sim {
namespace {

/// Puts an item's slices at their place in the layer.
void append_item(LayerTimeline& layer, const hw::Timeline& item, bool as_group) {
  for (const hw::Queue q : hw::Queue::all()) {
    std::vector<hw::Slice>& to = layer.queues[q];
    int64_t hidden = item.hidden[q];
    for (hw::Slice s : item.queues[q]) {
      s.start -= layer.start;
      s.end -= layer.start;
      s.visible -= layer.start;
      if (as_group && !to.empty()) {
        to.back().append(s);
        layer.hidden[q].back() += std::exchange(hidden, 0);
      } else {
        to.push_back(s);
        layer.hidden[q].push_back(std::exchange(hidden, 0));
      }
    }
  }
}

/// By layer.
std::vector<int64_t> count_commands(const CostedNetwork& network) {
  std::vector<int64_t> out(network.mappings.size(), 0);
  for (const ScheduledOp& s : network.order) out[s.layer] += s.mapping->counts.commands;
  return out;
}

/// By layer, how many of `limit` slices it gets.
std::vector<int64_t> shares_of_slices(const CostedNetwork& network, int64_t limit) {
  const std::vector<int64_t> commands = count_commands(network);
  std::vector<std::pair<int64_t, size_t>> by_commands;
  for (size_t i = 0; i < network.mappings.size(); ++i)
    if (!network.mappings[i].empty()) by_commands.emplace_back(commands[i], i);
  std::sort(by_commands.begin(), by_commands.end());
  std::vector<int64_t> out(network.mappings.size(), 0);
  for (size_t i = 0; i < by_commands.size(); ++i) {
    const auto [wanted, layer] = by_commands[i];
    const int64_t share = limit / static_cast<int64_t>(by_commands.size() - i);
    out[layer] = std::min(wanted, share);
    limit = std::max<int64_t>(0, limit - std::max<int64_t>(out[layer], hw::Queue::kCount));
  }
  return out;
}

/// How a layer's slices are shared out among the programs of its items or pieces.
class LayerParts {
 public:
  LayerParts(int64_t limit, int64_t commands, int64_t parts)
      : limit_(limit), parts_(parts), all_(commands <= limit) {
    // Where not even a slice a queue and part is left, as many parts as necessary become one group.
    constexpr auto kLeast = static_cast<int64_t>(hw::Queue::kCount);
    groups_ = std::clamp<int64_t>(limit / kLeast, 1, std::max<int64_t>(1, parts));
  }

  int64_t limit_of(int64_t commands) const { return all_ ? commands : limit_ / parts_; }
  /// Is the next part of the same group as the one before it?
  bool goes_on() {
    const int64_t group = next_++ * groups_ / parts_;
    return !all_ && groups_ < parts_ && std::exchange(last_, group) == group;
  }

 private:
  const int64_t limit_, parts_;
  const bool all_;
  int64_t groups_ = 1, next_ = 0, last_ = -1;
};

}  // namespace

LayerTimelines::LayerTimelines(const CostedNetwork& network)
    : network_(network),
      chain_(network.report.hw, hw::kStageRegions),
      scheduled_(network.mappings.size(), 0),
      commands_(count_commands(network)) {
  for (const ScheduledOp& s : network.order) ++scheduled_[s.layer];
}

LayerTimelines::Block LayerTimelines::next_block() const {
  Block out{at_, layer_};
  int64_t to_come = 0;  // of layers that have begun, or stand before such
  do {
    for (const size_t layer = network_.order[out.text].layer; out.layers <= layer; ++out.layers)
      to_come += scheduled_[out.layers];
    ++out.text;
  } while (--to_come > 0);
  return out;
}

NetworkTimeline LayerTimelines::next_timelines(const std::function<int64_t(size_t)>& limit) {
  const Block block = this->next_block();
  NetworkTimeline out;
  std::vector<LayerParts> parts;
  for (; layer_ < block.layers; ++layer_) {
    if (scheduled_[layer_] == 0) continue;
    LayerTimeline& l = out.emplace_back();
    l.layer = static_cast<int>(layer_);
    l.start = start_;
    start_ += network_.report.layers[layer_].costs.cycles;
    parts.emplace_back(limit(layer_), commands_[layer_], scheduled_[layer_]);
  }
  for (; at_ < block.text; ++at_) {
    const ScheduledOp& s = network_.order[at_];
    const auto of = std::ranges::find(out, static_cast<int>(s.layer), &LayerTimeline::layer);
    LayerParts& part = parts[static_cast<size_t>(of - out.begin())];
    const hw::Timeline item =
        chain_.next_timeline(s.mapping->program, s.mapping->trace.steps, s.tensors,
                             part.limit_of(s.mapping->counts.commands));
    append_item(*of, item, part.goes_on());
    of->cycles += item.total.count();
  }
  for (LayerTimeline& l : out) {
    check(l.cycles == network_.report.layers[static_cast<size_t>(l.layer)].costs.cycles,
          "a layer's timeline ends at other cycles than those reported");
    for (const auto& queue : l.queues)
      for (const hw::Slice& s : queue) l.summarised = l.summarised || s.count > 1;
  }
  return out;
}

void LayerTimelines::skip_block() {
  const Block block = this->next_block();
  for (; at_ < block.text; ++at_)
    chain_.skip_program(network_.order[at_].mapping->trace.steps, network_.order[at_].tensors);
  for (; layer_ < block.layers; ++layer_)
    if (scheduled_[layer_] > 0) start_ += network_.report.layers[layer_].costs.cycles;
}

NetworkTimeline network_timeline(const CostedNetwork& network, int64_t limit) {
  return timeline_part(network, limit, 0, [] { return false; }).layers;
}

TimelinePart timeline_part(const CostedNetwork& network, int64_t limit, size_t first,
                           const std::function<bool()>& enough) {
  const std::vector<int64_t> share = shares_of_slices(network, limit);
  TimelinePart out;
  LayerTimelines timelines(network);
  while (!timelines.is_done()) {
    const size_t last = timelines.last_layer();
    if (last < first) {
      timelines.skip_block();
      continue;
    }
    if (!out.layers.empty() && enough()) return out;
    NetworkTimeline block = timelines.next_timelines([&](size_t layer) { return share[layer]; });
    std::ranges::move(block, std::back_inserter(out.layers));
    out.next = last + 1;
  }
  out.next.reset();
  return out;
}

std::string to_timeline_json(const CostedNetwork& network, int64_t limit) {
  return to_timeline_json(network_timeline(network, limit));
}

Status write_trace(const CostedNetwork& network, int64_t limit, const TextSink& sink) {
  TraceWriter writer(network.report, sink);
  if (const Status s = writer.begin_trace(); !s) return s;
  LayerTimelines timelines(network);
  while (!timelines.is_done())
    if (const Status s = writer.add_layers(timelines.next_timelines([&](size_t) { return limit; }));
        !s)
      return s;
  return writer.end_trace(limit);
}

}  // namespace accsim::sim
