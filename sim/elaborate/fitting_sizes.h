#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/elaborate/symbols.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Sizes by name.
using Sizes = std::map<std::string, int64_t>;

/// Sizes for all that nobody gave.
struct FittingSizes {
  Sizes sizes;                    ///< empty: none of those that were tried fit
  std::vector<int64_t> pictures;  ///< heights and widths that fit as well; none: it has no such
};

/// Looks for sizes of the inputs that the model can have, among sizes that networks are made for.
/// Heights and widths are 224, 320 or 640. Tokens are 1 behind a cache of 127, else 128. Channels
/// and features have the sizes of the weights beside them. `bound`: values of other sizes. At most
/// kMostTries are tried. `fits` says whether the model has a graph.
FittingSizes find_sizes(const GraphDef& graph, const InputDefs& inputs,
                        const std::vector<std::string>& open, const Sizes& bound,
                        const std::function<bool(const Sizes&)>& fits);

inline constexpr int64_t kMostTries = 24;

}  // namespace accsim::sim
