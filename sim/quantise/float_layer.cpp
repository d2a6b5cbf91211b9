#include "sim/quantise/float_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/lower/handed_on.h"

namespace accsim::sim {
namespace {

/// The layer's nodes as a graph of their own, its tensors named by their numbers.
class LayerGraph {
 public:
  LayerGraph(const Graph& whole, const Lowered& lowered, size_t layer) : whole_(whole) {
    graph_.file = whole.file;
    graph_.opset = whole.opset;
    graph_.ir_version = whole.ir_version;
    for (const Layer& l : lowered.layers) {
      const bool is_pitched =
          l.node == lowered.layers[layer].node || l.merged_into == static_cast<int>(layer);
      if (is_pitched) add_with_casts(whole.nodes[static_cast<size_t>(l.node)]);
    }
    // What the layer gives when it is costed may be cast before the graph gives it.
    for (const TensorId id : lowered.layers[layer].outputs)
      if (id != kNoTensor && !copies_.contains(id)) add_casts(id);
    for (const auto& [id, copy] : copies_)
      if (graph_.tensor(copy).origin == Tensor::Origin::node) graph_.outputs.push_back(copy);
  }

  Result<std::map<TensorId, ref::Array>> run_on(
      const std::function<Result<ref::Array>(TensorId)>& value, ref::RunOptions options) const {
    ref::Arrays inputs;
    for (const TensorId id : tensors_read()) {
      auto array = value(id);
      if (!array) return array.errors();
      inputs[graph_.tensor(copies_.at(id)).name] = std::move(*array);
    }
    options.loaded = nullptr;
    const auto result = ref::run_graph(graph_, inputs, options);
    if (!result) return result.errors();
    std::map<TensorId, ref::Array> out;
    for (const auto& [id, copy] : copies_)
      if (const auto found = result->outputs.find(graph_.tensor(copy).name);
          found != result->outputs.end())
        out[id] = found->second;
    return out;
  }

  std::vector<TensorId> tensors_read() const {
    std::vector<TensorId> out;
    for (const auto& [id, copy] : copies_)
      if (graph_.tensor(copy).origin != Tensor::Origin::node) out.push_back(id);
    return out;
  }

 private:
  /// A node, and the casts before it that aren't layers (without_float_casts()).
  void add_with_casts(const Node& node) {
    for (const TensorId id : node.inputs)
      if (id != kNoTensor && !copies_.contains(id)) add_casts(id);
    add_copy(node);
  }
  /// Those that a tensor has come through since what is known of it, or what is no cast.
  void add_casts(TensorId id) {
    std::vector<const Node*> casts;
    while (!copies_.contains(id) && whole_.tensor(id).producer != kNoNode) {
      const Node& maker = whole_.nodes[static_cast<size_t>(whole_.tensor(id).producer)];
      if (!is_float_cast(whole_, maker)) break;
      casts.push_back(&maker);
      id = maker.inputs[0];
    }
    for (auto at = casts.rbegin(); at != casts.rend(); ++at) add_copy(**at);
  }

  void add_copy(Node node) {
    for (TensorId& id : node.inputs)
      if (id != kNoTensor) id = copy_of(id, Tensor::Origin::input);
    for (TensorId& id : node.outputs)
      if (id != kNoTensor) id = copy_of(id, Tensor::Origin::node);
    node.folded = false;
    graph_.nodes.push_back(std::move(node));
  }

  TensorId copy_of(TensorId id, Tensor::Origin origin) {
    if (const auto known = copies_.find(id); known != copies_.end()) return known->second;
    const auto copy = static_cast<TensorId>(graph_.tensors.size());
    Tensor t = whole_.tensor(id);
    t.name = fmt::format("{}", id);
    t.origin = origin;
    t.constant = false;
    t.payload = {};
    t.producer =
        origin == Tensor::Origin::node ? static_cast<NodeId>(graph_.nodes.size()) : kNoNode;
    graph_.tensors.push_back(std::move(t));
    if (origin == Tensor::Origin::input) graph_.inputs.push_back(copy);
    copies_[id] = copy;
    return copy;
  }

  const Graph& whole_;
  Graph graph_;
  std::map<TensorId, TensorId> copies_;
};

}  // namespace

Result<std::map<TensorId, ref::Array>> run_layer(
    const Graph& graph, const Lowered& lowered, size_t layer,
    const std::function<Result<ref::Array>(TensorId)>& value, const ref::RunOptions& options) {
  return LayerGraph(graph, lowered, layer).run_on(value, options);
}

std::vector<TensorId> layer_reads(const Graph& graph, const Lowered& lowered, size_t layer) {
  return LayerGraph(graph, lowered, layer).tensors_read();
}

}  // namespace accsim::sim
