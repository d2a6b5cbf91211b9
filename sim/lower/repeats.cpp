#include "sim/lower/repeats.h"

#include <algorithm>

#include "sim/lower/product_operands.h"
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

class Repeats : ProductOperands {
 public:
  using ProductOperands::ProductOperands;

  void merge_repeat(Layer& l) {
    GemmOp* gemm = product_of_matrices(l);  // the rows of A one behind the other
    if (!gemm || gemm->batch == 1 || gemm->a_shared) return;
    const TensorId b = l.inputs[gemm->b_port.index()];
    const std::optional<Repeat> repeat = repeat_of(b);
    if (!repeat || matrix_count(b) != gemm->batch) return;
    gemm->batch /= repeat->times;
    gemm->in[2] = gemm->out[2] = gemm->m() * repeat->times;
    gemm->b_transposed = gemm->b_transposed != repeat->turned;
    l.inputs[gemm->b_port.index()] = repeat->of;
    show_as_views(repeat->nodes);
  }

 private:
  std::optional<Repeat> repeat_of(TensorId b) const {
    Repeat out;
    Dims last_two = matrix_dims(b);
    TensorId at = b;
    for (NodeId node = sole_maker(at); node != kNoNode; node = sole_maker(at)) {
      const Layer& l = layer(node);
      const NodeView view = view_of(node);
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

  static bool is_expand(const NodeView& node) {
    return node.node().op_type == op::kExpand && node.node().domain.empty();
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
};

}  // namespace

void merge_repeats(const Graph& graph, Lowered& lowered) {
  Repeats repeats(graph, lowered);
  for (Layer& l : lowered.layers) repeats.merge_repeat(l);
}

}  // namespace accsim::sim
