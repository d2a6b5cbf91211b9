#include "sim/flow/float_layer.h"

#include <fmt/format.h>

#include <algorithm>

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
      const bool is_part =
          l.node == lowered.layers[layer].node || l.merged_into == static_cast<int>(layer);
      if (is_part) add(whole.nodes[static_cast<size_t>(l.node)]);
    }
    for (const auto& [id, copy] : copies_)
      if (graph_.tensor(copy).origin == Tensor::Origin::node) graph_.outputs.push_back(copy);
  }

  Result<std::map<TensorId, ref::Array>> run(
      const std::function<Result<ref::Array>(TensorId)>& value, ref::RunOptions options) const {
    ref::Arrays inputs;
    for (const TensorId id : reads()) {
      auto array = value(id);
      if (!array) return array.errors();
      inputs[graph_.tensor(copies_.at(id)).name] = std::move(*array);
    }
    options.loaded = nullptr;
    const auto result = ref::run(graph_, inputs, options);
    if (!result) return result.errors();
    std::map<TensorId, ref::Array> out;
    for (const auto& [id, copy] : copies_)
      if (const auto found = result->outputs.find(graph_.tensor(copy).name);
          found != result->outputs.end())
        out[id] = found->second;
    return out;
  }

  std::vector<TensorId> reads() const {
    std::vector<TensorId> out;
    for (const auto& [id, copy] : copies_)
      if (graph_.tensor(copy).origin != Tensor::Origin::node) out.push_back(id);
    return out;
  }

 private:
  void add(Node node) {
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
  return LayerGraph(graph, lowered, layer).run(value, options);
}

std::vector<TensorId> layer_reads(const Graph& graph, const Lowered& lowered, size_t layer) {
  return LayerGraph(graph, lowered, layer).reads();
}

}  // namespace accsim::sim
