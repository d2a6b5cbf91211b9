#include "hw/dram/stepped.h"

#include <algorithm>

namespace accsim {
namespace {

/// Hands out the stream in order; holds the one request that no queue has taken yet.
class Feed {
 public:
  Feed(const DramSystem& system, const DramPattern& pattern, int64_t bursts, uint64_t seed)
      : stream_(system, pattern, seed),
        map_(system.device, system.channels, address_order(system.map)),
        left_(bursts) {
    advance();
  }

  /// Fills queues until a request finds its own full. Returns a mask of nothing: controllers keep
  /// their own choice up to date.
  void fill(std::vector<DramController>& controllers, int64_t clock) {
    while (has_) {
      DramController& to = controllers[static_cast<size_t>(place_.channel)];
      if (!to.accepts(write_)) return;
      to.add(place_, write_, clock);
      advance();
      if (has_) continue;
      for (DramController& c : controllers) c.finish();
    }
  }

 private:
  void advance() {
    has_ = left_ > 0;
    if (!has_) return;
    --left_;
    const auto request = stream_.next();
    place_ = map_.place(request.burst);
    write_ = request.write;
  }

  DramStream stream_;
  AddressMap map_;
  int64_t left_;
  bool has_ = false, write_ = false;
  DramPlace place_;
};

}  // namespace

DramRun run_stepped(const DramSystem& system, const DramPattern& pattern, int64_t bursts,
                    uint64_t seed, const DramObserver& observer) {
  std::vector<DramController> controllers;
  for (int64_t i = 0; i < system.channels; ++i)
    controllers.emplace_back(system.device, static_cast<int>(i));
  Feed feed(system, pattern, bursts, seed);
  feed.fill(controllers, 0);
  for (;;) {
    DramController* first = nullptr;
    int64_t clock = INT64_MAX;
    for (DramController& c : controllers) {
      const auto next = c.next();
      if (next && *next < clock) {
        clock = *next;
        first = &c;
      }
    }
    if (first == nullptr) break;
    if (first->step(observer)) feed.fill(controllers, clock);
  }
  DramRun out;
  out.bursts = bursts;
  for (const DramController& c : controllers) {
    out.clocks = std::max(out.clocks, c.end());
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

}  // namespace accsim
