#include "sim/lower/operand_wants.h"

namespace accsim::sim {

OperandWants::OperandWants(const Graph& graph, const Layer& layer,
                           const std::vector<Layout>& layouts,
                           const std::function<bool(TensorId)>& movable)
    : graph_(graph),
      layer_(layer),
      layouts_(layouts),
      movable_(movable),
      node_(graph, graph.nodes[static_cast<size_t>(layer.node)]),
      ports_(ports_read(layer)) {
  std::erase_if(ports_, [&](ValuePort p) { return graph.tensor(tensor_at(p)).constant; });
  for (const TensorId out : layer.outputs)
    found_.outs.push_back(out == kNoTensor ? Layout{} : row_major_layout(dims(out)));
}

void OperandWants::want_rows(std::span<const size_t> inner) {
  const auto rows = with_innermost(layout_at(ports_[0]), dims(tensor_at(ports_[0])), inner);
  if (!rows) return;
  want_layout(ports_[0], *rows);
  found_.outs[0] = *rows;
}

}  // namespace accsim::sim
