#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/cosim/rtl_abi.h"

namespace accsim::hw {

/// One direction of the `ideal` memory: an in-order pipelined channel. It takes a beat a cycle, but
/// the last beat of a transfer not before the transfer's bytes have had their time on the channel.
/// Counts on its own what each cycle lets through, by no formula of the timing model.
class PacedChannel {
 public:
  explicit PacedChannel(ByteRate rate) : rate_(rate) {}

  /// Whether the beat that is shown in `cycle` is taken in it.
  bool try_take(const rtl::Request& beat, int64_t cycle) {
    if (begin_ < 0) begin_ = cycle;
    const int64_t let_through = (cycle - begin_ + 1) * rate_.milli;  // in thousandths of bytes
    if (beat.last && let_through < 1000 * (bytes_ + beat.bytes)) return false;
    bytes_ += beat.bytes;
    if (beat.last) {
      begin_ = -1;
      bytes_ = 0;
    }
    return true;
  }

 private:
  const ByteRate rate_;
  int64_t begin_ = -1;  ///< first cycle of the transfer under way
  int64_t bytes_ = 0;   ///< of it, taken
};

/// Read data on its way back: a request taken in cycle t is answered in t + 1 + latency, with what
/// the memory held in t.
class ReturnPath {
 public:
  explicit ReturnPath(int64_t latency) : latency_(latency) {}

  void push(std::span<const uint8_t> data, rtl::Tag tag, int64_t cycle) {
    beats_.push_back({cycle + 1 + latency_, {data.begin(), data.end()}, tag});
  }
  struct Beat {
    int64_t due;
    std::vector<uint8_t> data;
    rtl::Tag tag;
  };
  /// The beat that arrives in `cycle`, if there is one.
  const Beat* arrived_beat(int64_t cycle) const {
    return !beats_.empty() && beats_.front().due <= cycle ? &beats_.front() : nullptr;
  }
  void pop() { beats_.pop_front(); }

 private:
  const int64_t latency_;
  std::deque<Beat> beats_;
};

/// Bytes on their way into a memory, which doesn't hold them before they are due.
class WritePath {
 public:
  struct Beat {
    int64_t due;
    uint64_t address;
    std::vector<uint8_t> data;
    bool last;  ///< of its command
    uint32_t tag;
  };
  void push(Beat beat) { beats_.push_back(std::move(beat)); }
  /// The next beat that is there by `cycle`.
  std::optional<Beat> take_arrived(int64_t cycle) {
    if (beats_.empty() || beats_.front().due > cycle) return std::nullopt;
    Beat out = std::move(beats_.front());
    beats_.pop_front();
    return out;
  }

 private:
  std::deque<Beat> beats_;
};

}  // namespace accsim::hw
