#include "sim/lower/channel_chain.h"

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Roles of a constant that has one number a channel, whatever its dims.
bool is_of_channels(PortRole role) {
  return role == PortRole::gain || role == PortRole::shift || role == PortRole::mean ||
         role == PortRole::variance;
}

/// The axis of a constant that broadcasts to `rank` dims along which its channels are; nullopt
/// where it has none, or other axes, too.
std::optional<int64_t> channel_axis(const Dims& constant, const Dims& with) {
  const auto missing = std::ssize(with) - std::ssize(constant);
  const int64_t axis = 1 - missing;
  if (axis < 0 || with.size() < 2 || missing < 0) return std::nullopt;
  const int64_t channels = constant[static_cast<size_t>(axis)];
  return channels == with[1] && elements(constant) == channels ? std::optional(axis) : std::nullopt;
}

}  // namespace

bool works_on_channels(const Graph& graph, const Node& node, TensorId of) {
  const OpRow* row = find_op(node);
  const Dims& dims = graph.tensor(of).dims;
  if (!row || node.folded || row->random || dims.size() < 3) return false;
  if (!row->pointwise && row->weights != WeightLayout::gain) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoTensor) return false;
  const Tensor& out = graph.tensor(node.outputs[0]);
  if (out.dims != dims || !is_float(out.dtype)) return false;
  for (size_t port = 0; port < node.inputs.size(); ++port) {
    const TensorId id = node.inputs[port];
    if (id == kNoTensor || id == of) continue;
    const Tensor& t = graph.tensor(id);
    if (!t.constant) return false;
    const bool states = row->role_of(port) == PortRole::setting || elements(t.dims) == 1;
    if (!states && !is_of_channels(row->role_of(port)) && !channel_axis(t.dims, dims)) return false;
  }
  return true;
}

std::vector<NodeId> channel_chain_behind(const NodeRewrites& rewrites, TensorId of) {
  std::vector<NodeId> out;
  while (const Node* reader = rewrites.sole_reader_of(of)) {
    if (!works_on_channels(rewrites.graph(), *reader, of)) break;
    out.push_back(rewrites.id_of(*reader));
    of = reader->outputs[0];
  }
  return out;
}

std::vector<TensorId> inputs_in_order(RebuiltGraph& graph, const Node& node, TensorId of,
                                      TensorId to, const std::vector<int64_t>& order) {
  const OpRow* row = find_op(node);
  const Dims dims = graph.dims(of);
  std::vector<TensorId> out = node.inputs;
  for (size_t port = 0; port < out.size(); ++port) {
    if (out[port] == kNoTensor) continue;
    if (out[port] == of) {
      out[port] = to;
      continue;
    }
    const Dims constant = graph.dims(out[port]);
    const auto axis = is_of_channels(row->role_of(port)) ? std::optional<int64_t>(0)
                                                         : channel_axis(constant, dims);
    if (axis && elements(constant) > 1)
      out[port] = ordered_constant(graph, out[port], *axis, order,
                                   node.name + "/in_order_" + std::to_string(port));
  }
  return out;
}

bool is_fixed_convolution(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node);
  if (!row || node.folded || row->weights != WeightLayout::oihw || node.outputs.size() != 1)
    return false;
  const NodeView view(graph, node);
  if (view.attr("group", int64_t{1}) != 1 || view.attr("channels_last", int64_t{0}) != 0)
    return false;
  for (size_t port = 1; port < node.inputs.size(); ++port) {
    if (node.inputs[port] != kNoTensor && !graph.tensor(node.inputs[port]).constant) return false;
    const PortRole role = row->role_of(port);
    if (role != PortRole::weight && role != PortRole::bias) return false;
  }
  return true;
}

std::vector<TensorId> convolution_in_order(RebuiltGraph& graph, const Node& node,
                                           const std::vector<int64_t>& order) {
  std::vector<TensorId> out = node.inputs;
  for (size_t port = 1; port < out.size(); ++port)
    if (out[port] != kNoTensor)
      out[port] = ordered_constant(graph, out[port], 0, order,
                                   node.name + "/in_order_" + std::to_string(port));
  return out;
}

}  // namespace accsim::sim
