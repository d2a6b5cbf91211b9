#include "sim/schedule/shared_places.h"

#include <algorithm>

#include "hw/program/byte_places.h"

namespace accsim::sim {
namespace {

struct Use {
  hw::ByteLife life;
  bool written = false;
};

void note_uses(const ScheduledOp& s, int64_t at, std::map<int32_t, Use>& uses) {
  const OpTrace& trace = s.mapping->trace;
  for (size_t i = 0; i < trace.ports.size(); ++i) {
    if (trace.shared[i] == 0) continue;
    Use& use = uses.try_emplace(s.owners()[i], Use{{at, at, 0}}).first->second;
    use.life.last = at;
    use.life.bytes = std::max(use.life.bytes, s.offsets[i] + trace.shared[i]);
    use.written |= trace.ports[i].side == OperandPort::Side::output;
  }
}

}  // namespace

SharedPlaces place_shared(std::span<const ScheduledOp> text, int64_t room) {
  std::map<int32_t, Use> uses;
  for (size_t i = 0; i < text.size(); ++i) note_uses(text[i], static_cast<int64_t>(i), uses);
  std::erase_if(uses, [](const auto& use) { return !use.second.written; });
  std::vector<hw::ByteLife> lives;
  for (const auto& use : uses) lives.push_back(use.second.life);
  const hw::BytePlaces places = hw::place_bytes(lives, room);
  SharedPlaces out;
  size_t i = 0;
  for (const auto& use : uses) {
    const auto [first, last, bytes] = lives[i];
    if (const int64_t address = places.addresses[i++]; address >= 0)
      out.addresses.emplace(use.first, address);
    else
      out.left_out.emplace_back(static_cast<size_t>(first), static_cast<size_t>(last));
  }
  return out;
}

}  // namespace accsim::sim
