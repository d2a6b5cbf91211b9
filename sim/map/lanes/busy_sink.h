#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "hw/program/engines.h"
#include "sim/map/program_description.h"

namespace accsim::sim {

/// Adds up what the queues of a program of lane commands do: each command's own time, as often as
/// it runs.
class BusySink {
 public:
  using Address = NoAddress;

  explicit BusySink(const hw::HwConfig& hw) : hw_(hw) {}

  int64_t busy_bound() const {
    // Before a queue's first command comes the shortest way in, behind its last one that out.
    const int64_t out = 1 + written_.latency, lanes = 1 + hw::contract::kVectorLatency;
    const int64_t in = 1 + read_latency_;
    return std::max({loads_ + read_latency_ + lanes + out,
                     in + lanes_ + hw::contract::kVectorLatency + out,
                     in + lanes + stores_ + written_.latency});
  }

  void add_tensor(const Place& place, int64_t) {
    channels_.push_back(hw_.memory(place.memory).channel);
  }
  template <class Body>
  void add_loop(std::string_view, int64_t count, Body body) {
    times_ *= count;
    body(0);
    times_ /= count;
  }
  void add_sync(hw::SyncKind, hw::Queue, hw::Buffer) {}
  template <class Fill>
  void add_load(hw::Buffer to, int tensor, const hw::Walk& walk, Fill) {
    const hw::ChannelConfig& from = channels_[static_cast<size_t>(tensor)];
    loads_ +=
        times_ * std::max({int64_t{1}, from.read.cycles(walk.bytes()), beats_of_walk(walk, to)});
    read_latency_ = std::min(read_latency_, from.latency);
  }
  template <class Fill>
  void add_lane(const hw::LaneCommand& c, Fill) {
    lanes_ += times_ * hw::contract::lane_cycles(c, hw_);
  }
  void set_table(hw::Queue unit) { lanes_ += times_ * hw::table_cycles(unit); }
  template <class Fill>
  void add_store(int tensor, const hw::Walk& walk, Fill) {
    written_ = channels_[static_cast<size_t>(tensor)];
    stores_ += times_ * std::max({int64_t{1}, written_.write.cycles(walk.bytes()),
                                  beats_of_walk(walk, hw::Buffer::output)});
  }

 private:
  int64_t beats_of_walk(const hw::Walk& walk, hw::Buffer b) const {
    return hw::contract::port_beats(walk.run_count(), walk.run, hw_.buffer(b).width);
  }

  const hw::HwConfig& hw_;
  int64_t times_ = 1, loads_ = 0, lanes_ = 0, stores_ = 0;
  int64_t read_latency_ = INT64_MAX;
  std::vector<hw::ChannelConfig> channels_;
  hw::ChannelConfig written_;  ///< the result's
};

}  // namespace accsim::sim
