#pragma once
#include <functional>
#include <string>

#include "hw/engines/tiled_search.h"
#include "sim/report/text.h"
#include "sim/validate/predict.h"

namespace accsim::sim {

/// What the scratchpads of a machine of 16 x 16 in int8 hold, by its buffers' sizes.
/// Micro-operations are in none of them: 2048 are assumed of every machine, as VTA has (head of
/// validation/tables/vta_rtl.csv, "Configuration").
hw::TileRoom room_of(const hw::HwConfig& hw);

/// Looks for the best program of each point that is a row of a tiled layer, on the row's machine,
/// and sets Prediction::best, or Prediction::search_error where no program fits or the search would
/// take too long. The results don't depend on the number of threads. `progress` is told how many
/// are done, of how many, by one thread at a time. Errors: no such point (usage).
Status search_programs(Validation& v, int threads,
                       const std::function<void(int64_t, int64_t)>& progress);

/// The programs that were found, a line each, with the rows that none was found of, and how many
/// fewer cycles they take in the mean, by what the rows' engines wait for and by family. Empty
/// without a search.
std::string search_text(const Validation& v, const TextOptions& options);

}  // namespace accsim::sim
