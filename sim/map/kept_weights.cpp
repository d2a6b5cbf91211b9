#include "sim/map/kept_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hw/config/type_modes.h"
#include "sim/base/sums.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/map/residency.h"

namespace accsim::sim {
namespace {

/// Bytes of the weights of a product and of its parameters, as its programs have them, in whichever
/// of the machine's modes takes the most.
int64_t bytes_of(const GemmOp& op, bool table, const hw::HwConfig& machine) {
  int64_t out = 0;
  for (int mode = hw::kOwnTypes; mode + 1 < hw::mode_count(machine); ++mode) {
    const hw::HwConfig hw = hw::machine_of_mode(machine, mode);
    GemmProblem p = make_problem(op, hw);
    p.b.constant = true;
    p.epilogue.table = table;
    choose_weights(p, hw);
    const int64_t elements = op.k() * op.outputs * (op.b_shared ? 1 : op.batch);
    out = std::max(out, elements * p.b_bytes() + p.all_parameters());
  }
  return out;
}

/// By constant that is the second operand of a product: its bytes, and those of its parameters.
std::map<TensorId, int64_t> product_weights(const Graph& graph, const Lowered& lowered,
                                            const hw::HwConfig& hw) {
  std::map<TensorId, int64_t> out;
  for (const Layer& layer : lowered.layers)
    for (const WorkItem& item : layer.work) {
      const auto* op = std::get_if<GemmOp>(&item);
      if (op == nullptr || !op->b_port.is_of_node()) continue;
      const auto port = op->b_port.index();
      const TensorId id = port < layer.inputs.size() ? layer.inputs[port] : kNoTensor;
      if (id == kNoTensor || !graph.tensor(id).constant) continue;
      const bool table = !layer.function.empty() && !layer.function.affine;
      out[id] = std::max(out[id], bytes_of(*op, table, hw));
    }
  return out;
}

/// Those of Graph::on_chip, whether they fit or not.
KeptWeights on_chip_tensors(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw) {
  KeptWeights out;
  if (graph.on_chip.empty()) return out;
  const std::map<TensorId, int64_t> weights = product_weights(graph, lowered, hw);
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& t = graph.tensors[i];
    if (std::ranges::find(graph.on_chip, t.name) == graph.on_chip.end()) continue;
    const auto id = static_cast<TensorId>(i);
    const auto weight = weights.find(id);
    const int64_t bytes = multiply_counts(elements(t.dims), element_bytes(hw, t.dtype));
    out.tensors.push_back(id);
    out.bytes = add_counts(out.bytes, weight == weights.end() ? bytes : weight->second);
  }
  return out;
}

}  // namespace

Status check_on_chip(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw) {
  const int64_t bytes = on_chip_tensors(graph, lowered, hw).bytes;
  if (bytes <= hw.shared.free_bytes()) return ok();
  return Error{Errc::capacity,
               fmt::format("operands that lie in the shared buffer take {} bytes, and it has {}",
                           bytes, hw.shared.free_bytes()),
               ""};
}

KeptWeights kept_weights(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw) {
  KeptWeights out = on_chip_tensors(graph, lowered, hw);
  if (hw.shared.weights != hw::RunWeights::kept) return out;
  const int64_t room = hw.shared.free_bytes() - plan_residency(graph, lowered, hw).end;
  std::vector<std::pair<int64_t, TensorId>> smallest;
  for (const auto& [id, bytes] : product_weights(graph, lowered, hw))
    if (std::ranges::find(out.tensors, id) == out.tensors.end()) smallest.emplace_back(bytes, id);
  std::ranges::sort(smallest);
  for (const auto& [bytes, id] : smallest) {
    if (bytes > room - out.bytes) break;
    out.bytes += bytes;
    out.tensors.push_back(id);
  }
  return out;
}

hw::HwConfig machine_beside(const KeptWeights& kept, hw::HwConfig hw) {
  hw.shared.kept_bytes = kept.bytes;
  return hw;
}

}  // namespace accsim::sim
