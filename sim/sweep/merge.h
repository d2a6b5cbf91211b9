#pragma once
#include <string>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// What merge_stores() put together.
struct MergeOutcome {
  int64_t points = 0;  ///< in OUT now
  int64_t added = 0;
};

/// Puts the stores of all shards of one sweep into one store, equal to that of a run without
/// shards. Can be repeated. Errors, before OUT is touched: shards of other specs, versions or
/// numbers of shards; shards that are missing or unfinished (all of them named). Points that are
/// there twice must agree.
Result<MergeOutcome> merge_stores(const std::string& out, const std::vector<std::string>& shards);

}  // namespace accsim::sim
