#pragma once
#include <map>
#include <span>
#include <vector>

#include "sim/schedule/scheduled_op.h"

namespace accsim::sim {

/// Addresses in the shared buffer, by number of a tensor as the chain has it.
using SharedAddresses = std::map<int32_t, int64_t>;

/// Where the tensors lie that a text writes to the shared buffer.
struct SharedPlaces {
  SharedAddresses addresses;
  /// Those without a place: the first and last stretch that uses each.
  std::vector<std::pair<size_t, size_t>> left_out;
};

/// Gives each of a text's tensors in the shared buffer bytes of its own from the first stretch that
/// uses it to the last, below `room`. Of those that no stretch writes none is placed.
SharedPlaces place_shared(std::span<const ScheduledOp> text, int64_t room);

}  // namespace accsim::sim
