#include "sim/schedule/chain.h"

namespace accsim::sim {
namespace {

LayerTensors layer_tensors(const Layer& layer, const Residency& residency, int32_t internal) {
  const auto count = static_cast<int32_t>(residency.root.size());
  LayerTensors out;
  out.own = count;
  out.regions = count + 1;
  out.internal = internal;
  out.end = out.internal + ValuePort::count_internal(layer.inputs.size());
  const auto number = [&](const std::vector<TensorId>& ids, std::vector<int32_t>& to) {
    for (const TensorId id : ids)
      to.push_back(id == kNoTensor ? out.own
                                   : static_cast<int32_t>(residency.root[static_cast<size_t>(id)]));
  };
  number(layer.inputs, out.inputs);
  number(layer.outputs, out.outputs);
  const auto parts = [&](const std::vector<TensorId>& ids, std::vector<SubTensorBytes>& to) {
    for (const TensorId id : ids)
      to.push_back(id == kNoTensor ? SubTensorBytes{}
                                   : residency.sub_tensors[static_cast<size_t>(id)]);
  };
  parts(layer.inputs, out.input_places);
  parts(layer.outputs, out.output_places);
  return out;
}

}  // namespace

std::vector<LayerTensors> network_tensors(const Lowered& lowered, const Residency& residency) {
  std::vector<LayerTensors> out;
  auto internal = static_cast<int32_t>(residency.root.size() + 1 + hw::kMostRegions);
  for (const Layer& layer : lowered.layers) {
    out.push_back(layer_tensors(layer, residency, internal));
    internal = out.back().end;
  }
  return out;
}

SubTensorBytes part_of(const LayerTensors& tensors, const OperandPort& port) {
  const auto i = static_cast<size_t>(port.index);
  if (port.side == OperandPort::Side::input) return tensors.input_places[i];
  return port.side == OperandPort::Side::output ? tensors.output_places[i] : SubTensorBytes{};
}

int64_t offset_in_chain(const LayerTensors& tensors, const LayerPorts& ports,
                        const OperandPort& port, int64_t offset) {
  const SubTensorBytes part = part_of(tensors, ports.layer_port(port));
  return part.offset + part.pitch.offset_of(ports.offset(port) + offset);
}

std::vector<int32_t> tensor_numbers(const OpTrace& trace, const LayerPorts& ports,
                                    const LayerTensors& tensors) {
  std::vector<int32_t> out;
  out.reserve(trace.ports.size());
  for (const OperandPort& own : trace.ports) {
    const OperandPort p = ports.layer_port(own);
    using Side = OperandPort::Side;
    const auto i = static_cast<size_t>(p.index);
    out.push_back(p.side == Side::input      ? tensors.inputs[i]
                  : p.side == Side::output   ? tensors.outputs[i]
                  : p.side == Side::internal ? tensors.internal + p.index
                  : p.side == Side::region   ? tensors.regions + p.index
                                             : tensors.own);
  }
  return out;
}

bool loads_first(const OpTrace& trace) {
  for (const hw::Step& s : trace.steps) {
    if (s.kind == hw::Step::Kind::load) return true;
    if (s.kind == hw::Step::Kind::vector) return false;
  }
  return true;
}

}  // namespace accsim::sim
