#include "sim/schedule/op_readers.h"

#include <numeric>
#include <utility>

namespace accsim::sim {
namespace {

/// Calls `read` with each input that an op reads, by its port; with some more than once.
template <class Read>
void for_each_input(const OpRequest& r, const Read& read) {
  const auto all = [&](const std::vector<Access>& side) {
    for (const Access& a : side) read(a.port);
  };
  read(r.residual);
  if (const auto* op = std::get_if<GemmOp>(&r.item)) {
    for (const ValuePort port : {op->a_port, op->b_port, op->bias_port}) read(port);
  } else if (const auto* vector = std::get_if<VectorOp>(&r.item)) {
    all(vector->inputs);
  } else {
    all(std::get<MemoryOp>(r.item).inputs);
  }
}

}  // namespace

OpReaders::OpReaders(const Graph& graph, const Lowered& lowered, const Residency& residency,
                     const hw::HwConfig& hw, std::span<const ChainOp> ops)
    : graph_(graph), lowered_(lowered), residency_(residency), hw_(hw), ops_(ops) {
  const size_t tensors = graph.tensors.size();
  slots_.assign(tensors, 0);
  readers_.assign(tensors, {});
  first_.assign(tensors, -1);
  last_.assign(tensors, -1);
  for (const TensorId id : graph.outputs) ++slots_[root_of(id)];
  add_layers();
  add_ops();
  add_residents();
}

void OpReaders::add_layers() {
  for (size_t i = 0; i < lowered_.layers.size(); ++i) {
    const Layer& l = lowered_.layers[i];
    if (l.fate == Fate::folded || l.work.empty()) continue;
    for (const TensorId id : l.inputs)
      if (id != kNoTensor) {
        ++slots_[root_of(id)];
        last_[root_of(id)] = static_cast<int>(i);
      }
    for (const TensorId id : l.outputs)
      if (id != kNoTensor) {
        if (first_[root_of(id)] < 0) first_[root_of(id)] = static_cast<int>(i);
        last_[root_of(id)] = static_cast<int>(i);
      }
  }
}

void OpReaders::add_ops() {
  for (size_t i = 0; i < ops_.size(); ++i)
    for_each_input(*ops_[i].request, [&](ValuePort port) {
      if (!port.is_of_node()) return;
      const OperandPort in{OperandPort::Side::input, static_cast<int>(port.index())};
      const auto of_layer = static_cast<size_t>(ops_[i].request->ports.layer_port(in).index);
      const std::vector<TensorId>& inputs = layer_of_op(i).inputs;
      if (of_layer >= inputs.size() || inputs[of_layer] == kNoTensor) return;
      Readers& readers = readers_[root_of(inputs[of_layer])];
      if (readers.ops == 0 || readers.last.op != i) ++readers.ops;
      readers.last = {i, in};
    });
}

void OpReaders::add_residents() {
  begun_.assign(lowered_.layers.size() + 2, 0);
  ended_ = begun_;
  for (size_t id = 0; id < first_.size(); ++id) {
    if (!is_resident(id)) continue;
    begun_[static_cast<size_t>(first_[id]) + 1] += bytes_of(id);
    ended_[static_cast<size_t>(last_[id]) + 1] += bytes_of(id);
  }
  std::partial_sum(begun_.begin(), begun_.end(), begun_.begin());
  std::partial_sum(ended_.begin(), ended_.end(), ended_.begin());
}

std::optional<OpReaders::Reader> OpReaders::only_reader(size_t i, const OperandPort& out,
                                                        int64_t bytes) const {
  if (out.side != OperandPort::Side::output) return std::nullopt;
  if (i + 1 < ops_.size() && ops_[i + 1].layer == ops_[i].layer) return std::nullopt;
  const size_t tensor = written_tensor(i, out);
  const Readers& readers = readers_[tensor];
  if (slots_[tensor] != 1 || readers.ops != 1 || readers.last.op <= i) return std::nullopt;
  return bytes == bytes_of(tensor) ? std::optional(readers.last) : std::nullopt;
}

int64_t OpReaders::shared_bytes(std::span<const size_t> ops, std::span<const size_t> except) const {
  const size_t from = ops_[ops.front()].layer, to = ops_[ops.back()].layer;
  int64_t out = begun_[to + 1] - ended_[from];
  for (const size_t id : except)
    if (is_resident(id) && std::cmp_less_equal(first_[id], to) &&
        std::cmp_greater_equal(last_[id], from))
      out -= bytes_of(id);
  return out;
}

size_t OpReaders::written_tensor(size_t i, const OperandPort& out) const {
  const OperandPort port = ops_[i].request->ports.layer_port(out);
  return root_of(layer_of_op(i).outputs[static_cast<size_t>(port.index)]);
}

int64_t OpReaders::bytes_of(size_t id) const {
  const Tensor& t = graph_.tensors[id];
  return elements(t.dims) * element_bytes(hw_, t.dtype);
}

bool OpReaders::on_array(size_t op) const {
  return std::holds_alternative<GemmOp>(ops_[op].request->item);
}

}  // namespace accsim::sim
