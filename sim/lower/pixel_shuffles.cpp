#include "sim/lower/pixel_shuffles.h"

#include <algorithm>

#include "sim/lower/channel_chain.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// Channels that become pixels: each block of `lines` x `columns` of them.
struct Shuffle {
  TensorId of = kNoTensor, out = kNoTensor;
  std::vector<NodeId> nodes;  ///< in order
  int64_t channels = 0, lines = 1, columns = 1;
  bool channels_first = false;  ///< in the order of channels: a pixel's before a block's
};

std::optional<Shuffle> stated_shuffle(const NodeRewrites& r, const Node& node) {
  if (node.op_type != op::kDepthToSpace || !node.domain.empty() || node.folded) return std::nullopt;
  const NodeView view(r.graph(), node);
  const int64_t side = view.attr("blocksize", int64_t{1});
  return Shuffle{node.inputs[0],
                 node.outputs[0],
                 {r.id_of(node)},
                 r.dims(node.outputs[0])[1],
                 side,
                 side,
                 view.attr("mode", "DCR") == "CRD"};
}

/// Of the Reshape that ends it.
std::optional<Shuffle> spelled_shuffle(const NodeRewrites& r, const Node& last) {
  if (last.op_type != op::kReshape || last.folded) return std::nullopt;
  const Node* turn = r.maker_of(last.inputs[0]);
  if (!turn || turn->op_type != op::kTranspose || r.sole_reader_of(turn->outputs[0]) != &last)
    return std::nullopt;
  const Node* first = r.maker_of(turn->inputs[0]);
  if (!first || first->op_type != op::kReshape || r.sole_reader_of(first->outputs[0]) != turn)
    return std::nullopt;
  const Dims &from = r.dims(first->inputs[0]), &apart = r.dims(first->outputs[0]);
  if (from.size() != 4 || apart.size() != 6 || apart[0] != from[0] || apart[4] != from[2] ||
      apart[5] != from[3])
    return std::nullopt;
  if (NodeView(r.graph(), *turn).attr("perm", std::vector<int64_t>{}) !=
      std::vector<int64_t>{0, 1, 4, 2, 5, 3})
    return std::nullopt;
  Shuffle out{first->inputs[0],
              last.outputs[0],
              {r.id_of(*first), r.id_of(*turn), r.id_of(last)},
              apart[1],
              apart[2],
              apart[3],
              true};
  const Dims to{from[0], out.channels, from[2] * out.lines, from[3] * out.columns};
  return r.dims(last.outputs[0]) == to ? std::optional(std::move(out)) : std::nullopt;
}

/// What stands between the convolution and the shuffle, and the convolution in front; empty where
/// there is none.
std::vector<NodeId> chain_before(const NodeRewrites& r, TensorId of) {
  std::vector<NodeId> out;
  for (const Node* maker = r.maker_of(of); maker; maker = r.maker_of(of)) {
    if (!r.sole_reader_of(of)) return {};
    out.push_back(r.id_of(*maker));
    if (is_fixed_convolution(r.graph(), *maker)) {
      std::ranges::reverse(out);
      return out;
    }
    of = kNoTensor;
    for (const TensorId id : maker->inputs)
      if (id != kNoTensor && !r.graph().tensor(id).constant) {
        if (of != kNoTensor && of != id) return {};
        of = id;
      }
    if (of == kNoTensor || !works_on_channels(r.graph(), *maker, of)) return {};
  }
  return {};
}

/// Place by place the channel that is to be there: all of a pixel together.
std::vector<int64_t> pixel_order(const Shuffle& s) {
  std::vector<int64_t> out;
  for (int64_t pixel = 0; pixel < s.lines * s.columns; ++pixel)
    for (int64_t c = 0; c < s.channels; ++c) out.push_back(c * s.lines * s.columns + pixel);
  return out;
}

void add_shuffle(RebuiltGraph& graph, const Shuffle& s, const std::string& name) {
  const Dims from = graph.dims(s.of);
  const TensorId apart = reshaped(
      graph, s.of, {from[0], s.lines, s.columns, s.channels, from[2], from[3]}, name + "/apart");
  const TensorId pixels = transposed(graph, apart, {0, 3, 4, 1, 5, 2}, name + "/pixels");
  reshape_into(graph, pixels, s.out, name);
}

void plan_shuffle(NodeRewrites& r, const Shuffle& s) {
  const std::vector<NodeId> before = chain_before(r, s.of);
  if (before.empty() && s.channels_first) return;
  std::map<NodeId, NodeRewrites::Adder> each;
  for (const NodeId id : s.nodes) each[id] = nullptr;
  each.rbegin()->second = [s](RebuiltGraph& g) {
    add_shuffle(g, s, g.before().nodes[static_cast<size_t>(s.nodes.back())].name);
  };
  if (s.channels_first)
    for (const NodeId id : before)
      each[id] = [id, order = pixel_order(s), first = id == before.front()](RebuiltGraph& g) {
        const Node& n = g.node(id);
        TensorId of = kNoTensor;
        for (const TensorId in : n.inputs)
          if (in != kNoTensor && !g.tensor(in).constant) of = in;
        std::vector<TensorId> inputs =
            first ? convolution_in_order(g, n, order) : inputs_in_order(g, n, of, of, order);
        g.keep_node_with(id, std::move(inputs));
      };
  r.replace_each(each);
}

}  // namespace

void plan_pixel_shuffles(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    auto shuffle = stated_shuffle(rewrites, node);
    if (!shuffle) shuffle = spelled_shuffle(rewrites, node);
    if (shuffle) plan_shuffle(rewrites, *shuffle);
  }
}

}  // namespace accsim::sim
