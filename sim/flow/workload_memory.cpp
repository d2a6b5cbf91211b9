#include "sim/flow/workload_memory.h"

namespace accsim::sim {

namespace {

constexpr size_t kMostMappings = 16384;  // some 30 megabytes

}  // namespace

MappingMemory::Machine& MappingMemory::of(const std::string& mapping_key) {
  if (added_ >= kMostMappings) {
    machines_.clear();
    added_ = 0;
  }
  return machines_[mapping_key];
}

void MappingMemory::add(Machine& machine, const std::string& request_key, Found mapping) {
  machine.insert_or_assign(request_key, std::move(mapping));
  ++added_;
}

}  // namespace accsim::sim
