#include "sim/lower/cache_updates.h"

#include <algorithm>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

bool reads_port(const Layer& l, ValuePort port) {
  return std::ranges::any_of(l.work, [&](const WorkItem& item) {
    const auto* move = std::get_if<MemoryOp>(&item);
    return move == nullptr ||
           std::ranges::any_of(move->inputs, [&](const Access& a) { return a.port == port; });
  });
}

/// Elements of the cache that lie one behind the other and are all replaced: the innermost ones
/// along dims from `from` on.
int64_t run_of(const Layout& layout, const Dims& dims, size_t from) {
  const auto pieces = pieces_of(layout, dims);
  int64_t run = 1;
  if (!pieces) return run;
  for (auto p = pieces->rbegin(); p != pieces->rend() && p->dim >= from; ++p) run *= p->count;
  return run;
}

}  // namespace

std::optional<Work> update_in_place(const Graph& graph, const Layer& l, const NetworkEnds& ends,
                                    const std::vector<Layout>& layouts) {
  const NodeView node(graph, graph.nodes[static_cast<size_t>(l.node)]);
  const OpRow* row = find_op(node.node());
  const auto update = row && row->updates ? row->updates(node) : std::nullopt;
  if (!update || l.work.empty() || l.outputs[0] == kNoTensor) return std::nullopt;
  const TensorId cache = l.inputs[0];
  if (reads_port(l, 0) && !(ends.is_given_alone(cache) && ends.is_given_back(l.outputs[0])))
    return std::nullopt;
  MemoryOp op;
  for (size_t i = 1; i < l.inputs.size(); ++i)
    if (l.inputs[i] != kNoTensor)
      op.inputs.push_back({static_cast<int>(i), elements(graph.tensor(l.inputs[i]).dims), 0});
  const int64_t count = elements(node.dims(update->port));
  if (count == 0) return Work{};
  const int64_t run =
      run_of(layouts[static_cast<size_t>(cache)], graph.tensor(cache).dims, update->whole_from);
  op.outputs.push_back({0, count, run >= count ? 0 : run});
  return Work{std::move(op)};
}

}  // namespace accsim::sim
