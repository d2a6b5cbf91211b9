#include "sim/elaborate/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace accsim::sim {
namespace {

using Flags = std::vector<bool>;

size_t as_index(int32_t id) { return static_cast<size_t>(id); }

/// Of one graph: makes it smaller.
class Cutter {
 public:
  explicit Cutter(Graph& graph) : graph_(graph), kept_(graph.nodes.size(), true) {}

  /// Nodes that don't depend on `from` go.
  void drop_before(NodeId from) {
    Flags depends(graph_.tensors.size());
    for (size_t i = 0; i < kept_.size(); ++i) {
      const Node& node = graph_.nodes[i];
      kept_[i] = static_cast<NodeId>(i) == from || std::ranges::any_of(node.inputs, [&](auto id) {
                   return id != kNoTensor && depends[as_index(id)];
                 });
      if (!kept_[i]) continue;
      for (const TensorId id : node.outputs)
        if (id != kNoTensor) depends[as_index(id)] = true;
    }
  }
  /// Nodes that `until` doesn't depend on go. Is it still there?
  bool drop_behind(NodeId until) {
    Flags needed(kept_.size());
    needed[as_index(until)] = true;
    for (size_t i = kept_.size(); i-- > 0;)
      if (needed[i])
        for (const TensorId id : graph_.nodes[i].inputs)
          if (id != kNoTensor && graph_.tensor(id).producer != kNoNode)
            needed[as_index(graph_.tensor(id).producer)] = true;
    for (size_t i = 0; i < kept_.size(); ++i) kept_[i] = kept_[i] && needed[i];
    return kept_[as_index(until)];
  }
  /// What the rest reads: constants with their nodes, everything else as an input.
  void mark_reads() {
    for (size_t i = kept_.size(); i-- > 0;)
      if (kept_[i])
        for (const TensorId id : graph_.nodes[i].inputs)
          if (id != kNoTensor && graph_.tensor(id).constant &&
              graph_.tensor(id).producer != kNoNode)
            kept_[as_index(graph_.tensor(id).producer)] = true;
    read_.assign(graph_.tensors.size(), false);
    for (size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i])
        for (const TensorId id : graph_.nodes[i].inputs)
          if (id != kNoTensor) read_[as_index(id)] = true;
  }
  void set_outputs(NodeId until) {
    if (until != kNoNode) {
      graph_.outputs = graph_.nodes[as_index(until)].outputs;
      std::erase(graph_.outputs, kNoTensor);
      return;
    }
    std::erase_if(graph_.outputs, [this](TensorId id) { return !is_written(id); });
    if (!graph_.outputs.empty()) return;
    for (size_t t = 0; t < graph_.tensors.size(); ++t)
      if (is_written(static_cast<TensorId>(t)) && !read_[t])
        graph_.outputs.push_back(static_cast<TensorId>(t));
  }
  void set_inputs() {
    std::erase_if(graph_.inputs, [this](TensorId id) { return !read_[as_index(id)]; });
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      Tensor& tensor = graph_.tensors[t];
      if (!read_[t] || tensor.producer == kNoNode || kept_[as_index(tensor.producer)]) continue;
      tensor.origin = Tensor::Origin::input;
      tensor.producer = kNoNode;
      graph_.inputs.push_back(static_cast<TensorId>(t));
    }
  }
  /// Numbers what is left anew; gives the old ids of its nodes.
  std::vector<NodeId> renumber_graph() {
    std::vector<NodeId> nodes = number_nodes();
    number_tensors();
    std::erase_if(graph_.assumed, [this](const Assumption& a) { return !is_kept(a.node); });
    return nodes;
  }

 private:
  bool is_written(TensorId id) const {
    const NodeId producer = graph_.tensor(id).producer;
    return producer != kNoNode && kept_[as_index(producer)];
  }
  /// A node, or one whose body's nodes stand in its place.
  bool is_kept(std::string_view name) const {
    return std::ranges::any_of(graph_.nodes, [&](const Node& node) {
      const std::string_view at = node.name;
      return at.starts_with(name) && (at.size() == name.size() || at[name.size()] == '/');
    });
  }
  std::vector<NodeId> number_nodes() {
    std::vector<NodeId> old, fresh(kept_.size(), kNoNode);
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      fresh[i] = static_cast<NodeId>(old.size());
      old.push_back(static_cast<NodeId>(i));
    }
    for (size_t i = 0; i < old.size(); ++i)
      if (as_index(old[i]) != i) graph_.nodes[i] = std::move(graph_.nodes[as_index(old[i])]);
    graph_.nodes.resize(old.size());
    for (Tensor& tensor : graph_.tensors)
      if (tensor.producer != kNoNode) tensor.producer = fresh[as_index(tensor.producer)];
    return old;
  }
  void number_tensors() {
    Flags used(graph_.tensors.size());
    const auto each = [this](const auto& take) {
      for (Node& node : graph_.nodes) {
        take(node.inputs);
        take(node.outputs);
      }
      take(graph_.inputs);
      take(graph_.outputs);
    };
    each([&](const std::vector<TensorId>& ids) {
      for (const TensorId id : ids)
        if (id != kNoTensor) used[as_index(id)] = true;
    });
    std::vector<TensorId> fresh(used.size(), kNoTensor);
    TensorId next = 0;
    for (size_t t = 0; t < used.size(); ++t) {
      if (!used[t]) continue;
      fresh[t] = next++;
      if (as_index(fresh[t]) != t)
        graph_.tensors[as_index(fresh[t])] = std::move(graph_.tensors[t]);
    }
    graph_.tensors.resize(as_index(next));
    each([&](std::vector<TensorId>& ids) {
      for (TensorId& id : ids)
        if (id != kNoTensor) id = fresh[as_index(id)];
    });
  }

  Graph& graph_;
  Flags kept_;  ///< by node
  Flags read_;  ///< by tensor, of nodes that are kept
};

}  // namespace

Result<NodeId> find_node(const Graph& graph, const std::string& name, const char* option) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].name == name) return static_cast<NodeId>(i);
  for (const Tensor& tensor : graph.tensors)
    if (tensor.name == name && tensor.producer != kNoNode) return tensor.producer;
  return Error{Errc::usage,
               fmt::format("'{}' is no node of the model, nor a tensor that one writes; accsim "
                           "shapes lists the tensors, --all the nodes",
                           name),
               option};
}

Error not_behind(const GraphCut& cut) {
  return {Errc::usage, fmt::format("'{}' doesn't depend on '{}' of --from", cut.until, cut.from),
          "--until"};
}

Result<std::vector<NodeId>> cut_graph(Graph& graph, const GraphCut& cut) {
  Cutter cutter(graph);
  NodeId until = kNoNode;
  if (!cut.from.empty()) {
    const Result<NodeId> from = find_node(graph, cut.from, "--from");
    if (!from) return from.errors();
    cutter.drop_before(*from);
  }
  if (!cut.until.empty()) {
    const Result<NodeId> found = find_node(graph, cut.until, "--until");
    if (!found) return found.errors();
    until = *found;
    if (!cutter.drop_behind(until)) return not_behind(cut);
  }
  cutter.mark_reads();
  cutter.set_outputs(until);
  cutter.set_inputs();
  return cutter.renumber_graph();
}

}  // namespace accsim::sim
