#include "sim/map/mapping_memory.h"

#include <utility>

namespace accsim::sim {

namespace {

constexpr size_t kMostMappings = 16384;  // some 30 megabytes

}  // namespace

MappingMemory::Found MappingMemory::Alike::find(const std::string& op) const {
  const auto at = known_.find(op);
  return at == known_.end() ? nullptr : at->second;
}

void MappingMemory::Alike::add(const std::string& op, Found mapping) {
  if (known_.insert_or_assign(op, std::move(mapping)).second) ++*count_;
}

MappingMemory::Alike& MappingMemory::of(const std::string& key) {
  return alike_.try_emplace(key, count_).first->second;
}

void MappingMemory::make_room() {
  if (count_ < kMostMappings) return;
  alike_.clear();
  count_ = 0;
}

}  // namespace accsim::sim
