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

/// For a model that `accsim tile` wrote: adds to the report what the layers that it cut cost as the
/// graph has them (sums of the report's rows), and mapped natively: the original product alone, its
/// operands and result in the memories that they have in the graph. Nothing for other models.
/// Errors: a property that can't be read, a native product that no tile of the machine holds.
Status compare_cut_layers(const Graph& graph, const Lowered& lowered, const Residency& residency,
                          const ProductMapper& products, Report& report);

}  // namespace accsim::sim
