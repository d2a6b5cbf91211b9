#include "sim/flow/requests.h"

namespace accsim::sim {
namespace {

std::vector<Operand> operands(const Graph& graph, const Residency& residency,
                              const hw::HwConfig& hw, const std::vector<TensorId>& ids,
                              OperandPort::Side side) {
  std::vector<Operand> out;
  for (TensorId id : ids) {
    if (id == kNoTensor) {
      out.emplace_back();
      continue;
    }
    const Tensor& t = graph.tensor(id);
    const bool resident = residency.resident[static_cast<size_t>(id)];
    const OperandPort port{side, static_cast<int>(out.size())};
    out.push_back({{t.name, resident ? hw::Memory::shared : hw::Memory::dram, t.constant, port},
                   element_bytes(hw, t.dtype)});
  }
  return out;
}

}  // namespace

std::vector<OpRequest> requests(const Graph& graph, const Layer& layer, const Residency& residency,
                                const hw::HwConfig& hw) {
  std::vector<OpRequest> out;
  if (layer.work.empty()) return out;
  OpRequest request;
  request.inputs = operands(graph, residency, hw, layer.inputs, OperandPort::Side::input);
  request.outputs = operands(graph, residency, hw, layer.outputs, OperandPort::Side::output);
  for (const WorkItem& item : layer.work) {
    request.item = item;
    const bool last = &item == &layer.work.back();
    request.relu = layer.relu && last;
    request.residual = last ? layer.residual : -1;
    request.clips_sum = layer.clips_sum && last;
    out.push_back(request);
  }
  return out;
}

}  // namespace accsim::sim
