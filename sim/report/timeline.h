#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/timing/timeline.h"

namespace accsim::sim {

/// When a layer runs, and what the queues do meanwhile. In cycles.
struct LayerTimeline {
  int layer = 0;       ///< index of Report::layers
  int64_t start = 0;   ///< from the start of the network
  int64_t cycles = 0;  ///< the layer's, as reported: the last result is visible
  /// Times from the layer's start; what begins under the layers before is before 0.
  hw::PerQueue<std::vector<hw::Slice>> queues;
  /// By slice of a queue: cycles of busy ones under the programs before, all of a program's at its
  /// first slice.
  hw::PerQueue<std::vector<int64_t>> hidden;
  bool summarised = false;  ///< some slice is a group of commands
};

/// When a network's layers run: those that run a program, in order. They may overlap.
using NetworkTimeline = std::vector<LayerTimeline>;

/// The timeline as compact JSON on one line, for pages:
///   unit: "cycles"; queues: their names, the stage queue's where it has slices; commands: what
///     slices do, named once
///   layers: [{layer, start, cycles, slices: {queue: [slice, ...]}}, ...]
///     slice: [start, duration, command, count], and a fifth number of a group of commands: of its
///     duration, the cycles in which the queue is busy; starts are from the layer's
///   summarised: whether some slice is a group
std::string to_timeline_json(const NetworkTimeline& timeline);

}  // namespace accsim::sim
