#include "sim/lower/repeats.h"

#include <algorithm>
#include <numeric>

#include "sim/operators/movement/box_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Matrices, each repeated one behind the other.
struct Repeat {
  TensorId of = kNoTensor;  ///< the matrices, each once
  int64_t times = 1;
  bool turned = false;        ///< their last two dims stand the other way round
  std::vector<NodeId> nodes;  ///< that repeat, view and turn them
};

class Repeats {
 public:
  Repeats(const Graph& graph, Lowered& lowered)
      : graph_(graph), lowered_(lowered), readers_(lowered.readers) {}

  void merge_repeat(Layer& l) {
    GemmOp* gemm = plain_product(l);
    if (!gemm) return;
    const TensorId b = l.inputs[gemm->b_port.index()];
    const std::optional<Repeat> repeat = repeat_of(b);
    if (!repeat || matrix_count(b) != gemm->batch) return;
    gemm->batch /= repeat->times;
    gemm->in[2] = gemm->out[2] = gemm->m() * repeat->times;
    gemm->b_transposed = gemm->b_transposed != repeat->turned;
    l.inputs[gemm->b_port.index()] = repeat->of;
    for (const NodeId id : repeat->nodes) {
      Layer& node = layer(id);
      node.work.clear();
      node.fate = Fate::view;
    }
  }

 private:
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }
  Layer& layer(NodeId id) { return lowered_.layers[static_cast<size_t>(id)]; }
  const Layer& layer(NodeId id) const { return lowered_.layers[static_cast<size_t>(id)]; }

  /// The layer's work, if it is products of matrices that each have a B, rows of A one behind the
  /// other.
  GemmOp* plain_product(Layer& l) const {
    GemmOp* gemm = l.work.size() == 1 ? std::get_if<GemmOp>(&l.work.front()) : nullptr;
    if (!gemm || gemm->batch == 1 || gemm->grouped || gemm->a_shared || gemm->b_shared ||
        gemm->a_transposed || !gemm->a_port.is_of_node() || !gemm->b_port.is_of_node() ||
        gemm->a_port == gemm->b_port)
      return nullptr;
    const Extent3 row{1, 1, gemm->out[2]};
    const bool plain =
        gemm->images == 1 && gemm->in == row && gemm->out == row && gemm->k() == gemm->channels;
    return plain ? gemm : nullptr;
  }

  /// How many matrices of its last two dims a tensor has.
  int64_t matrix_count(TensorId id) const {
    const Dims& d = dims(id);
    return d.size() < 2 ? 0 : elements(Dims(d.begin(), d.end() - 2));
  }

  /// The node that gives a tensor to a single reader and nobody else; kNoNode when there is none.
  NodeId sole_maker(TensorId id) const {
    const bool is_output = std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
    if (is_output || readers_[static_cast<size_t>(id)].size() != 1) return kNoNode;
    const NodeId node = graph_.tensor(id).producer;
    if (node == kNoNode || layer(node).merged_into >= 0 || layer(node).outputs[0] != id)
      return kNoNode;
    return layer(node).inputs.empty() || layer(node).inputs[0] == kNoTensor ? kNoNode : node;
  }

  std::optional<Repeat> repeat_of(TensorId b) const {
    Repeat out;
    Dims last_two = matrix_dims(b);
    TensorId at = b;
    for (NodeId node = sole_maker(at); node != kNoNode; node = sole_maker(at)) {
      const Layer& l = layer(node);
      const NodeView view(graph_, graph_.nodes[static_cast<size_t>(node)]);
      out.nodes.push_back(node);
      at = l.inputs[0];
      if (turns_matrices(l, view)) {
        out.turned = !out.turned;
        std::swap(last_two[0], last_two[1]);
      } else if (is_expand(view) && l.fate == Fate::memory) {
        out.of = at;
        out.times = times_each(dims(at), dims(l.outputs[0]));
        return out.times > 1 && matrix_dims(at) == last_two ? std::optional(out) : std::nullopt;
      } else if (l.fate != Fate::view || !l.work.empty()) {
        break;
      }
      if (matrix_dims(at) != last_two) break;
    }
    return std::nullopt;
  }

  Dims matrix_dims(TensorId id) const {
    const Dims& d = dims(id);
    return d.size() < 2 ? Dims{} : Dims(d.end() - 2, d.end());
  }

  static bool is_expand(const NodeView& node) {
    return node.node().op_type == op::kExpand && node.node().domain.empty();
  }

  /// A Transpose of the last two dims alone.
  static bool turns_matrices(const Layer& l, const NodeView& node) {
    const OpRow* row = find_op(node.node());
    if (!row || row->fusion != Fusion::turn || l.work.empty()) return false;
    const auto perm = permutation_of(node);
    if (!perm || perm->size() < 2) return false;
    std::vector<int64_t> wanted(perm->size());
    std::iota(wanted.begin(), wanted.end(), 0);
    std::swap(wanted[wanted.size() - 2], wanted.back());
    return *perm == wanted;
  }

  /// How often each matrix of `from` stands in `to`, its repetitions one behind the other; 1 where
  /// that isn't so.
  static int64_t times_each(Dims from, const Dims& to) {
    if (from.size() < 2 || from.size() > to.size()) return 1;
    from.insert(from.begin(), to.size() - from.size(), 1);
    size_t inner = to.size() - 2;  // past the last dim before the matrix that isn't 1
    while (inner > 0 && to[inner - 1] == 1) --inner;
    if (inner == 0) return 1;
    Dims once = to;
    once[inner - 1] = 1;
    return from == once ? to[inner - 1] : 1;
  }

  const Graph& graph_;
  Lowered& lowered_;
  const std::vector<std::vector<NodeId>>& readers_;
};

}  // namespace

void merge_repeats(const Graph& graph, Lowered& lowered) {
  Repeats repeats(graph, lowered);
  for (Layer& l : lowered.layers) repeats.merge_repeat(l);
}

}  // namespace accsim::sim
