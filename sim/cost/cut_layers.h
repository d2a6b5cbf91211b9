#pragma once
#include "sim/cost/product_modes.h"
#include "sim/graph/graph.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"
#include "sim/report/report.h"

namespace accsim::sim {

/// What maps products, and in which modes.
struct ProductMapper {
  const ModeChoice& modes;
  Mapper& mapper;
};

/// For a model that `accsim tile` wrote. Adds to the report the costs of its cut layers as the
/// graph has them (sums of rows), and their native costs: the original product alone, with its
/// operands and result in the same memories. Nothing for other models. Errors: a property that
/// can't be read, or a native product that no tile of the machine holds.
Status compare_cut_layers(const Graph& graph, const Lowered& lowered, const Residency& residency,
                          const ProductMapper& products, Report& report);

}  // namespace accsim::sim
