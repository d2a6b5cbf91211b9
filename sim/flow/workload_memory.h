#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "hw/timing/chain_memory.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// Mappings that have been found, by what they depend on: networks that differ in a size have most
/// of their ops in common, and so have machines that differ in a field.
class MappingMemory {
 public:
  using Found = std::shared_ptr<const Mapping>;
  using Machine = std::unordered_map<std::string, Found>;  ///< by key_of() a request

  /// What is known under a mapping_key(), until the next call. Forgets everything first when too
  /// many mappings are known.
  Machine& of(const std::string& mapping_key);
  void add(Machine& machine, const std::string& request_key, Found mapping);

 private:
  std::unordered_map<std::string, Machine> machines_;
  size_t added_ = 0;
};

/// What costing networks has found out that holds for other networks too. One a thread.
struct WorkloadMemory {
  hw::ChainMemory chains;
  MappingMemory mappings;
};

}  // namespace accsim::sim
