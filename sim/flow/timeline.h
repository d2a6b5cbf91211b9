#pragma once
#include <string>

#include "sim/flow/cost.h"
#include "sim/report/timeline.h"
#include "sim/report/trace.h"

namespace accsim::sim {

/// Slices of a page that shows a network: about 400 KB of JSON.
inline constexpr int64_t kPageSlices = 16'000;

/// The timeline of the layer with this index of the report, which runs a program and starts at
/// `start`: the programs of its items one after the other. At most `limit` slices, but one a queue;
/// see hw::timeline().
LayerTimeline layer_timeline(const CostedNetwork& network, size_t layer, int64_t start,
                             int64_t limit);

/// The timeline of a network, layer after layer. `limit` slices are shared out: layers with fewer
/// commands than their share leave the rest to the others.
NetworkTimeline network_timeline(const CostedNetwork& network, int64_t limit);

/// The same as JSON; see sim/report/timeline.h.
std::string to_timeline_json(const CostedNetwork& network, int64_t limit = kPageSlices);

/// Writes the timeline as a Chrome trace (sim/report/trace.h), layer by layer: no more than one
/// layer's slices are held. Layers of more than `limit` commands are summarised. Errors are the
/// sink's.
Status write_trace(const CostedNetwork& network, int64_t limit, const TextSink& sink);

}  // namespace accsim::sim
