#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

struct Recurrent {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false;
};

/// Directions, sizes and layout of an RNN, GRU or LSTM, checked against W, R and B. `turned`: the
/// rows of W and R are columns.
Result<Recurrent> recurrent_shape(const NodeView& node, int64_t gates, bool turned = false) {
  for (size_t i : {size_t{0}, size_t{1}, size_t{2}})
    if (Status s = want_rank(node, i, 3); !s) return s.errors();
  Recurrent r;
  const std::string direction = node.attr("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return bad_node(node, fmt::format("attribute 'direction' is '{}', not forward, reverse or "
                                      "bidirectional",
                                      direction));
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.batch_first = int_attr(node, "layout", 0) != 0;
  const Dims& x = node.dims(0);
  r.steps = x[r.batch_first ? 1 : 0];
  r.batch = x[r.batch_first ? 0 : 1];
  r.inputs = x[2];
  r.hidden = node.dims(2)[turned ? 1 : 2];
  if (int_attr(node, "hidden_size", r.hidden) != r.hidden)
    return bad_node(node, fmt::format("attribute 'hidden_size' is {}, but R is {}",
                                      int_attr(node, "hidden_size", 0), to_string(node.dims(2))));
  const int64_t rows = capped_product({gates, r.hidden});
  Dims w{r.directions, rows, r.inputs}, recurrence{r.directions, rows, r.hidden};
  for (Dims* d : {&w, &recurrence})
    if (turned) std::swap((*d)[1], (*d)[2]);
  const Dims bias{r.directions, capped_product({2, rows})};
  if (node.dims(1) != w || node.dims(2) != recurrence)
    return bad_node(node,
                    fmt::format("W {} and R {} must be {} and {}", to_string(node.dims(1)),
                                to_string(node.dims(2)), to_string(w), to_string(recurrence)));
  if (node.has_input(3) && node.dims(3) != bias)
    return bad_node(node, fmt::format("B {} must be {}", to_string(node.dims(3)), to_string(bias)));
  const Dims state =
      r.batch_first ? Dims{r.batch, r.directions, r.hidden} : Dims{r.directions, r.batch, r.hidden};
  for (const size_t i : {size_t{5}, size_t{6}})
    if (node.has_input(i) && node.dims(i) != state)
      return bad_node(node, fmt::format("the initial state {} must be {}", to_string(node.dims(i)),
                                        to_string(state)));
  return r;
}

struct GateOps {
  int64_t elementwise, special;
};

/// Vector operations per hidden element and step. Adding the recurrent part is one per gate; the
/// input bias is the product's.
GateOps gate_ops(int64_t gates, bool peepholes) {
  switch (gates) {
    case 4:  // c = f c + i g; h = o tanh(c); peepholes: 3 products, 3 sums
      return {4 + 3 + 1 + (peepholes ? 6 : 0), 5};
    case 3:  // r h; h = (1 - z) n + z h
      return {3 + 1 + 4, 3};
    default:
      return {1, 1};
  }
}

Status set_states(InferContext& node, const Recurrent& r, bool cells) {
  const DType type = node.dtype(0);
  const Dims all = r.batch_first ? Dims{r.batch, r.steps, r.directions, r.hidden}
                                 : Dims{r.steps, r.directions, r.batch, r.hidden};
  const Dims last =
      r.batch_first ? Dims{r.batch, r.directions, r.hidden} : Dims{r.directions, r.batch, r.hidden};
  if (Status s = set_if_wanted(node, 0, type, all); !s) return s;
  if (Status s = set_if_wanted(node, 1, type, last); !s) return s;
  return cells ? set_if_wanted(node, 2, type, last) : ok();
}

Result<Work> recurrent_work(const NodeView& node, const Recurrent& r, int64_t gate_count) {
  const int64_t columns = capped_product({gate_count, r.hidden});
  const int64_t states = capped_product({r.steps, r.batch, r.hidden});
  const GateOps ops = gate_ops(gate_count, node.has_input(7));
  Work work;
  for (int64_t d = 0; d < r.directions; ++d) {
    GemmOp in = matrix_product(1, capped_product({r.steps, r.batch}), r.inputs, columns);
    if (node.has_input(3)) in.bias_port = 3;
    GemmOp state = matrix_product(r.steps, r.batch, r.hidden, columns);
    state.b_port = 2;
    state.b_shared = r.steps > 1;
    // The state goes round, and what the products give is neither the node's input nor its output.
    in.out_port = state.a_port = state.out_port = kInternalPort;
    VectorOp gates;
    // Both products' results come in, one direction's share of every output goes out.
    gates.inputs.push_back({kInternalPort, capped_product({2, states, gate_count}), 0});
    for (size_t i = 5; i < std::min<size_t>(node.input_count(), 8); ++i)
      read_part(node, i, input_size(node, i) / r.directions, 0, gates.inputs);
    for (size_t i = 0; i < node.output_count(); ++i)
      if (const int64_t share = output_size(node, i) / r.directions; share > 0)
        gates.outputs.push_back({static_cast<int>(i), share, 0});
    gates[VectorClass::elementwise] = capped_product({states, ops.elementwise});
    gates[VectorClass::special] = capped_product({states, ops.special});
    work.insert(work.end(), {in, state, gates});
  }
  return checked_work(node, std::move(work));
}

}  // namespace

template <int kGates>
Status recurrent_rule(InferContext& node) {
  const Result<Recurrent> r = recurrent_shape(node, kGates);
  return r ? set_states(node, *r, kGates == 4) : r.errors();
}

template <int kGates>
Result<Work> recurrent_cost(const NodeView& node) {
  const Result<Recurrent> r = recurrent_shape(node, kGates);
  if (!r) return r.errors();
  return recurrent_work(node, *r, kGates);
}

Status dynamic_lstm_rule(InferContext& node) {
  const Result<Recurrent> r = recurrent_shape(node, 4, true);
  if (!r) return r.errors();
  const Dims one{r->directions}, each{r->directions, capped_product({4, r->hidden})};
  for (size_t i = 8; i < 12; ++i)
    if (!node.has_input(i) || (node.dims(i) != one && node.dims(i) != each))
      return bad_node(node,
                      fmt::format("input {} must be {} or {}", i, to_string(one), to_string(each)));
  return set_states(node, *r, true);
}

Result<Work> dynamic_lstm_cost(const NodeView& node) {
  const Result<Recurrent> r = recurrent_shape(node, 4, true);
  if (!r) return r.errors();
  return recurrent_work(node, *r, 4);
}

template Status recurrent_rule<1>(InferContext&);
template Status recurrent_rule<3>(InferContext&);
template Status recurrent_rule<4>(InferContext&);
template Result<Work> recurrent_cost<1>(const NodeView&);
template Result<Work> recurrent_cost<3>(const NodeView&);
template Result<Work> recurrent_cost<4>(const NodeView&);

}  // namespace accsim::sim
