#include "sim/lower/recurrent_steps.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "sim/lower/part_speller.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr size_t kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4, kState = 5, kCells = 6,
                 kPeepholes = 7;

/// Gates of an operator; 0: it is another one.
int64_t gates_of(const Node& node) {
  if (!node.domain.empty()) return 0;
  return node.op_type == op::kLSTM ? 4 : node.op_type == op::kGRU ? 3 : node.op_type == op::kRNN;
}

struct Sizes {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1, gates = 1;
};

Sizes sizes_of(const NodeView& node) {
  const Dims &x = node.dims(0), &r = node.dims(kRecurrence);
  return {x[0], x[1], x[2], r[2], r[0], gates_of(node.node())};
}

/// Adds the steps of one direction.
class Direction {
 public:
  Direction(PartSpeller& speller, const Sizes& sizes, int64_t index, bool reverse)
      : p_(speller), s_(sizes), d_(index), reverse_(reverse) {
    const std::string name = reverse ? "reverse" : "forward";
    prefix_ = name + "/";
  }

  /// States by step; the last one of a run is last_state().
  std::vector<TensorId> add_all() {
    add_products();
    std::vector<TensorId> states(static_cast<size_t>(s_.steps), kNoTensor);
    for (int64_t k = 0; k < s_.steps; ++k) {
      const int64_t t = reverse_ ? s_.steps - 1 - k : k;
      step_ = prefix_ + "step_" + std::to_string(t) + "/";
      const TensorId x = p_.add_slice(step_ + "inputs", sums_, 0, t * s_.batch, s_.batch);
      if (s_.gates == 4)
        add_lstm(x);
      else if (s_.gates == 3)
        add_gru(x);
      else
        state_ = add(op::kTanh, "state", {gate_sums("sums", x, recurrence_, kNoTensor)});
      states[static_cast<size_t>(t)] = state_;
    }
    return states;
  }
  TensorId last_state() const { return state_; }
  TensorId last_cells() const { return cells_; }

 private:
  bool has(size_t port) const {
    return port < p_.node().inputs.size() && p_.input(port) != kNoTensor;
  }
  /// The direction's part of an input, under dims without the one of directions.
  TensorId part(size_t port, const std::string& name, Dims to) {
    const TensorId own = p_.add_slice(prefix_ + name, p_.input(port), 0, d_, 1);
    return p_.add_reshape(prefix_ + name + "_matrix", own, std::move(to));
  }
  /// An operator of two dims, as its first input.
  TensorId add(const char* op, const char* name, std::vector<TensorId> inputs) {
    Dims to = p_.dims(inputs[0]);
    return p_.add(op, step_ + name, std::move(inputs), std::move(to));
  }
  TensorId columns(const char* name, TensorId of, int64_t first, int64_t count) {
    return p_.add_slice(step_ + name, of, 1, first * s_.hidden, count * s_.hidden);
  }
  TensorId product(const std::string& name, TensorId a, TensorId b, TensorId bias) {
    std::vector<TensorId> inputs{a, b};
    if (bias != kNoTensor) inputs.push_back(bias);
    return p_.add(op::kGemm, name, std::move(inputs), {p_.dims(a)[0], p_.dims(b)[0]},
                  {{"transB", "", int64_t{1}}});
  }
  /// A product of the state, and what is added to it.
  TensorId gate_sums(const char* name, TensorId x, TensorId weights, TensorId bias) {
    const std::string of_state = step_ + name + "_of_state";
    return add(op::kAdd, name, {product(of_state, state_, weights, bias), x});
  }

