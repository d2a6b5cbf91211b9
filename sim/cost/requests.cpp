#include "sim/cost/requests.h"

#include <algorithm>

#include "sim/cost/compare_bytes.h"
#include "sim/cost/unit_layers.h"

namespace accsim::sim {
namespace {

std::vector<Operand> layer_operands(const Graph& graph, const Residency& residency,
                                    const hw::HwConfig& hw, const std::vector<TensorId>& ids,
                                    OperandPort::Side side) {
  std::vector<Operand> out;
  for (TensorId id : ids) {
    if (id == kNoTensor) {
      out.push_back({{"(absent)", hw::MemoryId::dram, false}, hw.activation_bytes()});
      continue;
    }
    const Tensor& t = graph.tensor(id);
    const bool resident = residency.resident[static_cast<size_t>(id)];
    const OperandPort port{side, static_cast<int>(out.size())};
    // Views and parts of one tensor have its name: they take its room once.
    const TensorId root = residency.root[static_cast<size_t>(id)];
    const Pitch& pitch = residency.sub_tensors[static_cast<size_t>(id)].pitch;
    const std::string& name = resident || !pitch.is_dense() ? graph.tensor(root).name : t.name;
    out.push_back(
        {{name, resident ? hw::MemoryId::shared : hw::MemoryId::dram, t.constant, port, pitch},
         element_bytes(hw, t.dtype)});
  }
  return out;
}

/// Which of the inputs the layer's product adds. A copy that the layer makes of it before is one
/// more.
ValuePort residual_of(const Layer& layer, const hw::HwConfig& hw, std::vector<Operand>& inputs) {
  if (std::ranges::find(layer.copies, layer.residual, &PortLayout::port) == layer.copies.end())
    return layer.residual;
  const OperandPort copy = internal_port(copy_port(layer.residual));
  inputs.push_back({{"(internal)", hw::MemoryId::dram, false, copy}, hw.activation_bytes()});
  return static_cast<int>(inputs.size()) - 1;
}

/// Have post and vector unit room for a table in their parameter slots, and operands that index it?
bool has_tables(const hw::HwConfig& hw) {
  return hw.computes_int8() &&
         hw.buffer(hw::Buffer::parameter).slot_bytes() >= hw::SetTableCommand::kBytes;
}

/// Does the layer's product do its function beside its own work? What is affine is part of the
/// requantisation, or of floats that are known off line.
bool is_beside(const Graph& graph, const Layer& layer, const hw::HwConfig& hw) {
  if (layer.function.empty()) return true;
  if (!layer.function.affine) return has_tables(hw);
  const ValuePort b = std::get<GemmOp>(layer.work.back()).b_port;
  return !is_float(hw.types.accumulator) ||
         (b.is_of_node() && graph.tensor(layer.inputs[b.index()]).constant);
}

/// The function of a product that can't do it, and what follows: behind the product, in place.
OpRequest function_request(const Layer& layer, OpRequest& product) {
  OpRequest out;
  VectorOp op = layer.function.work;
  const int64_t count = op.outputs[0].elements;
  out.inputs = out.outputs = {product.outputs[0]};
  if (product.residual.is_of_node()) {
    out.inputs.push_back(product.inputs[product.residual.index()]);
    op.inputs.push_back({1, count, 0});
    op[VectorClass::elementwise] += count * (product.clips_sum ? 2 : 1);
    product.residual = ValuePort::none();
    product.clips_sum = false;
  }
  if (layer.function.affine && product.relu) {
    op[VectorClass::elementwise] += count;
    product.relu = false;
  }
  out.item = std::move(op);
  return out;
}

/// A function by a table, or by a factor and a sum: an operation an element.
void look_up(VectorOp& op) {
  op.ops = {};
  op[VectorClass::elementwise] = op.outputs[0].elements;
}

/// The operands of some ports of a layer, as an op that knows no others has them.
struct OwnOperands {
  std::vector<Operand> operands;
  std::vector<LayerPorts::Port> ports;

