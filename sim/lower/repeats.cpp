#include "sim/lower/repeats.h"

#include "sim/lower/product_operands.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class Repeats : ProductOperands {
 public:
  using ProductOperands::ProductOperands;

  void merge_repeat(Layer& l) {
    GemmOp* gemm = product_of_matrices(l);  // the rows of A one behind the other
    if (!gemm || gemm->batch == 1 || gemm->a_shared) return;
    const TensorId b = l.inputs[gemm->b_port.index()];
    const auto repeated = source_of(b, is_expand);
    if (!repeated || matrix_count(b) != gemm->batch) return;
    const TensorId expanded = layer(repeated->nodes.back()).outputs[0];
    const int64_t times = times_each(dims(repeated->of), dims(expanded));
    if (times <= 1) return;
    gemm->batch /= times;
    gemm->in[2] = gemm->out[2] = gemm->m() * times;
    gemm->b_transposed = gemm->b_transposed != repeated->turned;
    l.inputs[gemm->b_port.index()] = repeated->of;
    show_as_views(repeated->nodes);
  }

 private:
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
