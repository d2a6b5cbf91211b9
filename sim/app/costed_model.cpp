#include "sim/app/costed_model.h"

#include "sim/program/product_words.h"

namespace accsim::sim {

Result<CostedModel> cost_model(const ModelOptions& model, const MappingOptions& mapping,
                               const hw::HwConfig& hw) {
  const auto elaborate_options = model.to_elaborate_options();
  const auto map_options = mapping.to_map_options();
  if (!elaborate_options) return elaborate_options.errors();
  if (!map_options) return map_options.errors();
  Result<Graph> graph = model.load_model(*elaborate_options);
  if (!graph) return graph.errors();
  Result<CostedNetwork> network =
      cost_network(*graph, hw, *map_options, elaborate_options->limits.programs);
  if (!network) return network.errors();
  if (Status s = check_pins(*network, *map_options); !s) return s.errors();
  if (network->in_blocks) graph = *network->in_blocks;
  return CostedModel{std::move(*graph), std::move(*network)};
}

Result<std::vector<VerifyCase>> named_products(const std::vector<std::string>& gemms,
                                               const std::vector<std::string>& convs,
                                               const hw::HwConfig& hw, const MapOptions& options) {
  std::vector<VerifyCase> out;
  Errors errors;
  const auto add = [&](const Result<GemmOp>& op, const std::string& name) {
    auto one = op ? product_case(*op, name, hw, options) : op.errors();
    if (one)
      out.push_back(std::move(*one));
    else
      errors.insert(errors.end(), one.errors().begin(), one.errors().end());
  };
  for (const std::string& text : gemms) add(parse_gemm(text, "--gemm"), "gemm " + text);
  for (const std::string& text : convs) add(parse_conv(text, "--conv"), "conv " + text);
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace accsim::sim
