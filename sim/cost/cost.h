#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/elaborate/elaborate.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"
#include "sim/report/report.h"
#include "sim/schedule/chain.h"
#include "sim/schedule/schedule.h"

namespace accsim::sim {

/// What is costed of a graph: real numbers, padding left to the windows that read it, both unless
/// it is to be as written; attention in blocks of keys where options say so. Errc::usage where none
/// is long enough.
Result<Graph> costed_graph(Graph graph, const ElaborateOptions& options);
/// File -> ModelDef -> flat graph with every shape known.
Result<Graph> load_graph(const std::string& path, const ElaborateOptions& options);
/// The same of several files, in their order. A binding or an input's shape must be known to one of
/// them; the others are read without it. All errors of all files.
Result<std::vector<Graph>> load_graphs(const std::vector<std::string>& paths,
                                       const ElaborateOptions& options);

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

/// What is costed in a graph's place where it casts between floats (without_float_casts()), made
/// ready as costed_graph() does; nothing where it doesn't. Nodes and tensors have the same ids.
std::optional<Graph> without_casts(const Graph& graph);

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
