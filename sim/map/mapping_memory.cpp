#include "sim/map/mapping_memory.h"

#include <utility>

namespace accsim::sim {

namespace {

constexpr size_t kMostMappings = 16384;  // some 30 megabytes

}  // namespace

MappingMemory::Found MappingMemory::Alike::find(const std::string& op) const {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(op);
  return at == known_.end() ? nullptr : at->second;
}

MappingMemory::Found MappingMemory::Alike::add(const std::string& op, Found mapping) {
  const std::lock_guard lock(mutex_);
  Found& known = known_[op];
  if (known) return known;
  ++count_;
  return known = std::move(mapping);
}

std::shared_ptr<MappingMemory::Alike> MappingMemory::alike_of_key(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Alike>& found = alike_[key];
  if (!found) found = std::make_shared<Alike>(count_);
  return found;
}

void MappingMemory::make_room() {
  if (count_ < kMostMappings) return;
  const std::lock_guard lock(mutex_);
  alike_.clear();
  count_ = 0;
}

}  // namespace accsim::sim
