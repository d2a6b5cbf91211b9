#pragma once
#include <functional>
#include <optional>
#include <string>

#include "sim/flow/cost.h"
#include "sim/report/timeline.h"
#include "sim/report/trace.h"

namespace accsim::sim {

/// Slices of a page that shows a network: about 400 KB of JSON.
inline constexpr int64_t kPageSlices = 16'000;

/// Goes through a network's layers that run programs, in order, as they follow one another.
class LayerTimelines {
 public:
  /// The network must live as long as this.
  explicit LayerTimelines(const CostedNetwork& network)
      : network_(network), chain_(network.report.hw) {}

  /// The timeline of the layer with this index of the report: the programs of its items, behind all
  /// layers so far. At most `limit` slices, but one a queue; see hw::timeline().
  LayerTimeline next(size_t layer, int64_t limit);
  /// Past the layer with this index.
  void skip(size_t layer);

 private:
  const CostedNetwork& network_;
  hw::ChainTimeline chain_;
  int64_t start_ = 0;
};

/// The timeline of a network, layer after layer. `limit` slices are shared out: layers with fewer
/// commands than their share leave the rest to the others.
NetworkTimeline network_timeline(const CostedNetwork& network, int64_t limit);

/// Some layers of a network's timeline.
struct TimelinePart {
  NetworkTimeline layers;
  std::optional<size_t> next;  ///< `first` of the next part; none: this was the last
};

/// The layers of network_timeline() whose index is at least `first`, until `enough` says so: it is
/// asked before each but the first of them. Parts with the same `limit` put together are the whole.
TimelinePart timeline_part(const CostedNetwork& network, int64_t limit, size_t first,
                           const std::function<bool()>& enough);

/// The whole as JSON; see sim/report/timeline.h.
std::string to_timeline_json(const CostedNetwork& network, int64_t limit = kPageSlices);

/// Writes the timeline as a Chrome trace (sim/report/trace.h), layer by layer: no more than one
/// layer's slices are held. Layers of more than `limit` commands are summarised. Errors are the
/// sink's.
Status write_trace(const CostedNetwork& network, int64_t limit, const TextSink& sink);

}  // namespace accsim::sim
