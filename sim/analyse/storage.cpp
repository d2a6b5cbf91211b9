#include "sim/analyse/storage.h"

#include <algorithm>

#include "sim/analyse/op_kinds.h"

namespace accsim::sim {
namespace {

int64_t bytes_of(const Tensor& t) { return storage_bytes(t.dtype, elements(t.dims)); }

class Builder {
 public:
  Builder(const Graph& graph, const Lowered& lowered, bool in_place)
      : graph_(graph),
        lowered_(lowered),
        in_place_(in_place),
        readers_(graph.tensors.size(), 0),
        buffer_(graph.tensors.size(), -1),
        kept_(graph.tensors.size(), false),
        alone_(graph.tensors.size(), false) {}

  Storage build_storage() {
    for (TensorId id : graph_.outputs) kept_[as_index(id)] = true;
    count_readers();
    for (TensorId id : graph_.inputs)
      if (!graph_.tensor(id).constant && buffer_[as_index(id)] < 0) add_buffer(id, -1);
    for (const Layer& layer : lowered_.layers) {
      const Node& node = graph_.nodes[static_cast<size_t>(layer.node)];
      if (!node.folded) add_step(layer, node);
    }
    return std::move(out_);
  }

 private:
  static size_t as_index(TensorId id) { return static_cast<size_t>(id); }
  Storage::Buffer& buffer_of(TensorId id) {
    return out_.buffers[static_cast<size_t>(buffer_[as_index(id)])];
  }

  /// What is computed off line (the Shape of an activation) doesn't read at run time.
  void count_readers() {
    const auto runs = [this](NodeId n) { return !graph_.nodes[static_cast<size_t>(n)].folded; };
    for (size_t t = 0; t < lowered_.readers.size(); ++t)
      readers_[t] = static_cast<size_t>(std::ranges::count_if(lowered_.readers[t], runs));
  }

  void add_buffer(TensorId id, int writer) {
    buffer_[as_index(id)] = static_cast<int>(out_.buffers.size());
    alone_[as_index(id)] = writer >= 0 && readers_[as_index(id)] == 1 && !kept_[as_index(id)];
    out_.buffers.push_back({bytes_of(graph_.tensor(id)), writer, kept_[as_index(id)], {}, {id}});
  }

  void share_buffer(TensorId id, TensorId with) {
    buffer_[as_index(id)] = buffer_[as_index(with)];
    alone_[as_index(id)] =
        alone_[as_index(with)] && readers_[as_index(id)] == 1 && !kept_[as_index(id)];
    Storage::Buffer& b = buffer_of(id);
    b.kept = b.kept || kept_[as_index(id)];
    b.tensors.push_back(id);
  }

  void add_step(const Layer& layer, const Node& node) {
    const int at = static_cast<int>(out_.steps.size());
    Storage::Step step;
    step.node = layer.node;
    for (TensorId id : node.inputs) {
      if (id == kNoTensor || buffer_[as_index(id)] < 0) continue;
      step.buffers.push_back(buffer_[as_index(id)]);
      const NodeId producer = graph_.tensor(id).producer;
      if (producer != kNoNode) step.before.push_back(step_of_[static_cast<size_t>(producer)]);
    }
    const TensorId over = view_or_overwritten(layer, node);
    for (TensorId id : node.outputs) {
      if (id == kNoTensor || graph_.tensor(id).constant) continue;
      if (over != kNoTensor && id == node.outputs[0])
        share_buffer(id, over);
      else
        add_buffer(id, at);
      step.buffers.push_back(buffer_[as_index(id)]);
    }
    for (std::vector<int>* list : {&step.before, &step.buffers}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (int b : step.buffers) out_.buffers[static_cast<size_t>(b)].users.push_back(at);
    step_of_.resize(graph_.nodes.size(), -1);
    step_of_[static_cast<size_t>(layer.node)] = at;
    out_.steps.push_back(std::move(step));
  }

  /// The input whose buffer the first output shares; kNoTensor when it has its own.
  TensorId view_or_overwritten(const Layer& layer, const Node& node) {
    if (is_view(graph_, layer) && buffer_[as_index(node.inputs[0])] >= 0) {
      ++out_.views;
      return node.inputs[0];
    }
    if (!in_place_ || node.outputs.size() != 1 || !works_in_place(node)) return kNoTensor;
    const Tensor& result = graph_.tensor(node.outputs[0]);
    for (TensorId id : node.inputs) {
      if (id == kNoTensor || buffer_[as_index(id)] < 0 || !alone_[as_index(id)]) continue;
      const Tensor& t = graph_.tensor(id);
      if (t.dims != result.dims || bits(t.dtype) != bits(result.dtype)) continue;
      ++out_.in_place;
      return id;
    }
    return kNoTensor;
  }

  const Graph& graph_;
  const Lowered& lowered_;
  const bool in_place_;
  std::vector<size_t> readers_;  ///< by tensor: how many nodes read it
  std::vector<int> buffer_;      ///< by tensor; -1: none
  std::vector<bool> kept_;
  std::vector<bool> alone_;   ///< by tensor: nobody but its one reader sees the buffer after it
  std::vector<int> step_of_;  ///< by node
  Storage out_;
};

}  // namespace

bool is_view(const Graph& graph, const Layer& layer) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.node)];
  if (layer.fate != Fate::view || !layer.work.empty() || node.inputs.empty() ||
      node.inputs[0] == kNoTensor || node.outputs.empty() || node.outputs[0] == kNoTensor)
    return false;
  return bytes_of(graph.tensor(node.inputs[0])) == bytes_of(graph.tensor(node.outputs[0]));
}

Storage storage_of(const Graph& graph, const Lowered& lowered, bool in_place) {
  return Builder(graph, lowered, in_place).build_storage();
}

}  // namespace accsim::sim
