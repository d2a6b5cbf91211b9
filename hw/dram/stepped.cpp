#include "hw/dram/stepped.h"

#include <algorithm>
#include <deque>

namespace accsim::hw {
namespace {

/// The requests in order, for each channel and direction of its own: none waits for another one's
/// queue.
class Feed {
 public:
  Feed(const DramSystem& system, const DramPattern& pattern, int64_t bursts, uint64_t seed)
      : stream_(system, pattern, seed),
        map_(system.device, system.channels, address_order(system.map)),
        left_(bursts),
        waiting_(static_cast<size_t>(2 * system.channels)) {}

  /// Fills one queue of a channel. False when there is nothing left for it.
  bool fill_queue(DramController& to, int channel, bool write, int64_t clock) {
    std::deque<DramPlace>& places = waiting_[lane_index(channel, write)];
    while (to.accepts(write)) {
      while (places.empty() && left_ > 0) draw_request();
      if (places.empty()) return false;
      to.add_request(places.front(), write, clock);
      places.pop_front();
    }
    return true;
  }

 private:
  static size_t lane_index(int channel, bool write) {
    return 2 * static_cast<size_t>(channel) + (write ? 1 : 0);
  }
  void draw_request() {
    --left_;
    const auto request = stream_.next_request();
    const DramPlace place = map_.place_of_burst(request.burst);
    waiting_[lane_index(place.channel, request.write)].push_back(place);
  }

  DramStream stream_;
  AddressMap map_;
  int64_t left_;
  std::vector<std::deque<DramPlace>> waiting_;
};

}  // namespace

DramRun run_stepped(const DramSystem& system, const DramPattern& pattern, int64_t bursts,
                    uint64_t seed, const DramObserver& observer) {
  std::vector<DramController> controllers;
  Feed feed(system, pattern, bursts, seed);
  for (int i = 0; i < static_cast<int>(system.channels); ++i) {
    DramController& c = controllers.emplace_back(system.device, i, pattern.write_share);
    const auto fill = [&](int64_t clock) {
      const bool reads = feed.fill_queue(c, i, false, clock),
                 writes = feed.fill_queue(c, i, true, clock);
      if (!reads && !writes) c.end_requests();
    };
    fill(0);
    while (const auto clock = c.next_clock()) {
      if (c.issue_next(observer)) fill(*clock);
    }
  }
  DramRun out;
  out.bursts = bursts;
  for (const DramController& c : controllers) {
    out.clocks = std::max(out.clocks, c.end_clock());
    out.counts.reads += c.counts().reads;
    out.counts.writes += c.counts().writes;
    out.counts.activates += c.counts().activates;
    out.counts.precharges += c.counts().precharges;
    out.counts.refreshes += c.counts().refreshes;
  }
  const auto could = static_cast<double>(out.clocks) * static_cast<double>(system.channels);
  if (out.clocks > 0)
    out.efficiency = static_cast<double>(bursts * system.device.burst_clocks) / could;
  return out;
}

}  // namespace accsim::hw
