#include "sim/cost/compare_bytes.h"

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr size_t kZero = 128;  ///< the entry of 0

LaneAxis whole_axis(int64_t count, int64_t a, int64_t b) {
  return {count, a, b, {.extent = count, .counted_to = count}};
}

VectorOp lane_step(std::vector<Access> inputs, Access output, LaneWork lane) {
  VectorOp out;
  out[VectorClass::elementwise] = inputs.front().elements;
  out.inputs = std::move(inputs);
  out.outputs = {output};
  out.lane = std::move(lane);
  return out;
}

}  // namespace

std::optional<ComparedBytes> compared_bytes(const Graph& graph, const Layer& layer) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.node)];
  const OpRow* row = find_op(node);
  if (!row || row->lane != LaneRule::equal || layer.work.size() != 1 || !layer.function.empty() ||
      layer.inputs != node.inputs || layer.outputs.empty() || layer.outputs[0] == kNoTensor)
    return std::nullopt;
  ComparedBytes out;
  if (graph.tensor(layer.inputs[0]).constant) std::swap(out.port, out.constant_port);
  const Tensor& x = graph.tensor(layer.inputs[out.port.index()]);
  const Tensor& c = graph.tensor(layer.inputs[out.constant_port.index()]);
  if (x.constant || !c.constant || elements(c.dims) != 1) return std::nullopt;
  const int64_t bytes = storage_bytes(x.dtype, 1);
  if (is_float(x.dtype) || bytes <= 1) return std::nullopt;
  if (x.dims != graph.tensor(layer.outputs[0]).dims) return std::nullopt;
  out.integers = elements(x.dims);
  out.bytes = bytes;
  return out;
}

std::array<OpRequest, 2> compare_requests(const ComparedBytes& c, OpRequest layer) {
  const int64_t all = c.integers * c.bytes;
  for (const ValuePort port : {c.port, c.constant_port})
    layer.inputs[port.index()].element_bytes = 1;
  OpRequest differ = layer, equal = std::move(layer);
  LaneWork by_byte, together;
  by_byte.op = LaneArithmetic::sub;
  by_byte.a_port = c.port;
  by_byte.b_port = c.constant_port;
  by_byte.axes = {whole_axis(c.integers, c.bytes, 0), whole_axis(c.bytes, 1, 1)};
  together.gather = LaneGather::max;
  together.a_port = kInternalPort;
  together.axes = {whole_axis(c.integers, c.bytes, 0)};
  together.across = c.bytes;
  by_byte.table = together.table = true;
  differ.item = lane_step({{c.port, all, 0}, {c.constant_port, c.bytes, 0}},
                          {kInternalPort, all, 0}, std::move(by_byte));
  equal.item = lane_step({{kInternalPort, all, 0}}, {0, c.integers, 0}, std::move(together));
  return {std::move(differ), std::move(equal)};
}

std::array<int8_t, 256> difference_table() {
  std::array<int8_t, 256> out;
  out.fill(1);
  out[kZero] = 0;
  return out;
}

std::array<int8_t, 256> equality_table() {
  std::array<int8_t, 256> out{};
  out[kZero] = 1;
  return out;
}

}  // namespace accsim::sim
