#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/cosim/channel_order.h"
#include "hw/cosim/queue_unroller.h"
#include "hw/cosim/token_order.h"
#include "hw/golden/golden.h"

namespace accsim::hw {

/// A command of a program, loops unrolled, with what its queue's text has around it.
struct StreamedCommand {
  Queue queue = Queue::load;
  int64_t ordinal = 0;  ///< commands of its queue before it
  std::string name;     ///< "execute command 12 of layer 'fc' at oc=1 k=0"
  std::string layer;    ///< empty in a program without layers
  std::vector<std::pair<std::string, int64_t>> loops;  ///< around it, the outermost first
  /// The core's command that it is; a drain is part of the gemm before it.
  const QueueUnroller::Entry* core = nullptr;
  bool is_drain = false;
};

/// The commands of a program in the order of its text, as golden retires them.
class CommandStream {
 public:
  /// Both live as long as this.
  CommandStream(const Program& program, const HwConfig& hw);

  /// The next one, of which golden has just told. What it says lives until the next call.
  Result<const StreamedCommand*> next_command(const RetiredCommand& retired);

 private:
  Status advance_queue(Queue q);

  const Program& program_;
  TokenOrder order_;
  ChannelOrder channels_;
  PerQueue<std::unique_ptr<QueueUnroller>> queues_;
  PerQueue<QueueUnroller::Entry> entries_;  ///< the latest
  std::map<const Command*, std::string> layers_;
  std::vector<const Loop*> loops_;  ///< in the order of the text
  PerQueue<int64_t> counts_;
  StreamedCommand out_;
};

}  // namespace accsim::hw
