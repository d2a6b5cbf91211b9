#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/operators/contrib/contrib_rules.h"
#include "sim/operators/expert_groups.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Where a mixture's operator has its inputs. MoE's biases stand behind its weights, QMoE's behind
/// their scales.
struct MixturePorts {
  size_t fc1 = 2, bias1 = 3, fc2 = 4, bias2 = 5, fc3 = 6, bias3 = 7;
  bool packed = false;  ///< bytes of weights hold numbers of `expert_weight_bits` bits
};
constexpr MixturePorts kPlainPorts;
constexpr MixturePorts kPackedPorts{2, 4, 5, 7, 8, 10, true};

/// Sizes of a mixture of experts.
struct Mixture {
  MixturePorts ports;
  int64_t tokens = 0, hidden = 0, experts = 0, chosen = 0, inner = 0;
  int64_t first =
      0;  ///< results of the first product: twice as many as inner where gates are fused
  bool gated = false;
  bool turned = true;  ///< weights lie output by output, else input by input

  bool has_gates(const NodeView& node) const { return node.has_input(ports.fc3); }
  ExpertChoice routing() const { return {tokens, chosen}; }
  int64_t rows() const { return capped_product({tokens, chosen}); }
};

/// Dims of weights, however many numbers a byte holds.
Result<Dims> weight_dims(const NodeView& node, const MixturePorts& ports, size_t port) {
  Dims dims = node.dims(port);
  const int64_t width = int_attr(node, "expert_weight_bits", 4);
  if (!ports.packed || bits(node.dtype(port)) < 8) return dims;
  if (width != 2 && width != 4 && width != 8)
    return unsupported_node(node, fmt::format("weights of {} bits aren't known", width));
  dims.back() = capped_product({dims.back(), 8 / width});
  return dims;
}

Status check_experts(const NodeView& node, const MixturePorts& ports, size_t port, Dims wanted,
                     bool turned) {
  if (!turned) std::swap(wanted[1], wanted[2]);
  const Result<Dims> dims = weight_dims(node, ports, port);
  if (!dims) return dims.errors();
  if (*dims == wanted) return ok();
  return bad_node(node,
                  fmt::format("experts' weights {} must be {}{}", to_string(node.dims(port)),
                              to_string(wanted), ports.packed ? " when they are unpacked" : ""));
}

/// The sizes that weights say: output by output, or in older files of QMoE input by input.
Status take_sizes(const NodeView& node, const MixturePorts& ports, Mixture& m) {
  for (const size_t port : {ports.fc1, ports.fc2})
    if (Status s = want_rank(node, port, 3); !s) return s;
  const Result<Dims> fc1 = weight_dims(node, ports, ports.fc1),
                     fc2 = weight_dims(node, ports, ports.fc2);
  if (!fc1 || !fc2) return fc1 ? fc2.errors() : fc1.errors();
  m.experts = (*fc1)[0];
  m.turned = !ports.packed || (*fc1)[2] == m.hidden || (*fc1)[1] != m.hidden;
  m.first = (*fc1)[m.turned ? 1 : 2];
  m.inner = (*fc2)[m.turned ? 2 : 1];
  return ok();
}

Result<Mixture> plan_mixture(const NodeView& node, const MixturePorts& ports) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s.errors();
  if (Status s = want_input(node, ports.fc2, "fc2_experts_weights"); !s) return s.errors();
  const Dims& x = node.dims(0);
  Mixture m;
  m.ports = ports;
  m.hidden = x.back();
  m.tokens = elements(x, 0, x.size() - 1);
  if (Status s = take_sizes(node, ports, m); !s) return s.errors();
  m.gated = m.first == 2 * m.inner || m.has_gates(node);
  m.chosen = int_attr(node, "k", 1);
  if (node.dims(1) != Dims{m.tokens, m.experts} || m.chosen < 1 || m.chosen > m.experts)
    return bad_node(node, fmt::format("router {} doesn't choose {} of {} experts for {} tokens",
                                      to_string(node.dims(1)), m.chosen, m.experts, m.tokens));
  if (m.first != m.inner && m.first != 2 * m.inner)
    return bad_node(
        node, fmt::format("the first weights make {} of {} inner channels", m.first, m.inner));
  const Dims up{m.experts, m.first, m.hidden}, down{m.experts, m.hidden, m.inner},
      gate{m.experts, m.inner, m.hidden};
  if (Status s = check_experts(node, ports, ports.fc1, up, m.turned); !s) return s.errors();
  if (Status s = check_experts(node, ports, ports.fc2, down, m.turned); !s) return s.errors();
  if (m.has_gates(node))
    if (Status s = check_experts(node, ports, ports.fc3, gate, m.turned); !s) return s.errors();
  return m;
}

/// By expert, the rows that the stated numbers of the router send to it: each token's to the k
/// largest, of equal ones to the first.
std::vector<int64_t> routed_rows(const ConstData& router, const Mixture& m) {
  std::vector<int64_t> out(static_cast<size_t>(m.experts), 0);
  std::vector<size_t> order(out.size());
  for (int64_t token = 0; token < m.tokens; ++token) {
    const auto at = static_cast<size_t>(token * m.experts);
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return router.as_double(at + a) > router.as_double(at + b);
    });
    for (int64_t i = 0; i < m.chosen; ++i) ++out[order[static_cast<size_t>(i)]];
  }
  return out;
}

/// Experts by the rows that go to them.
std::vector<ExpertRows> row_groups(const NodeView& node, const Mixture& m) {
  if (const ConstData* router = node.value(1)) return groups_of_rows(routed_rows(*router, m));
  const int64_t used =
      node.noted_size(kExpertsAtWork).value_or(usual_experts(m.experts, m.routing()));
  return even_groups(m.rows(), used);
}

