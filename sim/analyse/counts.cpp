#include <algorithm>
#include <optional>

#include "sim/analyse/analysis.h"
#include "sim/analyse/op_kinds.h"
#include "sim/lower/per_channel.h"
#include "sim/operators/node_view.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

int64_t output_elements(const Graph& graph, const Node& node) {
  const bool has = !node.outputs.empty() && node.outputs[0] != kNoTensor;
  return has ? elements(graph.tensor(node.outputs[0]).dims) : 0;
}

/// The bias that the product itself has. A BatchNormalization has the port of its weights, which
/// are made of all its constants.
bool has_own_bias(const GemmOp& gemm) {
  return gemm.bias_port.is_of_node() && gemm.bias_port != gemm.b_port;
}

/// The bias of a convolution that adds it where its products land, none of which then has it;
/// kNoPort: none.
int landed_bias_port(const Node& node, const Layer& layer) {
  const OpRow* row = find_op(node);
  if (!row || row->kind != OpKind::convolution || layer.work.empty()) return kNoPort;
  const int port = row->port_of(PortRole::bias);
  const auto at = static_cast<size_t>(port);
  if (port < 0 || at >= node.inputs.size() || node.inputs[at] == kNoTensor) return kNoPort;
  const bool in_product = std::ranges::any_of(layer.work, [](const WorkItem& item) {
    const auto* gemm = std::get_if<GemmOp>(&item);
    return gemm && has_own_bias(*gemm);
  });
  return in_product ? kNoPort : port;
}

const Node& node_of(const Graph& graph, const Layer& layer) {
  return graph.nodes[static_cast<size_t>(layer.node)];
}

/// The layer whose work writes what a tensor shows; nullptr where none does.
const Layer* writer_of(const Graph& graph, const Lowered& lowered, TensorId id) {
  for (NodeId at = graph.tensor(id).producer; at != kNoNode; at = graph.tensor(id).producer) {
    const Layer& layer = lowered.layers[static_cast<size_t>(at)];
    if (!is_view(graph, layer)) return layer.outputs[0] == id ? &layer : nullptr;
    id = layer.inputs[0];
  }
  return nullptr;
}

/// Are constants added to the columns or channels of what a product without a bias writes?
bool adds_bias(const Graph& graph, const Lowered& lowered, TensorId to, TensorId addend) {
  const Layer* layer = writer_of(graph, lowered, to);
  if (!layer || layer->work.empty()) return false;
  const auto* gemm = std::get_if<GemmOp>(&layer->work.back());
  if (!gemm || gemm->bias_port.is_of_node()) return false;
  const Node& product = node_of(graph, *layer);
  const Dims &sum = graph.tensor(to).dims, &result = graph.tensor(layer->outputs[0]).dims;
  // Of a convolution's dims the channels are the second one, in views too if they start as it does.
  const bool starts_alike = sum.size() > 1 && result.size() > 1 && sum[0] == result[0];
  if (kind_of(product) == OpKind::convolution && !starts_alike) return false;
  return is_per_channel(graph.tensor(addend).dims, sum, product, *gemm);
}

/// The constant input of an Add that is the bias of the product before it; kNoPort: none.
int added_bias_port(const Graph& graph, const Lowered& lowered, const Node& node) {
  const OpRow* row = find_op(node);
  if (!row || row->fusion != Fusion::bias || node.folded || node.inputs.size() != 2) return kNoPort;
  for (const size_t port : {size_t{0}, size_t{1}}) {
    const TensorId addend = node.inputs[port], to = node.inputs[1 - port];
    if (addend == kNoTensor || to == kNoTensor || !graph.tensor(addend).constant) continue;
    if (graph.tensor(node.outputs[0]).dims != graph.tensor(to).dims) continue;
    if (adds_bias(graph, lowered, to, addend)) return static_cast<int>(port);
  }
  return kNoPort;
}

/// Elements of each port that the work moves; -1: all. Ports that it doesn't name move nothing.
class Moved {
 public:
  Moved(const Layer& layer, const Node& node)
      : in_(node.inputs.size(), 0), out_(node.outputs.size(), 0) {
    for (const WorkItem& item : layer.work)
      std::visit([this](const auto& work) { add_work(work); }, item);
    // The factor and the addend of each channel are made of all that the node has for them.
    const OpRow* row = find_op(node);
    if (row && row->weights == WeightLayout::gain && !layer.work.empty())
      std::fill(in_.begin(), in_.end(), -1);
  }
  int64_t elements_in(size_t port) const { return in_[port]; }
  int64_t elements_out(size_t port) const { return out_[port]; }

 private:
  static void add_to(std::vector<int64_t>& side, ValuePort port, int64_t elements) {
    if (!port.is_within(side.size())) return;
    int64_t& moved = side[port.index()];
    if (elements < 0 || moved < 0 || __builtin_add_overflow(moved, elements, &moved)) moved = -1;
  }
  void add_work(const GemmOp& gemm) {
    for (const ValuePort port : {gemm.a_port, gemm.b_port, gemm.bias_port}) add_to(in_, port, -1);
    add_to(out_, gemm.out_port, -1);
  }
  void add_work(const auto& op) {
    for (const Access& a : op.inputs) add_to(in_, a.port, a.elements);
    for (const Access& a : op.outputs) add_to(out_, a.port, a.elements);
  }

  std::vector<int64_t> in_, out_;
};

/// How the weights of a node are stored: `per_element` numbers in an element of port `port`.
struct Packed {
  size_t port = 0;
  int64_t per_element = 1;
};

