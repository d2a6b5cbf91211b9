#include "sim/flow/op_readers.h"

#include <algorithm>

namespace accsim::sim {
namespace {

bool reads(const OpRequest& r, int port) {
  const auto among = [&](const std::vector<Access>& side) {
    return std::ranges::find(side, port, &Access::port) != side.end();
  };
  if (r.residual == port) return true;
  if (const auto* op = std::get_if<GemmOp>(&r.item))
    return op->a_port == port || op->b_port == port || op->bias_port == port;
  if (const auto* op = std::get_if<VectorOp>(&r.item)) return among(op->inputs);
  return among(std::get<MemoryOp>(r.item).inputs);
}

}  // namespace

OpReaders::OpReaders(const Graph& graph, const Lowered& lowered, const Residency& residency,
                     const hw::HwConfig& hw, std::span<const ChainOp> ops)
    : graph_(graph), lowered_(lowered), residency_(residency), hw_(hw), ops_(ops) {
  const size_t tensors = graph.tensors.size();
  readers_.assign(tensors, 0);
  first_.assign(tensors, -1);
  last_.assign(tensors, -1);
  for (const TensorId id : graph.outputs) ++readers_[root(id)];
  for (size_t i = 0; i < lowered.layers.size(); ++i) {
    const Layer& l = lowered.layers[i];
    if (l.fate == Fate::folded || l.work.empty()) continue;
    for (const TensorId id : l.inputs)
      if (id != kNoTensor) {
        ++readers_[root(id)];
        last_[root(id)] = static_cast<int>(i);
      }
    for (const TensorId id : l.outputs)
      if (id != kNoTensor) {
        if (first_[root(id)] < 0) first_[root(id)] = static_cast<int>(i);
        last_[root(id)] = static_cast<int>(i);
      }
  }
}

std::optional<OpReaders::Reader> OpReaders::only_reader(size_t i, const OperandPort& out,
                                                        int64_t bytes) const {
  if (out.side != OperandPort::Side::output) return std::nullopt;
  if (i + 1 < ops_.size() && ops_[i + 1].layer == ops_[i].layer) return std::nullopt;
  const size_t tensor = written(i, out);
  if (readers_[tensor] != 1 || bytes != bytes_of(tensor)) return std::nullopt;
  for (size_t j = i + 1; j < ops_.size() && ops_[j].layer <= static_cast<size_t>(last_[tensor]);
       ++j) {
    const auto& inputs = layer(j).inputs;
    for (size_t port = 0; port < inputs.size(); ++port) {
      if (inputs[port] == kNoTensor || root(inputs[port]) != tensor) continue;
      if (!reads(*ops_[j].request, static_cast<int>(port))) continue;
      const OperandPort in{OperandPort::Side::input, static_cast<int>(port)};
      const bool alone = j + 1 == ops_.size() || ops_[j + 1].layer != ops_[j].layer ||
                         !reads(*ops_[j + 1].request, static_cast<int>(port));
      return alone ? std::optional(Reader{j, in}) : std::nullopt;
    }
  }
  return std::nullopt;
}

int64_t OpReaders::shared_bytes(std::span<const size_t> ops, std::span<const size_t> except) const {
  const auto from = static_cast<int>(ops_[ops.front()].layer);
  const auto to = static_cast<int>(ops_[ops.back()].layer);
  int64_t out = 0;
  for (size_t id = 0; id < first_.size(); ++id)
    if (residency_.resident[id] && root(static_cast<TensorId>(id)) == id && first_[id] >= 0 &&
        first_[id] <= to && last_[id] >= from && std::ranges::find(except, id) == except.end())
      out += bytes_of(id);
  return out;
}

size_t OpReaders::written(size_t i, const OperandPort& out) const {
  return root(layer(i).outputs[static_cast<size_t>(out.index)]);
}

int64_t OpReaders::bytes_of(size_t id) const {
  const Tensor& t = graph_.tensors[id];
  return elements(t.dims) * element_bytes(hw_, t.dtype);
}

bool OpReaders::on_array(size_t op) const {
  return std::holds_alternative<GemmOp>(ops_[op].request->item);
}

}  // namespace accsim::sim
