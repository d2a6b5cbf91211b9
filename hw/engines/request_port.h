#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "hw/engines/engine_machine.h"

namespace accsim::hw {

/// A request that was taken: by which client, in which cycle, and its beats, one per cycle.
struct PortAnswer {
  int64_t client = 0, taken = 0, first = 0, last = 0;
};

/// The port that reads go through (docs/engines.md, "Port"): in which cycle each request is taken,
/// and when its answer comes. A client has one request at most. Client 0 is fetch, client k + 1 are
/// commands of kind k.
class RequestPort {
 public:
  explicit RequestPort(const EngineMachine& machine)
      : latency_(machine.latency),
        outstanding_(machine.outstanding),
        overlap_(machine.reads_overlap != 0),
        last_beat_holds_(machine.last_beat_holds != 0) {}

  /// The client asks for so many beats from a cycle on. That may be a cycle to come, but not one
  /// before the last request that was taken.
  void ask(int64_t client, int64_t beats, int64_t from) { asked_.push_back({client, beats, from}); }
  /// Does nobody ask?
  bool idle() const { return asked_.empty(); }
  /// Takes the next request. Somebody must ask.
  PortAnswer take();

 private:
  struct Asked {
    int64_t client, beats, from;
  };

  int64_t free_from(int64_t cycle);

  int64_t latency_, outstanding_;
  bool overlap_, last_beat_holds_;
  std::vector<Asked> asked_;
  std::deque<int64_t> lasts_;  // last beats that are to come, in rising order
  int64_t taken_ = -1, last_ = -1;
};

}  // namespace accsim::hw
