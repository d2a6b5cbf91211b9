#include "sim/ref/run_work.h"

#include <array>

#include "sim/base/dims.h"
#include "sim/operators/op_table.h"
#include "sim/work/work.h"

namespace accsim::sim::ref {
namespace {

/// A product makes some 2 * 10^10 multiply-accumulates a second, a node reads or writes some 10^9
/// elements, of strided moves 2 * 10^8.
constexpr double kElement = 40;
/// elementwise, special, reduce, pool, resize, convert, search
constexpr std::array<double, kVectorClasses> kOperations = {10, 200, 20, 40, 60, 40, 100};

double operations_of(const GemmOp& op) {
  const auto real = [](int64_t v) { return static_cast<double>(v); };
  return real(op.batch) * real(op.m()) * real(op.k()) * real(op.n());
}

double operations_of(const VectorOp& op) {
  double sum = 0;
  for (size_t i = 0; i < kVectorClasses; ++i)
    sum += kOperations[i] * static_cast<double>(op.ops[i]);
  return sum;
}

double operations_of(const MemoryOp&) { return 0; }

/// What a step reads: of a large tensor often a part.
double elements_read(const GemmOp& op) {
  const auto real = [](int64_t v) { return static_cast<double>(v); };
  return real(op.batch) * (real(op.m()) * real(op.k()) + real(op.k()) * real(op.n()));
}
template <class Op>
double elements_read(const Op& op) {
  double sum = 0;
  for (const Access& a : op.inputs) sum += static_cast<double>(a.elements);
  return sum;
}

double elements_of(const Graph& graph, const std::vector<TensorId>& ids) {
  double sum = 0;
  for (const TensorId id : ids)
    if (id != kNoTensor) sum += static_cast<double>(elements(graph.tensor(id).dims));
  return sum;
}

}  // namespace

double run_operations(const Graph& graph) {
  double sum = 0;
  for (const Node& node : graph.nodes) {
    if (node.absorbed) continue;
    sum += kElement * elements_of(graph, node.outputs);
    const OpRow* row = find_op(node);
    if (!row || !row->cost) continue;
    const Result<Work> work = row->cost(NodeView(graph, node));
    if (!work) continue;
    for (const WorkItem& item : *work)
      sum += std::visit(
          [](const auto& op) { return operations_of(op) + kElement * elements_read(op); }, item);
  }
  return sum;
}

}  // namespace accsim::sim::ref
