#pragma once
#include "hw/timing/chain_memory.h"
#include "sim/map/mapping_memory.h"

namespace accsim::sim {

/// What costing networks has found out that holds for other networks too. One a thread; mappings
/// may be those of several.
struct WorkloadMemory {
  hw::ChainMemory chains;
  /// By mapping_key(), then by key_of() a request.
  std::shared_ptr<MappingMemory> mappings = std::make_shared<MappingMemory>();
};

}  // namespace accsim::sim
