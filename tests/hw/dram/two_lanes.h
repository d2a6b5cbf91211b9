// What a machine's controllers take for bursts that are read and bursts that are written at once.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "hw/dram/address.h"
#include "hw/dram/controller.h"
#include "hw/dram/pattern.h"

namespace accsim::test {

using namespace hw;

struct Burst {
  int64_t number;  ///< in the address space
  bool write;
};

/// Hands out the bursts of one direction in order; the next one waits where its queue is full.
class Lane {
 public:
  Lane(std::span<const Burst> bursts, bool write, int64_t times, const AddressMap& map)
      : write_(write), left_(times) {
    for (const Burst& b : bursts)
      if (b.write == write) places_.push_back(map.place_of_burst(b.number));
    if (places_.empty()) left_ = 0;
  }
  bool done() const { return left_ == 0; }
  /// Calls `told` of every channel that it has given something.
  template <class Told>
  void fill(std::vector<DramController>& to, int64_t clock, Told told) {
    while (left_ > 0) {
      const DramPlace& place = places_[next_];
      DramController& c = to[static_cast<size_t>(place.channel)];
      if (!c.accepts(write_)) break;
      c.add_request(place, write_, clock);
      told(static_cast<size_t>(place.channel));
      if (++next_ < places_.size()) continue;
      next_ = 0;
      --left_;
    }
  }

 private:
  std::vector<DramPlace> places_;
  bool write_;
  size_t next_ = 0;
  int64_t left_;
};

/// Clocks of the DRAM for the bursts of one direction, or of both. Each direction's go behind a
/// full queue that waits for it, in order, and again and again until `least` of a channel have
/// gone: refreshes come on average then as often as they do in long traffic.
inline double stepped_clocks(const DramSystem& system, std::span<const Burst> bursts, bool reads,
                             bool writes, int64_t least) {
  const AddressMap map(system.device, system.channels, address_order(system.map));
  const auto written = std::ranges::count_if(bursts, [](const Burst& b) { return b.write; });
  const int64_t all = (reads ? std::ssize(bursts) - written : 0) + (writes ? written : 0);
  if (all == 0) return 0;
  const int64_t times = (least * system.channels + all - 1) / all;
  const double share = writes ? static_cast<double>(written) / static_cast<double>(all) : 0;
  std::vector<DramController> controllers;
  for (int64_t c = 0; c < system.channels; ++c)
    controllers.emplace_back(system.device, static_cast<int>(c), share);
  std::array<Lane, 2> lanes = {Lane(bursts, false, reads ? times : 0, map),
                               Lane(bursts, true, writes ? times : 0, map)};
  bool finishing = false;
  using At = std::pair<int64_t, size_t>;
  std::priority_queue<At, std::vector<At>, std::greater<>> due;
  const auto wake = [&](size_t c) {
    if (const auto clock = controllers[c].next_clock()) due.push({*clock, c});
  };
  for (Lane& lane : lanes) lane.fill(controllers, 0, [](size_t) {});
  for (size_t c = 0; c < controllers.size(); ++c) wake(c);
  while (!due.empty()) {
    const auto [clock, c] = due.top();
    due.pop();
    if (controllers[c].next_clock() != clock) continue;  // another command has come in between
    std::vector<size_t> given = {c};
    if (controllers[c].issue_next({}))
      for (Lane& lane : lanes)
        lane.fill(controllers, clock, [&](size_t to) { given.push_back(to); });
    if (!finishing && lanes[0].done() && lanes[1].done()) {
      finishing = true;
      for (DramController& each : controllers) each.end_requests();
      for (size_t each = 0; each < controllers.size(); ++each) given.push_back(each);
    }
    for (const size_t each : given) wake(each);
  }
  int64_t end = 0;
  for (const DramController& c : controllers) end = std::max(end, c.end_clock());
  return static_cast<double>(end) / static_cast<double>(times);
}

}  // namespace accsim::test
