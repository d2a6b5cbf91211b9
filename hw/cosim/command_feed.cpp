#include "hw/cosim/command_feed.h"

#include <utility>

namespace accsim::hw {

CommandFeed::CommandFeed(const Program& program, const HwConfig& hw)
    : program_(program),
      hw_(hw),
      order_(program, hw),
      channels_(program),
      cursors_{queue_cursor(Queue::load),  queue_cursor(Queue::execute),
               queue_cursor(Queue::post),  queue_cursor(Queue::vector),
               queue_cursor(Queue::store), queue_cursor(Queue::stage)} {}

Status CommandFeed::offer_commands(rtl::Cycle& io) {
  for (size_t p = 0; p < rtl::kCommandPorts; ++p) {
    if (io.command_valid[p] && ready_[p]) {
      offered_[p].reset();
      io.command_valid[p] = false;
    }
    if (!offered_[p] && !finished_[p]) {
      Result<std::optional<QueueUnroller::Entry>> next = cursors_[p].next();
      if (!next) return next.errors();
      offered_[p] = std::move(*next);
      finished_[p] = !offered_[p];
      if (offered_[p]) {
        io.command[p] = offered_[p]->descriptor.words;
        io.command_valid[p] = true;
        expect_retirement(static_cast<rtl::CommandPort>(p), *offered_[p]);
      }
    }
  }
  ready_ = io.command_ready;
  return ok();
}

void CommandFeed::expect_retirement(rtl::CommandPort port, const QueueUnroller::Entry& e) {
  switch (port) {
    case rtl::kLoad: {
      const auto& c = std::get<LoadCommand>(*e.command);
      const bool shared =
          program_.tensors[static_cast<size_t>(c.tensor)].memory == MemoryId::shared;
      under_way_[shared ? rtl::kRetireLoadShared : rtl::kRetireLoad].push_back(e.ordinal);
      break;
    }
    case rtl::kGemm:
      under_way_[rtl::kRetireGemm].push_back(e.ordinal);
      if (e.drained) under_way_[rtl::kRetireDrain].push_back(e.ordinal + 1);
      break;
    case rtl::kPost:
      under_way_[rtl::kRetirePost].push_back(e.ordinal);
      break;
    case rtl::kVector:
      under_way_[rtl::kRetireVector].push_back(e.ordinal);
      break;
    case rtl::kStage:
      under_way_[rtl::kRetireStage].push_back(e.ordinal);
      break;
    default:
      under_way_[rtl::kRetireStore].push_back(e.ordinal);
      stored_.push_back(std::get<StoreCommand>(*e.command).tensor);
      break;
  }
}

void CommandFeed::retire(rtl::RetirePort port) {
  under_way_[port].pop_front();
  if (port == rtl::kRetireStore) stored_.pop_front();
}

}  // namespace accsim::hw
