#include "hw/engines/request_port.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim::hw {

/// The first cycle from this one on in which the port takes a request.
int64_t RequestPort::free_from(int64_t cycle) {
  if (!overlap_) return std::max(cycle, last_ + 1);
  while (true) {
    while (!lasts_.empty() && lasts_.front() < cycle) lasts_.pop_front();
    if (static_cast<int64_t>(lasts_.size()) >= outstanding_)
      cycle = lasts_.front() + 1;
    else if (last_beat_holds_ && !lasts_.empty() && lasts_.front() == cycle)
      ++cycle;
    else
      return cycle;
  }
}

PortAnswer RequestPort::take() {
  check(!asked_.empty(), "nobody asks for a read");
  int64_t cycle = asked_.front().from;
  for (const Asked& one : asked_) cycle = std::min(cycle, one.from);
  cycle = free_from(std::max(cycle, taken_ + 1));
  auto best = asked_.end();
  for (auto one = asked_.begin(); one != asked_.end(); ++one)
    if (one->from <= cycle && (best == asked_.end() || one->client < best->client)) best = one;
  const int64_t first = std::max(cycle + latency_, last_ + 1);
  last_ = first + best->beats - 1;
  if (overlap_) lasts_.push_back(last_);
  taken_ = cycle;
  const PortAnswer request{best->client, cycle, first, last_};
  *best = asked_.back();
  asked_.pop_back();
  return request;
}

}  // namespace accsim::hw
