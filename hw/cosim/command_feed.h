#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "hw/cosim/queue_unroller.h"

namespace accsim::hw {

/// Offers a core the commands of a program, each queue's in order, and knows which of them each
/// retire port will report next.
class CommandFeed {
 public:
  /// Both live as long as this.
  CommandFeed(const Program& program, const HwConfig& hw);

  /// Behind a cycle of the core: what it was ready for is taken, and each queue shows its next.
  Status offer_commands(rtl::Cycle& io);

  /// What a port will report, the next first: which command of its queue.
  const std::deque<int64_t>& under_way(rtl::RetirePort port) const { return under_way_[port]; }
  /// The tensor of the store that will retire next. Precondition: there is one.
  int stored_tensor() const { return stored_.front(); }
  /// The port's next command has retired. Precondition: there is one.
  void retire(rtl::RetirePort port);

 private:
  QueueUnroller queue_cursor(Queue q) const { return {program_, hw_, order_, channels_, q}; }
  void expect_retirement(rtl::CommandPort port, const QueueUnroller::Entry& e);

  const Program& program_;
  const HwConfig& hw_;
  const TokenOrder order_;
  const ChannelOrder channels_;
  std::array<QueueUnroller, rtl::kCommandPorts> cursors_;
  std::array<std::optional<QueueUnroller::Entry>, rtl::kCommandPorts> offered_;
  std::array<bool, rtl::kCommandPorts> ready_{}, finished_{};
  std::array<std::deque<int64_t>, rtl::kRetirePorts> under_way_;
  std::deque<int> stored_;  ///< tensors of the stores under way
};

}  // namespace accsim::hw
