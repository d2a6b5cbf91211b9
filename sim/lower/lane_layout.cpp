#include "sim/lower/lane_layout.h"

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

bool slides_over_channels(const OpRow& row) {
  return row.kind == OpKind::convolution || row.kind == OpKind::pooling;
}

}  // namespace

LaneLayouts::LaneLayouts(const Graph& graph)
    : graph_(graph), channels_last_(graph.tensors.size(), false) {
  const auto rank = [&](TensorId id) { return graph.tensor(id).dims.size(); };
  const auto mark = [&](TensorId id) { channels_last_[static_cast<size_t>(id)] = rank(id) > 2; };
  for (const Node& node : graph.nodes) {
    const OpRow* row = find_op(node);
    if (!row || node.inputs.empty() || node.inputs[0] == kNoTensor) continue;
    if (slides_over_channels(*row) && graph.tensor(node.inputs[0]).producer == kNoNode)
      mark(node.inputs[0]);
  }
  for (const Node& node : graph.nodes) {
    const OpRow* row = find_op(node);
    if (!row || node.outputs.empty() || node.outputs[0] == kNoTensor) continue;
    bool last = slides_over_channels(*row);
    const Dims& out = graph.tensor(node.outputs[0]).dims;
    const bool moves_dims = row->fusion == Fusion::turn || row->fate == Fate::gemm;
    if (!moves_dims)
      for (const TensorId id : node.inputs)
        if (id != kNoTensor && channels_last(id) && !graph.tensor(id).constant)
          last |= row->fate == Fate::view ? graph.tensor(id).dims == out : rank(id) == out.size();
    if (!last) continue;
    for (const TensorId id : node.outputs)
      if (id != kNoTensor) mark(id);
  }
}

std::vector<int64_t> LaneLayouts::strides(TensorId id) const {
  const Dims& dims = graph_.tensor(id).dims;
  std::vector<int64_t> out(dims.size(), 1);
  int64_t stride = 1;
  const auto place = [&](size_t dim) {
    out[dim] = stride;
    stride *= dims[dim];
  };
  const bool last = channels_last(id);
  if (last) place(1);
  for (size_t i = dims.size(); i-- > 0;)
    if (!last || i != 1) place(i);
  return out;
}

}  // namespace accsim::sim
