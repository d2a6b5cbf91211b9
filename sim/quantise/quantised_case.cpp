#include "sim/quantise/quantised_case.h"

#include <algorithm>

#include "sim/quantise/int8_network.h"
#include "sim/schedule/chain.h"

namespace accsim::sim {
namespace {

/// Inputs are drawn only for networks whose own fit well into memory.
constexpr int64_t kMostElements = int64_t{1} << 28;

bool can_run(const Graph& graph) {
  const auto drawable = [&](TensorId id) {
    const Tensor& t = graph.tensor(id);
    return t.dtype != DType::string && ref::element_kind(t.dtype) &&
           elements(t.dims) <= kMostElements;
  };
  return ref::check_runnable(graph).ok() && std::ranges::all_of(graph.inputs, drawable);
}

/// Is every stored tensor that a node reads in the file?
bool has_weights(const Graph& graph) {
  const auto there = [&](TensorId id) {
    if (id == kNoTensor) return true;
    const Tensor& t = graph.tensor(id);
    return t.origin != Tensor::Origin::initializer || t.value || ref::stored_array(graph, t);
  };
  return std::ranges::all_of(graph.nodes,
                             [&](const Node& n) { return std::ranges::all_of(n.inputs, there); });
}

/// The tensor as which a part reads input `root` of the graph: floats as themselves, integers maybe
/// as the floats that they are given as.
TensorId read_as(const Graph& graph, const CostedNetwork& network, const NetworkPart& part,
                 size_t i, TensorId root) {
  const OperandPort port = part.ports->layer_port(part.mapping->trace.ports[i]);
  if (is_float(graph.tensor(root).dtype) || port.side != OperandPort::Side::input) return root;
  return network.lowered.layers[part.layer].inputs[static_cast<size_t>(port.index)];
}

/// Puts the inputs where the program reads them.
void put_inputs(const Graph& graph, const CostedNetwork& network, const TensorScales& scales,
                const std::map<TensorId, ref::Array>& inputs, NetworkCase& c) {
  for (const NetworkPart& part : c.network.parts) {
    const std::vector<int32_t> all =
        tensor_numbers(part.mapping->trace, *part.ports, network.tensors[part.layer]);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto found = inputs.find(all[i]);
      if (part.constant[i] || found == inputs.end()) continue;
      const TensorId as = read_as(graph, network, part, i, all[i]);
      if (!is_float(graph.tensor(as).dtype)) continue;
      const Layout& lies = network.lowered.layouts[static_cast<size_t>(as)];
      const auto codes = codes_in_memory(found->second, lies, scales.scale_of(as));
      std::vector<uint8_t>& to = c.image[static_cast<size_t>(part.tensors[i])];
      if (codes.size() <= to.size()) std::ranges::copy(codes, to.begin());
    }
  }
}

}  // namespace

Result<NetworkCase> quantised_network_case(const Graph& graph, const CostedNetwork& network,
                                           const hw::HwConfig& hw, uint64_t seed, int threads) {
  if (!can_run(graph) || !has_weights(graph)) return network_case(graph, network, hw, seed);
  ref::RunOptions options;
  options.threads = threads;
  FloatRuns runs(graph, options, 100, {});
  ref::Arrays by_name;
  std::map<TensorId, ref::Array> inputs;
  for (const TensorId id : graph.inputs)
    inputs[id] = by_name[graph.tensor(id).name] = ref::random_input(graph, id, seed);
  if (const auto run = runs.run_float(by_name); !run) return run.errors();
  const auto scales = TensorScales::make(graph, network, hw, runs.calibration(), runs.constants());
  if (!scales) return scales.errors();
  NetworkConstants numbers(graph, network, hw, runs, *scales);
  int64_t real = 0;
  auto out =
      network_case(graph, network, hw, {.seed = seed, .numbers = [&](const NetworkPart& part) {
                                          auto known = numbers(part);
                                          real += known ? 1 : 0;
                                          return known;
                                        }});
  if (!out) return out;
  out->report.part_constants = real;
  put_inputs(graph, network, *scales, inputs, *out);
  return out;
}

}  // namespace accsim::sim