/// Products of the rows that go to experts, each with its own one's weights.
void append_products(const NodeView& node, const Mixture& m, int64_t inputs, int64_t outputs,
                     const GemmOp& ports, Work& work) {
  for (const ExpertRows& group : row_groups(node, m)) {
    GemmOp product = matrix_product(group.experts, group.rows, inputs, outputs);
    product.b_transposed = m.turned;
    product.a_port = ports.a_port;
    product.b_port = ports.b_port;
    product.out_port = ports.out_port;
    work.emplace_back(product);
  }
}

/// What is between the steps, by internal port.
constexpr int kSent = 0, kChosen = 1, kFirst = 2, kLast = 4, kActivated = 5, kGates = 6;

/// Softmax of every token's row of the router, and its largest.
VectorOp routing_op(const NodeView& node, const Mixture& m) {
  VectorOp op;
  read_input(node, 1, op.inputs);
  const int64_t all = capped_product({m.tokens, m.experts});
  op.outputs.push_back({ValuePort::made(kChosen, 0), capped_product({m.tokens, m.chosen}), 0});
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
  op.outputs.push_back(
      {ValuePort::made(kSent, 0), capped_product({m.tokens, m.chosen, m.hidden}), 0});
  return op;
}

/// The activation between the products, and the product with the other half where it is gated.
VectorOp activation_op(const NodeView& node, const Mixture& m) {
  const int64_t rows = capped_product({m.tokens, m.chosen}),
                results = capped_product({rows, m.inner});
  const std::string name = node.attr("activation_type", "relu");
  VectorOp op;
  op.inputs.push_back({ValuePort::made(kFirst, 0), capped_product({rows, m.first}), 0});
  if (m.has_gates(node)) op.inputs.push_back({ValuePort::made(kGates, 0), results, 0});
  op.outputs.push_back({ValuePort::made(kActivated, 0), results, 0});
  const bool special = name != "relu" && name != "identity";
  op[VectorClass::special] = special ? results : 0;
  op[VectorClass::elementwise] = capped_product(
      {(name != "identity" ? 1 : 0) + (m.gated ? 1 : 0) + (node.has_input(m.ports.bias1) ? 1 : 0),
       results});
  return op;
}

/// The experts' results times their weights, summed for every token.
VectorOp combine_op(const NodeView& node, const Mixture& m) {
  const int64_t results = capped_product({m.tokens, m.chosen, m.hidden});
  VectorOp op;
  op.inputs.push_back({ValuePort::made(kLast, 0), results, 0});
  op.inputs.push_back({ValuePort::made(kChosen, 0), capped_product({m.tokens, m.chosen}), 0});
  write_output(node, 0, op.outputs);
  op[VectorClass::elementwise] = capped_product({node.has_input(m.ports.bias2) ? 3 : 2, results});
  return op;
}

/// Output as input 0; notes how many experts are at work, unless the router's numbers are stated.
Status mixture_rule(InferContext& node, const MixturePorts& ports) {
  const Result<Mixture> m = plan_mixture(node, ports);
  if (!m) return m.errors();
  if (Status s = same_shape(node); !s) return s;
  if (node.value(1) != nullptr || m->tokens < 1) return ok();
  const Result<int64_t> used = node.assumed_size({.of = std::string(kExpertsAtWork),
                                                  .bound = std::min(m->experts, m->rows()),
                                                  .size = usual_experts(m->experts, m->routing()),
                                                  .of_cost = true});
  if (!used) return used.errors();
  if (*used < 1) return bad_node(node, "--assume gives no expert any of the tokens");
  return ok();
}

Result<Work> mixture_cost(const NodeView& node, const MixturePorts& in) {
  const Result<Mixture> m = plan_mixture(node, in);
  if (!m) return m.errors();
  Work work{routing_op(node, *m), dispatch_op(node, *m)};
  GemmOp ports;
  ports.a_port = ValuePort::made(kSent, 0);
  ports.b_port = static_cast<int>(in.fc1);
  ports.out_port = ValuePort::made(kFirst, 0);
  append_products(node, *m, m->hidden, m->first, ports, work);
  if (m->has_gates(node)) {
    ports.b_port = static_cast<int>(in.fc3);
    ports.out_port = ValuePort::made(kGates, 0);
    append_products(node, *m, m->hidden, m->inner, ports, work);
  }
  work.emplace_back(activation_op(node, *m));
  ports.a_port = ValuePort::made(kActivated, 0);
  ports.b_port = static_cast<int>(in.fc2);
  ports.out_port = ValuePort::made(kLast, 0);
  append_products(node, *m, m->inner, m->hidden, ports, work);
  work.emplace_back(combine_op(node, *m));
  return checked_work(node, std::move(work));
}

}  // namespace

Status moe_rule(InferContext& node) { return mixture_rule(node, kPlainPorts); }
Result<Work> moe_cost(const NodeView& node) { return mixture_cost(node, kPlainPorts); }

Status packed_moe_rule(InferContext& node) {
  const MixturePorts& ports = kPackedPorts;
  for (const size_t port : {ports.fc1, ports.fc2, ports.fc3})
    if (node.has_input(port) && !node.input(port).constant)
      return unsupported_node(node, "its packed weights aren't constant, so nobody unpacks them");
  return mixture_rule(node, ports);
}
Result<Work> packed_moe_cost(const NodeView& node) { return mixture_cost(node, kPackedPorts); }

}  // namespace accsim::sim