  /// The op's port for one of the layer's.
  ValuePort take_port(ValuePort port, OperandPort::Side side, const std::vector<Operand>& layer) {
    if (!port.is_of_node()) return port;
    const auto index = static_cast<int>(port.index());
    const auto known = std::ranges::find(ports, index, &LayerPorts::Port::index);
    if (known != ports.end()) return static_cast<int>(known - ports.begin());
    const auto own = static_cast<int>(ports.size());
    ports.push_back({index});
    operands.push_back(layer[port.index()]);
    if (operands.back().place.port.side == side) operands.back().place.port.index = own;
    return own;
  }
};

/// Gives a move that says where its elements lie operands that begin with the first of them.
void begin_with_elements(MemoryOp& op, OwnOperands& in, OwnOperands& out) {
  if (op.axes.empty() || op.inputs.size() != 1 || op.outputs.size() != 1) return;
  if (std::ranges::find(op.axes, 0, &MoveAxis::stride) != op.axes.end()) return;
  const auto shift = [](OwnOperands& side, ValuePort port, int64_t elements, int64_t& first) {
    if (!port.is_of_node()) return;
    const Operand& o = side.operands[port.index()];
    if (o.place.constant || !o.place.pitch.is_dense()) return;
    side.ports[port.index()].offset = elements * o.element_bytes;
    first -= elements;
  };
  int64_t least = op.from;
  for (const MoveAxis& a : op.axes) least += std::min<int64_t>(0, a.stride) * (a.count - 1);
  shift(in, op.inputs[0].port, least, op.from);
  shift(out, op.outputs[0].port, op.to, op.to);
}

/// A move knows only what it moves: equal ones are one request, wherever in its layer's operands
/// their elements lie. A layer of many operands, of which each of its moves has one, has no more
/// of them to know than it has moves.
OpRequest move_request(const MemoryOp& of_layer, const OpRequest& layer) {
  OpRequest out;
  MemoryOp op = of_layer;
  OwnOperands in, written;
  for (Access& a : op.inputs) a.port = in.take_port(a.port, OperandPort::Side::input, layer.inputs);
  for (Access& a : op.outputs)
    a.port = written.take_port(a.port, OperandPort::Side::output, layer.outputs);
  begin_with_elements(op, in, written);
  out.item = std::move(op);
  out.inputs = std::move(in.operands);
  out.outputs = std::move(written.operands);
  out.ports = {std::move(in.ports), std::move(written.ports)};
  return out;
}

/// Bytes of the shared buffer that no tensor ever has, for a product whose weights may be staged
/// there: its operands come from DRAM.
int64_t room_for_weights(const WorkItem& item, const OpRequest& request, int64_t taken,
                         const hw::HwConfig& hw) {
  const auto* op = std::get_if<GemmOp>(&item);
  if (!op || !op->a_port.is_of_node() || !op->b_port.is_of_node()) return 0;
  const auto bytes = [&](ValuePort port, int64_t elements) {
    const Operand& o = request.inputs[port.index()];
    return o.place.memory == hw::MemoryId::dram ? elements * o.element_bytes : 0;
  };
  const int64_t pixels = op->images * op->in[0] * op->in[1] * op->in[2];
  const int64_t weights = bytes(op->b_port, op->k() * op->outputs);
  if (bytes(op->a_port, pixels * op->channels) == 0) return 0;
  // Twice its weights are room enough; requests are equal more often.
  return std::min(2 * weights, hw.shared.free_bytes() - taken);
}

}  // namespace

std::vector<OpRequest> layer_requests(const Graph& graph, const Layer& layer,
                                      const Residency& residency, const hw::HwConfig& hw,
                                      bool all_room) {
  std::vector<OpRequest> out;
  if (is_view(layer, hw)) return out;
  OpRequest request;
  request.inputs = layer_operands(graph, residency, hw, layer.inputs, OperandPort::Side::input);
  request.outputs = layer_operands(graph, residency, hw, layer.outputs, OperandPort::Side::output);
  const ValuePort residual = residual_of(layer, hw, request.inputs);
  if (const auto compared = compared_bytes(graph, layer); compared && has_tables(hw)) {
    const auto both = compare_requests(*compared, request);
    return {both.begin(), both.end()};
  }
  std::optional<UnitWork> on_units;
  if (hw.has_side_units()) on_units = unit_work(graph, layer, hw);
  for (const WorkItem& item : layer.work) {
    if (const auto* move = std::get_if<MemoryOp>(&item)) {
      out.push_back(move_request(*move, request));
      continue;
    }
    request.item = item;
    request.room = room_for_weights(item, request, all_room ? 0 : residency.end, hw);
    const bool last = &item == &layer.work.back();
    request.relu = layer.relu && last;
    request.residual = last ? residual : ValuePort::none();
    request.clips_sum = layer.clips_sum && last;
    request.unit = std::holds_alternative<VectorOp>(item) ? on_units : std::nullopt;
    if (!last || layer.function.empty()) {
      out.push_back(request);
    } else if (auto* vector = std::get_if<VectorOp>(&request.item)) {
      if (has_tables(hw)) look_up(*vector);
      out.push_back(request);
    } else if (is_beside(graph, layer, hw)) {
      request.table = !layer.function.affine;
      out.push_back(request);
    } else {
      const OpRequest function = function_request(layer, request);
      out.push_back(request);
      out.push_back(function);
    }
  }
  return out;
}

}  // namespace accsim::sim
