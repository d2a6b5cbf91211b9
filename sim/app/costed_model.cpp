#include "sim/app/costed_model.h"

namespace accsim::sim {

Result<CostedModel> cost_model(const ModelOptions& model, const MappingOptions& mapping,
                               const hw::HwConfig& hw) {
  const auto elaborate_options = model.elaborate();
  const auto map_options = mapping.parse();
  if (!elaborate_options) return elaborate_options.errors();
  if (!map_options) return map_options.errors();
  Result<Graph> graph = model.load(*elaborate_options);
  if (!graph) return graph.errors();
  Result<CostedNetwork> network =
      cost_network(*graph, hw, *map_options, elaborate_options->limits.programs);
  if (!network) return network.errors();
  if (Status s = check_pins(*network, *map_options); !s) return s.errors();
  if (network->in_blocks) graph = *network->in_blocks;
  return CostedModel{std::move(*graph), std::move(*network)};
}

}  // namespace accsim::sim