  void add_products() {
    const int64_t rows = s_.gates * s_.hidden;
    TensorId bias = kNoTensor;
    recurrence_ = part(kRecurrence, "recurrence", {rows, s_.hidden});
    if (has(kBias)) {
      const TensorId both = part(kBias, "biases", {2 * rows});
      bias = p_.add_slice(prefix_ + "bias", both, 0, 0, rows);
      const TensorId of_state = p_.add_slice(prefix_ + "bias_of_state", both, 0, rows, rows);
      if (s_.gates == 3)  // a gate multiplies it
        state_bias_ = of_state;
      else
        bias = p_.add(op::kAdd, prefix_ + "bias_of_both", {bias, of_state}, {rows});
    }
    const TensorId x =
        p_.add_reshape(prefix_ + "inputs", p_.input(0), {s_.steps * s_.batch, s_.inputs});
    sums_ = product(prefix_ + "of_inputs", x, part(kWeights, "weights", {rows, s_.inputs}), bias);
    state_ = initial(kState, "state");
    if (s_.gates == 4) cells_ = initial(kCells, "cells");
  }
  /// Known ones are made in the run: the first step's product is one of the network's.
  TensorId initial(size_t port, const char* name) {
    if (!has(port)) return zeros();
    const TensorId given = part(port, name, {s_.batch, s_.hidden});
    if (!p_.graph().tensor(given).constant) return given;
    return p_.add(op::kAdd, prefix_ + "first_" + name, {zeros(), given}, p_.dims(given));
  }
  TensorId zeros() {
    if (zeros_ != kNoTensor) return zeros_;
    step_ = prefix_;
    const TensorId first = p_.add_slice(prefix_ + "first", sums_, 0, 0, s_.batch);
    const TensorId any = columns("first_columns", first, 0, 1);
    return zeros_ = add(op::kSub, "zeros", {any, any});
  }

  /// Gates i, o, f and c, as W has them.
  void add_lstm(TensorId x) {
    const TensorId sums = gate_sums("sums", x, recurrence_, kNoTensor);
    const TensorId open = add(op::kSigmoid, "gates", {columns("gate_sums", sums, 0, 3)});
    const TensorId fresh = add(op::kTanh, "fresh", {columns("fresh_sums", sums, 3, 1)});
    const TensorId kept = add(op::kMul, "kept", {columns("forget", open, 2, 1), cells_});
    const TensorId taken = add(op::kMul, "taken", {columns("input", open, 0, 1), fresh});
    cells_ = add(op::kAdd, "cells", {kept, taken});
    const TensorId shown = add(op::kTanh, "shown", {cells_});
    state_ = add(op::kMul, "state", {columns("output", open, 1, 1), shown});
  }

  TensorId rows_of_recurrence(const char* name, int64_t first, int64_t count) {
    return p_.add_slice(prefix_ + name, recurrence_, 0, first * s_.hidden, count * s_.hidden);
  }
  TensorId part_of_bias(const char* name, int64_t first, int64_t count) {
    return state_bias_ == kNoTensor
               ? kNoTensor
               : p_.add_slice(prefix_ + name, state_bias_, 0, first * s_.hidden, count * s_.hidden);
  }

  /// Gates z, r and h. The reset gate is for the state, or for the product of it.
  void add_gru(TensorId x) {
    const bool behind =
        NodeView(p_.graph().before(), p_.node()).attr("linear_before_reset", int64_t{0}) != 0;
    const TensorId x_gates = columns("gate_inputs", x, 0, 2),
                   x_fresh = columns("fresh_inputs", x, 2, 1);
    TensorId gate_sum, of_state = kNoTensor;
    if (behind) {
      const TensorId all = product(step_ + "of_state", state_, recurrence_, state_bias_);
      gate_sum = add(op::kAdd, "gate_sums", {columns("gates_of_state", all, 0, 2), x_gates});
      of_state = columns("fresh_of_state", all, 2, 1);
    } else {
      if (gate_rows_ == kNoTensor) {
        gate_rows_ = rows_of_recurrence("gate_rows", 0, 2);
        fresh_rows_ = rows_of_recurrence("fresh_rows", 2, 1);
        gate_bias_ = part_of_bias("gate_bias", 0, 2);
        fresh_bias_ = part_of_bias("fresh_bias", 2, 1);
      }
      gate_sum = gate_sums("gate_sums", x_gates, gate_rows_, gate_bias_);
    }
    const TensorId open = add(op::kSigmoid, "gates", {gate_sum});
    const TensorId reset = columns("reset", open, 1, 1), update = columns("update", open, 0, 1);
    if (behind) {
      of_state = add(op::kMul, "reset_of_state", {reset, of_state});
    } else {
      const TensorId seen = add(op::kMul, "seen", {reset, state_});
      of_state = product(step_ + "of_seen", seen, fresh_rows_, fresh_bias_);
    }
    const TensorId fresh =
        add(op::kTanh, "fresh", {add(op::kAdd, "fresh_sums", {of_state, x_fresh})});
    const TensorId older = add(op::kSub, "older", {state_, fresh});
    state_ = add(op::kAdd, "state", {add(op::kMul, "kept", {update, older}), fresh});
  }

