#pragma once
#include <cstdint>

#include "hw/config/dram_device.h"

namespace accsim::hw {

/// The order in which a pattern's runs lie in memory.
enum class DramWalk : uint8_t {
  sequential,  ///< one run without end
  strided,     ///< runs at a fixed distance
  random,      ///< runs at random places of the whole capacity
};

/// What a DRAM is asked for, in bytes. Whole bursts are moved: a run that doesn't fill its last
/// burst moves it nevertheless.
struct DramPattern {
  DramWalk walk = DramWalk::sequential;
  int64_t run = 0;     ///< bytes of a contiguous piece; of no meaning when sequential
  int64_t stride = 0;  ///< bytes from one run's start to the next (strided)
  /// Of the bursts that are written, spread evenly: when sequential by as many bursts as there
  /// are channels, else run by run.
  double write_share = 0;
};

/// A channel-interleaved memory of equal parts.
struct DramSystem {
  DramDevice device;
  int64_t channels = 1;
  DramMap map = DramMap::bank_group_low;
};

/// The pattern's requests, one burst at a time.
class DramStream {
 public:
  struct Request {
    int64_t burst = 0;  ///< number of the burst in the address space
    bool write = false;
  };
  DramStream(const DramSystem& system, const DramPattern& pattern, uint64_t seed);
  Request next_request();

 private:
  int64_t start_of_run();
  bool turn_to_write();

  DramSystem system_;
  DramWalk walk_;
  int64_t run_, stride_, capacity_;  ///< run and capacity in bursts
  double write_share_, written_ = 0;
  uint64_t random_;
  int64_t next_byte_ = 0, start_ = 0, left_ = 0;
  bool write_ = false;
};

}  // namespace accsim::hw
