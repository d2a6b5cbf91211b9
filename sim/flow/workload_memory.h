#pragma once
#include "hw/timing/chain_memory.h"
#include "sim/map/mapping_memory.h"

namespace accsim::sim {

/// What costing networks has found out that holds for other networks too. One a thread.
struct WorkloadMemory {
  hw::ChainMemory chains;
  MappingMemory mappings;  ///< by mapping_key(), then by key_of() a request
};

}  // namespace accsim::sim
