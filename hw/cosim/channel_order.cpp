#include "hw/cosim/channel_order.h"

#include <algorithm>

namespace accsim::hw {

std::optional<bool> writes_dram(const Program& program, const Command& command) {
  const auto dram = [&](int tensor) {
    return program.tensors[static_cast<size_t>(tensor)].memory == Memory::dram;
  };
  if (const auto* c = std::get_if<LoadCommand>(&command))
    return dram(c->tensor) ? std::optional(false) : std::nullopt;
  if (const auto* c = std::get_if<StoreCommand>(&command))
    return dram(c->tensor) ? std::optional(true) : std::nullopt;
  if (const auto* c = std::get_if<StageCommand>(&command)) return dram(c->to);
  return std::nullopt;
}

ChannelOrder::ChannelOrder(const Program& program) : program_(program) {
  if (stages(program.body)) walk(program.body);
}

bool ChannelOrder::stages(const std::vector<Item>& body) const {
  return std::any_of(body.begin(), body.end(), [this](const Item& item) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) return stages(loop->body);
    const auto* c = std::get_if<Command>(&item.node);
    return c && std::holds_alternative<StageCommand>(*c);
  });
}

void ChannelOrder::walk(const std::vector<Item>& body) {
  for (const Item& item : body) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) {
      if (!matters(loop->body)) continue;
      for (int64_t i = 0; i < loop->count; ++i) walk(loop->body);
    } else if (const auto* c = std::get_if<Command>(&item.node)) {
      if (const auto writes = writes_dram(program_, *c)) note(queue_of(*c), *writes);
    }
  }
}

bool ChannelOrder::matters(const std::vector<Item>& body) const {
  return std::any_of(body.begin(), body.end(), [this](const Item& item) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) return matters(loop->body);
    const auto* c = std::get_if<Command>(&item.node);
    return c && writes_dram(program_, *c);
  });
}

void ChannelOrder::note(Queue queue, bool writes) {
  Channel& c = channels_[writes];
  const int now = static_cast<int>(queue);
  const bool other = c.last >= 0 && c.last != now;
  if (other) c.turns[static_cast<size_t>(c.last)].back().gives = true;
  c.turns[static_cast<size_t>(now)].push_back({other, false});
  c.last = now;
}

ChannelOrder::Turn ChannelOrder::turn(Queue queue, bool writes, int64_t n) const {
  const std::vector<Turn>& turns = channels_[writes].turns[static_cast<size_t>(queue)];
  return n < std::ssize(turns) ? turns[static_cast<size_t>(n)] : Turn{};
}

}  // namespace accsim::hw