std::optional<Packed> packed_weights(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node);
  const int port = row && row->packs_weights ? row->port_of(PortRole::weight) : kNoPort;
  if (port < 0 || static_cast<size_t>(port) >= node.inputs.size()) return std::nullopt;
  const NodeView view(graph, node);
  const int64_t stored = bits(view.dtype(static_cast<size_t>(port)));
  const int64_t width = std::clamp<int64_t>(view.attr("bits", int64_t{4}), 1, 8);
  return Packed{static_cast<size_t>(port), std::max<int64_t>(1, stored < 8 ? 1 : stored / width)};
}

/// Stored elements of an input that are read; -1: all. Of packed weights the work counts numbers,
/// and scales and zero points, which it doesn't name where they are constants, are read with them.
int64_t stored_part(const Graph& graph, const Node& node, const Moved& moved, size_t port) {
  const std::optional<Packed> packed = packed_weights(graph, node);
  if (!packed || !graph.tensor(node.inputs[packed->port]).constant) return moved.elements_in(port);
  const int64_t numbers = moved.elements_in(packed->port);
  if (port == packed->port) return numbers < 0 ? numbers : ceil_div(numbers, packed->per_element);
  if (!states_quantisation(find_op(node)->role_of(port)) || moved.elements_in(port) != 0)
    return moved.elements_in(port);
  const int64_t weights = elements(graph.tensor(node.inputs[packed->port]).dims);
  int64_t all = 0, read = 0;
  if (numbers < 0 || __builtin_mul_overflow(weights, packed->per_element, &all) || all == 0 ||
      __builtin_mul_overflow(elements(graph.tensor(node.inputs[port]).dims), std::min(numbers, all),
                             &read))
    return -1;
  return ceil_div(read, all);
}

}  // namespace

int64_t macs_of(const Graph& graph, const Lowered& lowered, const Layer& layer,
                MacConvention convention) {
  const Node& node = node_of(graph, layer);
  int64_t macs = layer.macs;
  if (convention == MacConvention::pure || node.folded) return macs;
  for (const WorkItem& item : layer.work)
    if (const auto* gemm = std::get_if<GemmOp>(&item); gemm && has_own_bias(*gemm))
      macs += gemm->batch * gemm->m() * gemm->n();
  if (landed_bias_port(node, layer) != kNoPort) return macs + output_elements(graph, node);
  if (added_bias_port(graph, lowered, node) != kNoPort) return macs + output_elements(graph, node);
  if (convention == MacConvention::bias) return macs;
  const bool has_input = !node.inputs.empty() && node.inputs[0] != kNoTensor;
  switch (kind_of(node)) {
    case OpKind::normalization:
      return macs + 2 * output_elements(graph, node);
    case OpKind::pooling:
      return macs + (has_input ? elements(graph.tensor(node.inputs[0]).dims) : 0);
    case OpKind::elementwise:
      return macs + output_elements(graph, node);
    case OpKind::convolution:
    case OpKind::other:
      return macs;
  }
  return macs;
}

void count_traffic(const Graph& graph, const Layer& layer, NodeAnalysis& out) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.node)];
  if (node.folded || out.view) return;
  const Moved moved(layer, node);
  const auto bytes = [&](TensorId id, int64_t part) {
    const Tensor& t = graph.tensor(id);
    const int64_t all = elements(t.dims);
    return storage_bytes(t.dtype, part < 0 ? all : std::min(part, all));
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    const bool again = std::find(node.inputs.begin(), node.inputs.begin() + static_cast<long>(i),
                                 id) != node.inputs.begin() + static_cast<long>(i);
    if (id == kNoTensor || again) continue;
    int64_t& sum = graph.tensor(id).constant ? out.weight_read_bytes : out.activation_read_bytes;
    sum += bytes(id, stored_part(graph, node, moved, i));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoTensor)
      out.write_bytes += bytes(node.outputs[i], moved.elements_out(i));
}

std::vector<bool> find_biases(const Graph& graph, const Lowered& lowered) {
  std::vector<bool> out(graph.tensors.size(), false);
  const auto mark = [&](const Node& node, int port) {
    if (port < 0 || static_cast<size_t>(port) >= node.inputs.size()) return;
    TensorId id = node.inputs[static_cast<size_t>(port)];
    // A constant that was reshaped, cast or dequantised on its way is the bias as well.
    while (id != kNoTensor && graph.tensor(id).constant) {
      out[static_cast<size_t>(id)] = true;
      const NodeId producer = graph.tensor(id).producer;
      if (producer == kNoNode) return;
      const auto& inputs = graph.nodes[static_cast<size_t>(producer)].inputs;
      if (inputs.empty() || inputs[0] == kNoTensor) return;
      if (elements(graph.tensor(inputs[0]).dims) != elements(graph.tensor(id).dims)) return;
      id = inputs[0];
    }
  };
  for (const Layer& layer : lowered.layers) {
    const Node& node = graph.nodes[static_cast<size_t>(layer.node)];
    mark(node, shift_port(node));
    for (const WorkItem& item : layer.work)
      if (const auto* gemm = std::get_if<GemmOp>(&item); gemm && has_own_bias(*gemm))
        mark(node, static_cast<int>(gemm->bias_port.index()));
    mark(node, landed_bias_port(node, layer));
    mark(node, added_bias_port(graph, lowered, node));
  }
  return out;
}

}  // namespace accsim::sim
