#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "hw/cosim/channel_order.h"
#include "hw/cosim/descriptors.h"

namespace accsim::hw {

/// What a queue's descriptors say of regions and of DRAM's channels, command by command: the slot's
/// place in the address, tokens, turns.
class RegionCursor {
 public:
  /// Both live as long as this.
  RegionCursor(const Program& program, const ChannelOrder& order, Queue queue);

  /// A wait on a region, for the next command.
  void note_wait(const Sync& s);
  /// A signal on a region, of the descriptor's command.
  void put_signal(const Sync& s, Descriptor& d) const;
  /// The queue's next command.
  void complete_descriptor(const Command& command, Descriptor& d);

 private:
  /// A side of a region as this queue uses it.
  struct Side {
    int64_t waits = 0;  ///< so far
    bool waiting = false;
  };
  uint32_t slot_flags(int tensor, bool fills);
  int64_t slot_begin(int tensor, bool fills) const;

  const Program& program_;
  const ChannelOrder& order_;
  const Queue queue_;
  const std::vector<int> numbers_;
  std::vector<std::array<Side, 2>> sides_;     ///< by tensor; reading, filling
  std::array<int64_t, 2> commands_on_dram_{};  ///< so far, by channel
};

}  // namespace accsim::hw
