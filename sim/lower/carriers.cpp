#include "sim/lower/carriers.h"

#include "sim/lower/node_layouts.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

bool is_turn(const Graph& graph, const Layer& l) {
  const OpRow* row = find_op(graph.nodes[static_cast<size_t>(l.node)]);
  return row && row->fusion == Fusion::turn;
}

Carrier Carriers::carrier_of(TensorId id) const {
  const NodeId producer = graph_.tensor(id).producer;
  if (producer == kNoNode) return {};
  Layer* l = &lowered_.layers[static_cast<size_t>(producer)];
  if (l->merged_into >= 0) l = &lowered_.layers[static_cast<size_t>(l->merged_into)];
  if (l->outputs[0] != id || l->inputs.empty()) return {};
  Carrier c{l, l->inputs[0], l->fate == Fate::view && l->work.empty()};
  if (!c.view) {
    const OpRow* row = find_op(graph_.nodes[static_cast<size_t>(l->node)]);
    if (l->fate != Fate::vector || !row || row->layout_rule() != LayoutRule::alike) return {};
    std::vector<ValuePort> ports = ports_read(*l);
    std::erase_if(ports, [&](ValuePort p) { return graph_.tensor(l->inputs[p.index()]).constant; });
    if (ports.size() != 1) return {};
    c.from = l->inputs[ports[0].index()];
    if (dims(c.from) != dims(id)) return {};
  }
  const bool all = c.from != kNoTensor && !graph_.tensor(c.from).constant &&
                   elements(dims(c.from)) == elements(dims(id));
  return all ? c : Carrier{};
}

Layer* Carriers::moving_view(TensorId id) {
  Layer* nearest = nullptr;
  TensorId at = id;
  for (int views = 0; views < kMostViews; ++views) {
    const Carrier c = carrier_of(behind_elementwise(at));
    if (!c.layer || !c.view) break;
    if (!nearest) nearest = c.layer;
    if (is_turn(graph_, *c.layer)) return c.layer;
    if (!ends_.is_between(c.from)) break;
    at = c.from;
  }
  return nearest;
}

TensorId Carriers::behind_elementwise(TensorId id) {
  std::vector<TensorId> passed;
  TensorId at = id;
  while (behind_[static_cast<size_t>(at)] == kNoTensor) {
    const Carrier c = carrier_of(at);
    if (!c.layer || c.view || !ends_.is_between(c.from)) {
      behind_[static_cast<size_t>(at)] = at;
      break;
    }
    passed.push_back(at);
    at = c.from;
  }
  at = behind_[static_cast<size_t>(at)];
  for (const TensorId each : passed) behind_[static_cast<size_t>(each)] = at;
  return at;
}

}  // namespace accsim::sim
