#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// Whose turn it is on DRAM's two channels. Loads and stages from DRAM use the channel for reads.
/// Stores and stages to DRAM use the channel for writes. Each channel goes by the program's text.
/// If the next command is another queue's, the one before it hands the channel on. Without stages
/// each channel has one queue, and nothing is written out.
class ChannelOrder {
 public:
  explicit ChannelOrder(const Program& program);

  /// A command waits until another queue hands the channel on; hands it on behind itself.
  struct Turn {
    bool waits = false, gives = false;
  };
  /// Of the n-th command of a queue on a channel.
  Turn turn_of_command(Queue queue, bool writes, int64_t n) const;

 private:
  void note_command(Queue queue, bool writes);

  struct Channel {
    std::optional<Queue> last;  ///< the queue that had it last
    PerQueue<std::vector<Turn>> turns;
  };
  std::array<Channel, 2> channels_;  ///< reads, writes
};

/// The channel of DRAM that a command uses, false for the one for reads; nothing when it uses none.
std::optional<bool> writes_dram(const Program& program, const Command& command);

}  // namespace accsim::hw
