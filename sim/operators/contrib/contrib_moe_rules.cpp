#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Sizes of a mixture of experts.
struct Mixture {
  int64_t tokens = 0, hidden = 0, experts = 0, chosen = 0, inner = 0;
  int64_t first =
      0;  ///< results of the first product: twice as many as inner where gates are fused
  bool gated = false;
};

Status check_experts(const NodeView& node, size_t port, const Dims& wanted) {
  if (node.dims(port) == wanted) return ok();
  return bad_node(node, fmt::format("experts' weights {} must be {}", to_string(node.dims(port)),
                                    to_string(wanted)));
}

Result<Mixture> plan_mixture(const NodeView& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s.errors();
  if (Status s = want_input(node, 4, "fc2_experts_weights"); !s) return s.errors();
  for (const size_t port : {size_t{2}, size_t{4}})
    if (Status s = want_rank(node, port, 3); !s) return s.errors();
  const Dims& x = node.dims(0);
  Mixture m;
  m.hidden = x.back();
  m.tokens = elements(x, 0, x.size() - 1);
  m.experts = node.dims(2)[0];
  m.first = node.dims(2)[1];
  m.inner = node.dims(4)[2];
  m.gated = m.first == 2 * m.inner || node.has_input(6);
  m.chosen = int_attr(node, "k", 1);
  if (node.dims(1) != Dims{m.tokens, m.experts} || m.chosen < 1 || m.chosen > m.experts)
    return bad_node(node, fmt::format("router {} doesn't choose {} of {} experts for {} tokens",
                                      to_string(node.dims(1)), m.chosen, m.experts, m.tokens));
  if (m.first != m.inner && m.first != 2 * m.inner)
    return bad_node(
        node, fmt::format("the first weights make {} of {} inner channels", m.first, m.inner));
  if (Status s = check_experts(node, 2, {m.experts, m.first, m.hidden}); !s) return s.errors();
  if (Status s = check_experts(node, 4, {m.experts, m.hidden, m.inner}); !s) return s.errors();
  if (node.has_input(6))
    if (Status s = check_experts(node, 6, {m.experts, m.inner, m.hidden}); !s) return s.errors();
  return m;
}

/// Products of the rows that go to experts, each with its own one's weights. The rows are spread
/// over as many experts as there can be, as evenly as they can be.
void append_products(const Mixture& m, int64_t inputs, int64_t outputs, const GemmOp& ports,
                     Work& work) {
  const int64_t rows = capped_product({m.tokens, m.chosen}), used = std::min(m.experts, rows);
  if (used == 0) return;
  const int64_t fuller = rows % used;
  for (const auto& [experts, each] :
       {std::pair(used - fuller, rows / used), std::pair(fuller, rows / used + 1)}) {
    if (experts == 0) continue;
    GemmOp product = matrix_product(experts, each, inputs, outputs);
    product.b_transposed = true;  // weights lie output by output
    product.a_port = ports.a_port;
    product.b_port = ports.b_port;
    product.out_port = ports.out_port;
    work.emplace_back(product);
  }
}

/// Softmax of every token's row of the router, and its largest.
VectorOp routing_op(const NodeView& node, const Mixture& m) {
  VectorOp op;
  read_input(node, 1, op.inputs);
  const int64_t all = capped_product({m.tokens, m.experts});
  op.outputs.push_back({ValuePort::made(1, 0), capped_product({m.tokens, m.chosen}), 0});
  op[VectorClass::reduce] = op[VectorClass::elementwise] = capped_product({2, all});
  op[VectorClass::special] = capped_sum(all, m.tokens);
  op[VectorClass::search] = capped_product({all, bisection_steps(m.chosen)});
  op.row = m.experts;
  return op;
}

/// The tokens' rows, one behind the other for every expert.
MemoryOp dispatch_op(const NodeView& node, const Mixture& m) {
  MemoryOp op;
  read_part(node, 0, capped_product({m.tokens, m.chosen, m.hidden}), m.hidden, op.inputs);
  op.outputs.push_back({ValuePort::made(0, 0), capped_product({m.tokens, m.chosen, m.hidden}), 0});
  return op;
}

/// The activation between the products, and the product with the other half where it is gated.
VectorOp activation_op(const NodeView& node, const Mixture& m) {
  const int64_t rows = capped_product({m.tokens, m.chosen}),
                results = capped_product({rows, m.inner});
  const std::string name = node.attr("activation_type", "relu");
  VectorOp op;
  op.inputs.push_back({ValuePort::made(2, 0), capped_product({rows, m.first}), 0});
  if (node.has_input(6)) op.inputs.push_back({ValuePort::made(6, 0), results, 0});
  op.outputs.push_back({ValuePort::made(4, 1), results, 0});
  const bool special = name != "relu" && name != "identity";
  op[VectorClass::special] = special ? results : 0;
  op[VectorClass::elementwise] = capped_product(
      {(name != "identity" ? 1 : 0) + (m.gated ? 1 : 0) + (node.has_input(3) ? 1 : 0), results});
  return op;
}

/// The experts' results times their weights, summed for every token.
VectorOp combine_op(const NodeView& node, const Mixture& m) {
  const int64_t results = capped_product({m.tokens, m.chosen, m.hidden});
  VectorOp op;
  op.inputs.push_back({ValuePort::made(4, 0), results, 0});
  op.inputs.push_back({ValuePort::made(1, 0), capped_product({m.tokens, m.chosen}), 0});
  write_output(node, 0, op.outputs);
  op[VectorClass::elementwise] = capped_product({node.has_input(5) ? 3 : 2, results});
  return op;
}

}  // namespace

Status moe_rule(InferContext& node) {
  if (const Result<Mixture> m = plan_mixture(node); !m) return m.errors();
  return same_shape(node);
}

Result<Work> moe_cost(const NodeView& node) {
  const Result<Mixture> m = plan_mixture(node);
  if (!m) return m.errors();
  Work work{routing_op(node, *m), dispatch_op(node, *m)};
  GemmOp ports;
  ports.a_port = ValuePort::made(0, 0);
  ports.b_port = 2;
  ports.out_port = ValuePort::made(2, 0);
  append_products(*m, m->hidden, m->first, ports, work);
  if (node.has_input(6)) {
    ports.b_port = 6;
    ports.out_port = ValuePort::made(6, 0);
    append_products(*m, m->hidden, m->inner, ports, work);
  }
  work.emplace_back(activation_op(node, *m));
  ports.a_port = ValuePort::made(4, 1);
  ports.b_port = 4;
  ports.out_port = ValuePort::made(4, 0);
  append_products(*m, m->inner, m->hidden, ports, work);
  work.emplace_back(combine_op(node, *m));
  return checked_work(node, std::move(work));
}

}  // namespace accsim::sim