  PartSpeller& p_;
  const Sizes s_;
  const int64_t d_;
  const bool reverse_;
  std::string prefix_, step_;
  TensorId sums_ = kNoTensor;  ///< of all inputs: a line per step and batch entry
  TensorId recurrence_ = kNoTensor, state_bias_ = kNoTensor, zeros_ = kNoTensor;
  TensorId gate_rows_ = kNoTensor, fresh_rows_ = kNoTensor;
  TensorId gate_bias_ = kNoTensor, fresh_bias_ = kNoTensor;
  TensorId state_ = kNoTensor, cells_ = kNoTensor;
};

/// States of [batch, hidden], one behind the other, as an output.
void give_states(PartSpeller& p, const Sizes& s, const std::vector<TensorId>& states, size_t port) {
  const std::vector<TensorId>& outputs = p.node().outputs;
  if (port >= outputs.size() || outputs[port] == kNoTensor) return;
  const std::string name = "output_" + std::to_string(port);
  std::vector<TensorId> lines;
  for (size_t i = 0; i < states.size(); ++i)
    lines.push_back(
        p.add_reshape(name + "/" + std::to_string(i), states[i], {1, s.batch, s.hidden}));
  const TensorId all =
      lines.size() == 1 ? lines[0]
                        : p.add(op::kConcat, name + "/all", lines,
                                {std::ssize(lines), s.batch, s.hidden}, {{"axis", "", int64_t{0}}});
  reshape_into(p.graph(), all, outputs[port], p.node().name + "/" + name);
}

void add_steps(RebuiltGraph& g, const Node& node, const Sizes& s) {
  PartSpeller p(g, node);
  const bool reverse = NodeView(g.before(), node).attr("direction", "forward") == "reverse";
  std::vector<TensorId> all(static_cast<size_t>(s.steps * s.directions)), last, cells;
  for (int64_t d = 0; d < s.directions; ++d) {
    Direction direction(p, s, d, reverse || d == 1);
    const std::vector<TensorId> states = direction.add_all();
    for (size_t t = 0; t < states.size(); ++t)
      all[t * static_cast<size_t>(s.directions) + static_cast<size_t>(d)] = states[t];
    last.push_back(direction.last_state());
    cells.push_back(direction.last_cells());
  }
  give_states(p, s, all, 0);
  give_states(p, s, last, 1);
  if (s.gates == 4) give_states(p, s, cells, 2);
}

/// Are the activations, if they are stated, what they are by default?
bool has_default_activations(const NodeView& node, const Sizes& s) {
  const auto* stated = held_value<std::vector<std::string>>(node.find_attribute("activations"));
  if (stated == nullptr) return !node.has_attr("activations");
  std::string all, wanted;
  for (const std::string& name : *stated)
    for (const char c : name + " ") all += static_cast<char>(std::tolower(c));
  for (int64_t d = 0; d < s.directions; ++d)
    wanted += s.gates == 4 ? "sigmoid tanh tanh " : s.gates == 3 ? "sigmoid tanh " : "tanh ";
  return all == wanted;
}

/// Are lengths of sequences absent, or known to be all that there is?
bool takes_all_steps(const NodeView& node, int64_t steps) {
  if (!node.has_input(kLengths)) return true;
  const ConstData* lengths = node.value(kLengths);
  if (lengths == nullptr || !node.input(kLengths).constant || !lengths->is_integer()) return false;
  return std::ranges::all_of(lengths->integers(), [&](int64_t n) { return n == steps; });
}

bool is_plain(const NodeView& node, const Sizes& s) {
  for (const char* other : {"clip", "activation_alpha", "activation_beta"})
    if (node.has_attr(other)) return false;
  return node.attr("input_forget", int64_t{0}) == 0 && node.attr("layout", int64_t{0}) == 0 &&
         has_default_activations(node, s) && takes_all_steps(node, s.steps) &&
         !node.has_input(kPeepholes) && is_float(node.dtype(0));
}

}  // namespace

void plan_recurrent_steps(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || gates_of(node) == 0) continue;
    const NodeView view(rewrites.graph(), node);
    const Sizes s = sizes_of(view);
    const bool any = std::min({s.steps, s.batch, s.inputs, s.hidden}) > 0;
    if (!any || s.steps > kMostSteps / s.directions || !is_plain(view, s)) continue;
    rewrites.replace_nodes({rewrites.id_of(node)},
                           [&node, s](RebuiltGraph& g) { add_steps(g, node, s); });
  }
}

}  // namespace accsim::sim
