#include "hw/dram/pattern.h"

#include <algorithm>

#include "sim/base/units.h"

namespace accsim::hw {

DramStream::DramStream(const DramSystem& system, const DramPattern& pattern, uint64_t seed)
    : system_(system),
      walk_(pattern.walk),
      stride_(pattern.stride),
      capacity_(system.device.bytes() / system.device.burst_bytes() * system.channels),
      write_share_(pattern.write_share),
      random_(seed) {
  run_ = walk_ == DramWalk::sequential
             ? capacity_
             : std::max<int64_t>(1, ceil_div(pattern.run, system.device.burst_bytes()));
}

int64_t DramStream::start_of_run() {
  if (walk_ == DramWalk::sequential) return 0;
  if (walk_ == DramWalk::strided) {
    const int64_t bytes = system_.device.bytes() * system_.channels;
    const int64_t byte = next_byte_;
    next_byte_ = (byte + stride_ % bytes) % bytes;
    return byte / system_.device.burst_bytes();
  }
  // splitmix64: the same numbers on every platform.
  random_ += 0x9e3779b97f4a7c15U;
  uint64_t z = random_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return static_cast<int64_t>(z % static_cast<uint64_t>(capacity_));
}

bool DramStream::turn_to_write() {
  written_ += write_share_;
  const bool write = written_ >= 1;
  if (write) written_ -= 1;
  return write;
}

DramStream::Request DramStream::next_request() {
  if (left_ == 0) {
    start_ = start_of_run();
    left_ = run_;
    write_ = turn_to_write();
  } else if (walk_ == DramWalk::sequential && (run_ - left_) % system_.channels == 0) {
    write_ = turn_to_write();
  }
  const int64_t burst = start_ + (run_ - left_);
  --left_;
  return {burst, write_};
}

}  // namespace accsim::hw
