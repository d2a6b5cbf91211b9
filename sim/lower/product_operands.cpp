#include "sim/lower/product_operands.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/operators/movement/box_rules.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

int64_t ProductOperands::matrix_count(TensorId id) const {
  const Dims& d = dims(id);
  return d.size() < 2 ? 0 : elements(Dims(d.begin(), d.end() - 2));
}

Dims ProductOperands::matrix_dims(TensorId id) const {
  const Dims& d = dims(id);
  return d.size() < 2 ? Dims{} : Dims(d.end() - 2, d.end());
}

NodeId ProductOperands::sole_maker(TensorId id) const {
  const bool is_output = std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
  if (is_output || lowered_.readers[static_cast<size_t>(id)].size() != 1) return kNoNode;
  const NodeId node = graph_.tensor(id).producer;
  if (node == kNoNode || layer(node).merged_into >= 0 || layer(node).outputs[0] != id)
    return kNoNode;
  return layer(node).inputs.empty() || layer(node).inputs[0] == kNoTensor ? kNoNode : node;
}

std::optional<OperandSource> ProductOperands::source_of(TensorId id,
                                                        bool (*makes)(const NodeView&)) const {
  OperandSource out;
  Dims last_two = matrix_dims(id);
  TensorId at = id;
  for (NodeId node = sole_maker(at); node != kNoNode; node = sole_maker(at)) {
    const Layer& l = layer(node);
    const NodeView view = view_of(node);
    out.nodes.push_back(node);
    at = l.inputs[0];
    if (turns_matrices(l, view)) {
      out.turned = !out.turned;
      std::swap(last_two[0], last_two[1]);
    } else if (makes(view) && l.fate == Fate::memory) {
      out.of = at;
      return matrix_dims(at) == last_two ? std::optional(std::move(out)) : std::nullopt;
    } else if (l.fate != Fate::view || !l.work.empty()) {
      break;
    }
    if (matrix_dims(at) != last_two) break;
  }
  return std::nullopt;
}

void ProductOperands::show_as_views(const std::vector<NodeId>& nodes) {
  for (const NodeId id : nodes) {
    layer(id).work.clear();
    layer(id).fate = Fate::view;
  }
}

GemmOp* product_of_matrices(Layer& layer) {
  GemmOp* gemm = layer.work.size() == 1 ? std::get_if<GemmOp>(&layer.work.front()) : nullptr;
  if (!gemm || gemm->grouped || gemm->b_shared || gemm->a_transposed ||
      !gemm->a_port.is_of_node() || !gemm->b_port.is_of_node() || gemm->a_port == gemm->b_port)
    return nullptr;
  const Extent3 row{1, 1, gemm->out[2]};
  const bool plain =
      gemm->images == 1 && gemm->in == row && gemm->out == row && gemm->k() == gemm->channels;
  return plain ? gemm : nullptr;
}

bool turns_matrices(const Layer& layer, const NodeView& node) {
  const OpRow* row = find_op(node.node());
  if (!row || row->fusion != Fusion::turn || layer.work.empty()) return false;
  const auto perm = permutation_of(node);
  if (!perm || perm->size() < 2) return false;
  std::vector<int64_t> wanted(perm->size());
  std::iota(wanted.begin(), wanted.end(), 0);
  std::swap(wanted[wanted.size() - 2], wanted.back());
  return *perm == wanted;
}

}  // namespace accsim::sim
