#pragma once
#include "sim/map/map_options.h"
#include "sim/map/mapping.h"

namespace accsim::sim {

/// What products are searched with.
struct ProductSearch {
  const hw::HwConfig& own;  ///< the machine in its own types
  const hw::HwConfig& hw;   ///< in the mode of the product
  CostEvaluator& evaluator;
  const MapOptions& options;
};

/// The best tiling of a product, without its program. Errors: Errc::capacity where none fits, with
/// what to do; Errc::usage where none has what other products have.
Result<Mapping> search_product(const GemmProblem& p, const ProductSearch& in, const MappingPin& pin,
                               const ObjectiveFunction& objective);

}  // namespace accsim::sim
