#include "sim/lower/network_ends.h"

#include "sim/operators/op_table.h"

namespace accsim::sim {

NetworkEnds::NetworkEnds(const Graph& graph, const Lowered& lowered)
    : graph_(graph),
      lowered_(lowered),
      is_input_(graph.tensors.size(), false),
      is_output_(graph.tensors.size(), false) {
  for (const TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
  for (const TensorId id : graph.inputs)
    is_input_[static_cast<size_t>(id)] = !graph.tensor(id).constant;
}

bool NetworkEnds::hands_over(const Layer& l, const Layout& turned) const {
  const TensorId out = l.outputs[0];
  const Dims& dims = graph_.tensor(out).dims;
  if (turned == row_major_layout(dims)) return false;
  TensorId from = l.inputs[0];
  for (int views = 0; views < kMostViews && !is_input(from); ++views) {
    const NodeId producer = graph_.tensor(from).producer;
    if (producer == kNoNode) return false;
    const Layer& view = layer_at(producer);
    if (view.fate != Fate::view || !view.work.empty() || view.inputs.empty()) return false;
    from = view.inputs[0];
    if (from == kNoTensor) return false;
  }
  return is_input(from) && is_shown(out);
}

bool NetworkEnds::is_shown(TensorId id) const {
  for (int views = 0; views < kMostViews; ++views) {
    if (is_output(id)) return true;
    const auto& readers = readers_of(id);
    if (readers.size() != 1) return false;
    const Node& view = graph_.nodes[static_cast<size_t>(readers[0])];
    const OpRow* row = find_op(view);
    if (!row || row->fate != Fate::view || view.outputs.empty() || view.outputs[0] == kNoTensor)
      return false;
    id = view.outputs[0];
  }
  return false;
}

bool NetworkEnds::is_given_alone(TensorId id) const {
  for (int views = 0; views < kMostViews && is_between(id); ++views) {
    if (is_input(id)) return true;
    const NodeId producer = graph_.tensor(id).producer;
    if (producer == kNoNode) return false;
    const Layer& view = layer_at(producer);
    if (view.fate != Fate::view || !view.work.empty() || view.inputs.empty()) return false;
    id = view.inputs[0];
    if (id == kNoTensor) return false;
  }
  return false;
}

bool NetworkEnds::is_given_back(TensorId id) const {
  std::vector<TensorId> shown{id};
  for (size_t i = 0; i < shown.size() && shown.size() < kMostViews; ++i) {
    if (is_output(shown[i])) return true;
    for (const NodeId reader : readers_of(shown[i])) {
      const Node& node = graph_.nodes[static_cast<size_t>(reader)];
      const OpRow* row = find_op(node);
      const bool shows = row && (row->fate == Fate::view || row->fusion == Fusion::turn);
      if (shows && !node.outputs.empty() && node.outputs[0] != kNoTensor &&
          node.inputs[0] == shown[i])
        shown.push_back(node.outputs[0]);
    }
  }
  return false;
}

bool NetworkEnds::is_given_so(const Layer& l) const {
  const OpRow* row = find_op(graph_.nodes[static_cast<size_t>(l.node)]);
  if (!row || row->algebra != Algebra::convert || l.outputs[0] == kNoTensor) return false;
  const DType from = graph_.tensor(l.inputs[0]).dtype;
  if (is_float(from) || from == DType::boolean || !is_float(graph_.tensor(l.outputs[0]).dtype))
    return false;
  TensorId at = l.inputs[0];
  while (is_between(at)) {
    if (is_input(at)) return true;
    const NodeId producer = graph_.tensor(at).producer;
    if (producer == kNoNode) return false;
    const Layer& view = layer_at(producer);
    if (view.fate != Fate::view || view.inputs[0] == kNoTensor) return false;
    at = view.inputs[0];
  }
  return false;
}

}  // namespace accsim::sim
