#include "sim/map/kept_weights.h"

#include <algorithm>
#include <map>

#include "sim/map/residency.h"

namespace accsim::sim {
namespace {

/// Of a weight, in the widest type that a product may take it in.
int64_t weight_bytes(const hw::HwConfig& hw) {
  int64_t out = hw.weight_bytes();
  for (const hw::TypeMode& mode : hw.types.modes)
    out = std::max<int64_t>(out, bits(mode.weight) / 8);
  return out;
}

/// By constant that is the second operand of a product: its bytes, and those of its parameters.
std::map<TensorId, int64_t> weights(const Graph& graph, const Lowered& lowered,
                                    const hw::HwConfig& hw) {
  std::map<TensorId, int64_t> out;
  for (const Layer& layer : lowered.layers)
    for (const WorkItem& item : layer.work) {
      const auto* op = std::get_if<GemmOp>(&item);
      if (op == nullptr || op->b_port < 0) continue;
      const auto port = static_cast<size_t>(op->b_port);
      const TensorId id = port < layer.inputs.size() ? layer.inputs[port] : kNoTensor;
      if (id == kNoTensor || !graph.tensor(id).constant) continue;
      const int64_t elements = op->k() * op->outputs * (op->b_shared ? 1 : op->batch);
      const int64_t channels = op->n() * (op->b_shared ? 1 : op->batch);
      out[id] = std::max(out[id], elements * weight_bytes(hw) + channels * hw.parameter_bytes());
    }
  return out;
}

}  // namespace

KeptWeights kept_weights(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw) {
  KeptWeights out;
  if (hw.shared.weights != hw::RunWeights::kept) return out;
  const int64_t room = hw.shared.free_bytes() - plan_residency(graph, lowered, hw).peak_bytes;
  std::vector<std::pair<int64_t, TensorId>> smallest;
  for (const auto& [id, bytes] : weights(graph, lowered, hw)) smallest.emplace_back(bytes, id);
  std::ranges::sort(smallest);
  for (const auto& [bytes, id] : smallest) {
    if (bytes > room - out.bytes) break;
    out.bytes += bytes;
    out.tensors.push_back(id);
  }
  return out;
}

hw::HwConfig beside(const KeptWeights& kept, hw::HwConfig hw) {
  hw.shared.kept_bytes = kept.bytes;
  return hw;
}

}  // namespace accsim::sim
