#include "hw/cosim/channel_order.h"

#include "hw/program/visit.h"

namespace accsim::hw {

std::optional<bool> writes_dram(const Program& program, const Command& command) {
  const auto dram = [&](int tensor) {
    return program.tensors[static_cast<size_t>(tensor)].memory == MemoryId::dram;
  };
  if (const auto* c = std::get_if<LoadCommand>(&command))
    return dram(c->tensor) ? std::optional(false) : std::nullopt;
  if (const auto* c = std::get_if<StoreCommand>(&command))
    return dram(c->tensor) ? std::optional(true) : std::nullopt;
  if (const auto* c = std::get_if<StageCommand>(&command)) return dram(c->to);
  return std::nullopt;
}

ChannelOrder::ChannelOrder(const Program& program) {
  if (!has_command<StageCommand>(program.body)) return;
  const auto moves = [&](const Command& c) { return writes_dram(program, c).has_value(); };
  visit_nest(program.body, Overloaded{[&](const Loop& loop, const auto& inner) {
                                        if (!any_in_nest(loop.body, moves)) return;
                                        for (int64_t i = 0; i < loop.count; ++i) inner();
                                      },
                                      [&](const Command& c) {
                                        if (const auto w = writes_dram(program, c))
                                          note_command(queue_of(c), *w);
                                      }});
}

void ChannelOrder::note_command(Queue queue, bool writes) {
  Channel& c = channels_[writes];
  const bool other = c.last && c.last != queue;
  if (other) c.turns[*c.last].back().gives = true;
  c.turns[queue].push_back({other, false});
  c.last = queue;
}

ChannelOrder::Turn ChannelOrder::turn_of_command(Queue queue, bool writes, int64_t n) const {
  const std::vector<Turn>& turns = channels_[writes].turns[queue];
  return n < std::ssize(turns) ? turns[static_cast<size_t>(n)] : Turn{};
}

}  // namespace accsim::hw
