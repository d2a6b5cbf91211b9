#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/report.h"
#include "sim/report/timeline.h"

namespace accsim::sim {

/// Where text goes that is made piece by piece.
using TextSink = std::function<Status(std::string_view)>;

/// Writes a network's timeline in Chrome's trace event format (JSON), for Perfetto: a process, in
/// it a thread of layers and one a queue (the stage queue's where it does something), on which
/// commands lie in slices of their layer. Slices of a thread nest or follow one another: layers
/// that take turns have a slice a turn, and groups of their commands that would overlap share the
/// time by their busy cycles and say when they ran. A cycle is the format's unit, a microsecond: so
/// times are whole numbers and exact in every reader. Slices of several commands have the category
/// "summary". Counters: bytes a cycle that DRAM reads and writes, bytes of activations in the
/// shared buffer and in all.
class TraceWriter {
 public:
  /// The report must live as long as this.
  TraceWriter(const Report& report, TextSink sink) : report_(report), sink_(std::move(sink)) {}

  /// In this order: once, for all layers with programs in order of their starts, those that take
  /// turns together, once. `limit` is what layers with more commands were summarised to; it's only
  /// mentioned. Errors are the sink's.
  Status begin_trace();
  Status add_layers(const NetworkTimeline& block);
  Status end_trace(int64_t limit);

 private:
  /// A slice on its thread, at cycles of the network.
  struct Placed {
    const LayerTimeline* layer;
    hw::Slice slice;
    int64_t hidden;
    int64_t start, end;  ///< where it is drawn
  };
  static std::vector<Placed> place_slices(const NetworkTimeline& block, hw::Queue queue);

  enum Counter { kDramRead, kDramWrite, kShared, kLive, kCounters };
  void add_event(std::string_view text);
  void name_thread(int thread, std::string_view name);
  void name_queue(hw::Queue queue);
  void add_layer_slice(const LayerTimeline& l);
  void add_queue(const NetworkTimeline& block, hw::Queue queue);
  void add_turn(std::span<const Placed> turn, hw::Queue queue);
  void add_command(const Placed& placed, hw::Queue queue);
  void add_layer(const LayerTimeline& l);
  void add_bandwidth(const LayerTimeline& l);
  void add_counter(Counter counter, int64_t at, double value);
  Status flush();

  const Report& report_;
  const TextSink sink_;
  std::string text_;            ///< not yet given to the sink
  bool first_ = true;           ///< no event yet
  hw::PerQueue<bool> named_{};  ///< queues whose threads have their names
  int64_t end_ = 0;             ///< of the layers so far
  int64_t layers_ = 0, summarised_ = 0;
  std::array<double, kCounters> counters_{-1, -1, -1, -1};  ///< as last written
};

}  // namespace accsim::sim
