#include "hw/timing/chain_memory.h"

#include "sim/base/hash.h"
#include "sim/base/key_bytes.h"

namespace accsim::hw {

namespace {

constexpr size_t kMostKnown = 1024;  ///< about 4 megabytes

}  // namespace

size_t ChainMemory::Hash::operator()(std::string_view text) const { return hash_bytes(text); }

void ChainMemory::begin_chain(const HwConfig& hw, bool loads_first) {
  KeyBytes key;
  key.add(loads_first);
  for (const auto& buffer : hw.buffers) key.add(buffer.slots);
  std::string machine = key.take_bytes();
  if (machine == machine_ && known_.size() < kMostKnown) return;
  machine_ = std::move(machine);
  programs_.clear();
  states_.clear();
  all_states_.clear();
  known_.clear();
}

int32_t ChainMemory::number_of_text(Texts<int32_t>& of, std::string_view text) {
  const auto found = of.find(text);
  if (found != of.end()) return found->second;
  const auto next = static_cast<int32_t>(of.size());
  of.emplace(text, next);
  return next;
}

int32_t ChainMemory::program_number(std::span<const Step> steps) {
  static_assert(std::has_unique_object_representations_v<Step>, "steps are compared as bytes");
  return number_of_text(programs_,
                        {reinterpret_cast<const char*>(steps.data()), steps.size_bytes()});
}

int32_t ChainMemory::state_number(const SimulatorState& s) {
  KeyBytes key;
  key.add(s.end, s.dataflow ? static_cast<int>(*s.dataflow) : -1);
  s.bus.add_to(key);
  for (size_t m = 0; m < kFirstPending; ++m) key.add(s.moments[m]);
  for (size_t r = 0; r < s.rings.size(); ++r) {
    const auto& ring = s.rings[r];
    if (ring.size == 0) continue;
    key.add(r, ring.size);
    for (uint32_t i = 0; i < ring.size; ++i) key.add(ring.events[i]);
  }
  const int32_t number = number_of_text(states_, key.take_bytes());
  if (static_cast<size_t>(number) == all_states_.size()) {
    all_states_.push_back(s);
    all_states_.back().marks.clear();
  }
  return number;
}

ChainMemory::Entry ChainMemory::find_known(std::string_view key) {
  const auto found = known_.find(key);
  if (found != known_.end()) return {found->second, false};
  return {known_.try_emplace(std::string(key)).first->second, true};
}

}  // namespace accsim::hw
