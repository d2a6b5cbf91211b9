#include "sim/map/request.h"

#include "sim/base/key_bytes.h"

namespace accsim::sim {
namespace {

/// Of an operand that may be absent, and isn't internal: as stores of sweeps have it in their hash.
int key_if_any(ValuePort port) { return port.is_none() ? -1 : port.key(); }

// Keys take values apart member by member: a member that is added and left out here doesn't
// compile.

void add_to_key(KeyBytes& key, const std::vector<Access>& side) {
  key.add(side.size());
  for (const auto& [port, elements, run] : side) key.add(port.key(), elements, run);
}

void add_to_key(KeyBytes& key, const std::vector<Operand>& side) {
  key.add(side.size());
  for (const auto& [place, element_bytes] : side) {
    const auto& [name, memory, constant, port, pitch] = place;
    static_cast<void>(name);  // for people
    key.add(port.side);       // the index as it stands in the list
    key.add(memory, constant, element_bytes, pitch.run, pitch.pitch);
  }
}

void add_to_key(KeyBytes& key, const GemmOp& op) {
  const auto& [batch, images, channels, outputs, in, out, kernel, stride, dilation, pad, grouped,
               a_shared, b_shared, a_transposed, b_transposed, a_port, b_port, bias_port,
               out_port] = op;
  key.add(batch, images, channels, outputs).add(in).add(out).add(kernel).add(stride).add(dilation);
  key.add(pad).add(grouped, a_shared, b_shared, a_transposed, b_transposed);
  key.add(a_port.key(), b_port.key(), key_if_any(bias_port), out_port.key());
}

void add_to_key(KeyBytes& key, const RowWork& w) {
  const auto& [kind, rows, row_stride, pieces, piece_stride, run, per_channel, channel_stride,
               in_port, out_port, mask, log] = w;
  key.add(kind).add(rows).add(row_stride).add(pieces, piece_stride, run, per_channel);
  key.add(channel_stride).add(in_port.key(), out_port.key(), mask.has_value(), log.has_value());
  if (log) {
    const auto& [log_port, log_row_stride] = *log;
    key.add(log_port.key()).add(log_row_stride);
  }
  if (!mask) return;
  const auto& [port, elements, mask_row_stride, mask_piece_stride] = *mask;
  key.add(port.key(), elements).add(mask_row_stride).add(mask_piece_stride);
}

void add_to_key(KeyBytes& key, const LaneWork& work) {
  const auto& [op, gather, a_port, b_port, axes, across, table] = work;
  key.add(op, gather, a_port.key(), b_port.key(), across, table, axes.size());
  for (const auto& [count, a, b, slide, turned] : axes) {
    const auto& [extent, kernel, stride, dilation, pad, counted_from, counted_to] = slide;
    key.add(count, a, b, extent, kernel, stride, dilation, pad, counted_from, counted_to, turned);
  }
}

void add_to_key(KeyBytes& key, const VectorOp& op) {
  const auto& [inputs, outputs, ops, row, passes, row_work, lane] = op;
  add_to_key(key, inputs);
  add_to_key(key, outputs);
  key.add(ops).add(row, passes, row_work.has_value(), lane.has_value());
  if (row_work) add_to_key(key, *row_work);
  if (lane) add_to_key(key, *lane);
}

void add_to_key(KeyBytes& key, const MemoryOp& op) {
  const auto& [inputs, outputs, axes, spacing, from, to, picked] = op;
  add_to_key(key, inputs);
  add_to_key(key, outputs);
  key.add(spacing).add(from, to, axes.size());
  for (const auto& [count, stride] : axes) key.add(count, stride);
  key.add(picked.has_value());
  if (!picked) return;
  const auto& [groups, rows, row, count, lists] = *picked;
  key.add(groups, rows, row, count, lists);
}

void add_to_key(KeyBytes& key, const hw::PoolLayer& layer) {
  const auto& [width, height, channels, kernel_width, kernel_height, stride_x, stride_y, pad_left,
               pad_top, out_width, out_height, strips] = layer;
  key.add(width, height, channels, kernel_width, kernel_height, stride_x, stride_y, pad_left);
  key.add(pad_top, out_width, out_height, strips.size());
  for (const auto& [strip_width, strip_out] : strips) key.add(strip_width, strip_out);
}

void add_to_key(KeyBytes& key, const hw::LrnLayer& layer) {
  const auto& [width, height, channels, bypass] = layer;
  key.add(width, height, channels, bypass);
}

void add_to_key(KeyBytes& key, const hw::PointLayer& layer) {
  const auto& [width, height, channels, stages] = layer;
  key.add(width, height, channels, stages.size());
  for (const auto& [alu, mul, operand_reads] : stages) key.add(alu, mul, operand_reads);
}

void add_to_key(KeyBytes& key, const UnitWork& work) {
  const auto& [runs, lacks] = work;
  key.add(lacks).add(runs.size());
  for (const auto& [layer, times] : runs) {
    key.add(layer.index(), times);
    std::visit([&](const auto& l) { add_to_key(key, l); }, layer);
  }
}

}  // namespace

Operand operand_of_port(const std::vector<Operand>& side, ValuePort port, const hw::HwConfig& hw) {
  if (port.is_within(side.size())) return side[port.index()];
  return {{"(internal)", hw::MemoryId::dram, false, internal_port(port)}, hw.activation_bytes()};
}

const LayerPorts::Port* LayerPorts::find_port(const OperandPort& port) const {
  if (port.side != OperandPort::Side::input && port.side != OperandPort::Side::output)
    return nullptr;
  const std::vector<Port>& side = port.side == OperandPort::Side::input ? inputs : outputs;
  return side.empty() ? nullptr : &side[static_cast<size_t>(port.index)];
}

OperandPort LayerPorts::layer_port(const OperandPort& port) const {
  const Port* const found = find_port(port);
  return found ? OperandPort{port.side, found->index} : port;
}

int64_t LayerPorts::offset(const OperandPort& port) const {
  const Port* const found = find_port(port);
  return found ? found->offset : 0;
}

std::string key_of(const OpRequest& request) {
  const auto& [item, inputs, outputs, relu, residual, clips_sum, table, room, mode, unit, ports] =
      request;
  static_cast<void>(ports);
  KeyBytes key;
  key.add(item.index(), relu, key_if_any(residual), clips_sum, table, room);
  add_to_key(key, inputs);
  add_to_key(key, outputs);
  std::visit([&](const auto& work) { add_to_key(key, work); }, item);
  // No key is the beginning of another one: what may stand behind it keeps them apart.
  if (mode != hw::kOwnTypes) key.add(mode);
  if (unit) add_to_key(key, *unit);  // of vector ops, which have no mode
  return key.take_bytes();
}

}  // namespace accsim::sim
