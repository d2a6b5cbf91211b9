#include "sim/lower/late_products.h"

#include <cstddef>

#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// The product whose one result only `sum` reads, by input `port`; nullptr: there is none.
const Node* product_of(const NodeRewrites& r, const Node& sum, size_t port) {
  const TensorId id = sum.inputs[port];
  const Node* node = r.maker_of(id);
  if (node == nullptr || node->outputs.size() != 1 || r.sole_reader_of(id) == nullptr)
    return nullptr;
  const OpRow* row = find_op(*node);
  return row != nullptr && row->fate == Fate::gemm ? node : nullptr;
}

bool adds_two_tensors(const NodeRewrites& r, const Node& node) {
  if (node.folded || !node.domain.empty() || node.op_type != op::kAdd || node.inputs.size() != 2)
    return false;
  const TensorId a = node.inputs[0], b = node.inputs[1], out = node.outputs[0];
  return a != b && a != kNoTensor && b != kNoTensor && r.dims(a) == r.dims(out) &&
         r.dims(b) == r.dims(out) && !r.graph().tensor(a).constant && !r.graph().tensor(b).constant;
}

/// The product that is before what is added to it; nullptr where one can add already.
const Node* early_product(const NodeRewrites& r, const Node& sum) {
  const Node* early = nullptr;
  for (const size_t port : {size_t{0}, size_t{1}}) {
    const Node* product = product_of(r, sum, port);
    if (product == nullptr) continue;
    const Node* other = r.maker_of(sum.inputs[1 - port]);
    if (other == nullptr || r.id_of(*other) < r.id_of(*product)) return nullptr;
    early = product;
  }
  return early;
}

}  // namespace

void plan_late_products(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (!adds_two_tensors(rewrites, node)) continue;
    const Node* product = early_product(rewrites, node);
    if (product == nullptr) continue;
    const NodeId moved = rewrites.id_of(*product), sum = rewrites.id_of(node);
    rewrites.replace_nodes({moved, sum}, [moved, sum](RebuiltGraph& g) {
      g.keep_node(moved);
      g.keep_node(sum);
    });
  }
}

}  // namespace accsim::sim
