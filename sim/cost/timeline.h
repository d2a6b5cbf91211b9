#pragma once
#include <functional>
#include <optional>
#include <string>

#include "sim/cost/cost.h"
#include "sim/report/timeline.h"
#include "sim/report/trace.h"

namespace accsim::sim {

/// Slices of a page that shows a network: about 400 KB of JSON.
inline constexpr int64_t kPageSlices = 16'000;

/// Goes through a network's text, by blocks: layers one behind the other of which none takes turns
/// with one of another block. Most are of one layer.
class LayerTimelines {
 public:
  /// The network must live as long as this.
  explicit LayerTimelines(const CostedNetwork& network);

  bool is_done() const { return at_ == network_.order.size(); }
  /// The next block's last layer, as an index of the report's layers.
  size_t last_layer() const { return next_block().layers - 1; }
  /// The timelines of the layers of the next block: each begins where those before it end by the
  /// cycles that are reported, whenever its programs run. At most `limit(layer)` slices, but one a
  /// queue; see hw::timeline().
  NetworkTimeline next_timelines(const std::function<int64_t(size_t layer)>& limit);
  /// Past the next block.
  void skip_block();

 private:
  struct Block {
    size_t text;    ///< its end in the text
    size_t layers;  ///< the layer behind its last one
  };
  Block next_block() const;

  const CostedNetwork& network_;
  hw::ChainTimeline chain_;
  std::vector<int64_t> scheduled_;  ///< by layer: of the text
  std::vector<int64_t> commands_;
  size_t at_ = 0;     ///< in the text
  size_t layer_ = 0;  ///< the first that hasn't come
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
/// asked before each block but the first of them. Parts with the same `limit` put together are the
/// whole.
TimelinePart timeline_part(const CostedNetwork& network, int64_t limit, size_t first,
                           const std::function<bool()>& enough);

/// The whole as JSON; see sim/report/timeline.h.
std::string to_timeline_json(const CostedNetwork& network, int64_t limit = kPageSlices);

/// Writes the timeline as a Chrome trace (sim/report/trace.h), layer by layer: no more than one
/// layer's slices are held. Layers of more than `limit` commands are summarised. Errors are the
/// sink's.
Status write_trace(const CostedNetwork& network, int64_t limit, const TextSink& sink);

}  // namespace accsim::sim
