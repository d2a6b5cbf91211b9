#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/cost/load_graph.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"
#include "sim/report/report.h"
#include "sim/schedule/chain.h"
#include "sim/schedule/schedule.h"

namespace accsim::sim {

/// A costed network: the report, and the programs behind it.
struct CostedNetwork {
  Lowered lowered;
  /// By layer, one mapping an item of its work; empty for views and folded layers.
  std::vector<std::vector<std::shared_ptr<const Mapping>>> mappings;
  std::vector<std::vector<LayerPorts>> ports;  ///< as `mappings`
  std::vector<LayerTensors> tensors;           ///< by layer
  std::vector<ScheduledOp> order;  ///< the mappings, or those of pieces, as they are run
  SharedAddresses addresses;       ///< of its tensors in the shared buffer
  Report report;
  int64_t fewest_cycles = 0;  ///< without any slack, in blocks or not
  /// The graph that all of this is of, where attention is done in blocks of keys because that is
  /// better; else null: the one that was given. Tensors that both have have the same ids.
  std::shared_ptr<const Graph> in_blocks = nullptr;
};

/// The main job: graph -> fates -> residency -> mapping -> timing and energy -> report. Long
/// attention is done in blocks of keys where that is better by the objective (key_blocks.h).
/// Errors: unsupported nodes (all of them), layers that no tile of the machine holds (all of them),
/// more different programs than `most_programs` (capacity, with the option of Limits::programs).
Result<CostedNetwork> cost_network(const Graph& graph, const hw::HwConfig& hw,
                                   const MapOptions& options,
                                   int64_t most_programs = std::numeric_limits<int64_t>::max());

/// Errc::usage for each pin whose glob matches no layer with a product.
Status check_pins(const CostedNetwork& network, const MapOptions& options);

/// The programs of the layers whose name matches a glob, as text. Error when none matches. The
/// network is costed of this graph.
Result<std::string> dump_programs(const Graph& given, const CostedNetwork& network,
                                  const std::string& layer_glob);

}  // namespace accsim::sim
