#include "sim/lower/rotary_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "sim/lower/functions.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

size_t slot_of(int32_t id) { return static_cast<size_t>(id); }

using Pair = std::pair<TensorId, TensorId>;
Pair sorted_pair(TensorId a, TensorId b) { return std::minmax(a, b); }
/// The operands of two products.
using Products = std::pair<Pair, Pair>;
Products sorted_pair(Pair a, Pair b) { return std::minmax(a, b); }

class RotaryTables {
 public:
  RotaryTables(const Graph& graph, const std::vector<std::vector<NodeId>>& readers)
      : graph_(graph), readers_(readers), shown_(graph.tensors.size()), ports_(graph.nodes.size()) {
    for (size_t t = 0; t < shown_.size(); ++t) shown_[t] = static_cast<TensorId>(t);
  }

  std::vector<bool> find_tables() {
    for (const Node& node : graph_.nodes) note_shown(node);
    for (size_t i = 0; i < ports_.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      find_caches(id);
      if (!node_is(id, Algebra::add)) continue;
      find_turned(id);
      note_sum(id);
    }
    for (size_t i = 0; i < ports_.size(); ++i)
      if (node_is(static_cast<NodeId>(i), Algebra::subtract)) find_pairs(static_cast<NodeId>(i));
    return read_for_nothing_else();
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[slot_of(id)]; }
  TensorId shown_tensor(TensorId id) const { return shown_[slot_of(id)]; }
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }

  /// The node that makes what a tensor shows; nullptr: nobody does.
  const Node* maker_of(TensorId id) const {
    const NodeId producer = graph_.tensor(shown_tensor(id)).producer;
    return producer == kNoNode ? nullptr : &node(producer);
  }
  bool node_is(NodeId id, Algebra wanted) const { return is_operation(&node(id), wanted); }
  static bool is_operation(const Node* n, Algebra wanted) {
    const OpRow* row = n ? row_on_reals(*n) : nullptr;
    return row && row->algebra == wanted &&
           operand_count(*n) == (wanted == Algebra::negate ? 1 : 2);
  }

  /// An operator's row or, of one on integers that stand for reals, that of its form on those.
  static const OpRow* row_on_reals(const Node& n) {
    const OpRow* row = find_op(n);
    return row && !row->real.empty() ? find_op("", row->real) : row;
  }
  /// Inputs that are no scales and zero points; 0 where one is absent.
  static size_t operand_count(const Node& n) {
    size_t count = 0;
    for (size_t port = 0; port < n.inputs.size(); ++port) {
      if (find_op(n)->is_quantisation(port)) continue;
      if (n.inputs[port] == kNoTensor) return 0;
      ++count;
    }
    return count;
  }
  /// The port of one of these.
  static size_t port_of(const Node& n, size_t operand) {
    const OpRow* row = find_op(n);
    size_t port = 0;
    while (row->is_quantisation(port) || operand-- > 0) ++port;
    return port;
  }
  static TensorId operand_at(const Node& n, size_t which) { return n.inputs[port_of(n, which)]; }

  /// A tensor whose elements are another one's, under other dims or in another type, shows it.
  void note_shown(const Node& n) {
    const OpRow* row = find_op(n);
    if (!row || n.inputs.empty() || n.inputs[0] == kNoTensor || n.outputs.empty() ||
        n.outputs[0] == kNoTensor)
      return;
    const bool shows = row->fate == Fate::view || row->fusion == Fusion::turn ||
                       row->algebra == Algebra::convert || row->codes == Codes::makes ||
                       row->codes == Codes::takes;
    if (shows && elements(dims(n.inputs[0])) == elements(dims(n.outputs[0])))
      shown_[slot_of(n.outputs[0])] = shown_tensor(n.inputs[0]);
  }

  /// What a tensor is a piece of; kNoTensor: it isn't one.
  TensorId cut_from(TensorId id) const {
    const Node* n = maker_of(id);
    const bool cuts =
        n && n->domain.empty() && !n->inputs.empty() && n->inputs[0] != kNoTensor &&
        (n->op_type == op::kSlice || n->op_type == op::kSplit || n->op_type == op::kGather);
    return cuts && !graph_.tensor(n->inputs[0]).constant ? shown_tensor(n->inputs[0]) : kNoTensor;
  }

  /// The tensor of which this one is the negative; kNoTensor: of none.
  TensorId negation_source(TensorId id) const {
    const Node* n = maker_of(id);
    if (is_operation(n, Algebra::negate)) return n->inputs[0];
    if (!is_operation(n, Algebra::multiply)) return kNoTensor;
    for (const size_t port : {size_t{0}, size_t{1}}) {
      const ConstPtr& value = graph_.tensor(operand_at(*n, port)).value;
      if (value && value->size() == 1 && value->as_double(0) == -1) return operand_at(*n, 1 - port);
    }
    return kNoTensor;
  }

  /// The tensor whose pieces have changed places, one of them negated; kNoTensor: none.
  TensorId turn_source(TensorId id) const {
    const Node* put = maker_of(id);
    const OpRow* row = put ? row_on_reals(*put) : nullptr;
    if (put && stands_for_no_product(*put) && put->written_as == op::kConcat)
      return shown_tensor(put->inputs[0]);  // turned by a matrix
    if (!row || row->name != op::kConcat || operand_count(*put) != 2) return kNoTensor;
    for (const size_t port : {size_t{0}, size_t{1}}) {
      const TensorId minus = negation_source(operand_at(*put, port)),
                     plus = operand_at(*put, 1 - port);
      if (minus == kNoTensor || shown_tensor(minus) == shown_tensor(plus)) continue;
      const TensorId of = cut_from(minus);
      if (of != kNoTensor && of == cut_from(plus)) return of;
    }
    return kNoTensor;
  }

  void mark_port(NodeId id, size_t port) { ports_[slot_of(id)] |= uint64_t{1} << port; }

  void find_caches(NodeId id) {
    const OpRow* row = find_op(node(id));
    for (size_t port = 0; row && port < row->ports.size(); ++port)
      if (row->ports[port].name == "cos_cache" || row->ports[port].name == "sin_cache")
        mark_port(id, port);
  }

  /// x cos + turned(x) sin.
  void find_turned(NodeId sum) {
    for (const size_t first : {size_t{0}, size_t{1}}) {
      const Node *straight = maker_of(operand_at(node(sum), first)),
                 *crossed = maker_of(operand_at(node(sum), 1 - first));
      if (!is_operation(straight, Algebra::multiply) || !is_operation(crossed, Algebra::multiply))
        return;
      for (const size_t port : {size_t{0}, size_t{1}}) {
        const TensorId of = turn_source(operand_at(*crossed, port));
        if (of == kNoTensor) continue;
        for (const size_t with : {size_t{0}, size_t{1}})
          if (shown_tensor(operand_at(*straight, with)) == of) {
            mark_port(id_of(*straight), port_of(*straight, 1 - with));
            mark_port(id_of(*crossed), port_of(*crossed, 1 - port));
          }
      }
    }
  }
  NodeId id_of(const Node& n) const { return static_cast<NodeId>(&n - graph_.nodes.data()); }

  /// The operands of the two products that a sum or a difference is of.
  std::optional<std::array<const Node*, 2>> operand_products(NodeId id) const {
    const std::array<const Node*, 2> out{maker_of(operand_at(node(id), 0)),
                                         maker_of(operand_at(node(id), 1))};
    for (const Node* n : out)
      if (!is_operation(n, Algebra::multiply)) return std::nullopt;
    return out;
  }
  Pair operand_pair(const Node& n) const {
    return sorted_pair(shown_tensor(operand_at(n, 0)), shown_tensor(operand_at(n, 1)));
  }

  void note_sum(NodeId id) {
    const auto of = operand_products(id);
    if (!of) return;
    sums_.try_emplace(sorted_pair(operand_pair(*(*of)[0]), operand_pair(*(*of)[1])), id);
  }

  /// a cos - b sin, where there is b cos + a sin.
  void find_pairs(NodeId difference) {
    const auto of = operand_products(difference);
    if (!of) return;
    for (const size_t i : {size_t{0}, size_t{1}})
      for (const size_t j : {size_t{0}, size_t{1}}) {
        const Node &first = *(*of)[0], &second = *(*of)[1];
        const TensorId a = shown_tensor(operand_at(first, i)),
                       cos = shown_tensor(operand_at(first, 1 - i));
        const TensorId b = shown_tensor(operand_at(second, j)),
                       sin = shown_tensor(operand_at(second, 1 - j));
        const auto sum = sums_.find(sorted_pair(sorted_pair(b, cos), sorted_pair(a, sin)));
        if (sum == sums_.end() || !are_pieces(a, b) || !are_tables(cos, sin)) continue;
        mark_operand(first, cos);
        mark_operand(second, sin);
        for (const size_t which : {size_t{0}, size_t{1}}) {
          const Node& product = *maker_of(operand_at(node(sum->second), which));
          mark_operand(product, cos);
          mark_operand(product, sin);
        }
      }
  }
  bool are_pieces(TensorId a, TensorId b) const {
    return a != b && cut_from(a) != kNoTensor && cut_from(a) == cut_from(b);
  }
  /// Constants that come from one tensor are complex weights, as far as anybody can tell.
  bool are_tables(TensorId cos, TensorId sin) const {
    if (cos == sin) return false;
    const auto from = [&](TensorId id) {
      const Node* n = graph_.tensor(id).constant ? maker_of(id) : nullptr;
      return n && !n->inputs.empty() && n->inputs[0] != kNoTensor ? shown_tensor(n->inputs[0]) : id;
    };
    return from(cos) != from(sin);
  }
  void mark_operand(const Node& n, TensorId that_shows) {
    for (const size_t port : {size_t{0}, size_t{1}})
      if (shown_tensor(operand_at(n, port)) == that_shows) mark_port(id_of(n), port_of(n, port));
  }

  /// Readers before who makes what they read: nodes are in topological order.
  std::vector<bool> read_for_nothing_else() const {
    std::vector<bool> out(graph_.tensors.size(), false);
    for (size_t t = 0; t < out.size(); ++t) out[t] = !readers_[t].empty();
    std::vector<bool> unread(out.size());
    for (size_t t = 0; t < out.size(); ++t) unread[t] = !out[t];
    for (const TensorId id : graph_.outputs) out[slot_of(id)] = unread[slot_of(id)] = false;
    for (size_t i = ports_.size(); i-- > 0;) {
      const Node& n = graph_.nodes[i];
      const auto is_table = [&](TensorId id) { return id != kNoTensor && out[slot_of(id)]; };
      const auto is_nothing = [&](TensorId id) { return id == kNoTensor || unread[slot_of(id)]; };
      const bool all = std::ranges::any_of(n.outputs, is_table) &&
                       std::ranges::all_of(
                           n.outputs, [&](TensorId id) { return is_table(id) || is_nothing(id); });
      const OpRow* row = find_op(n);
      for (size_t port = 0; port < n.inputs.size(); ++port) {
        if (n.inputs[port] == kNoTensor) continue;
        const bool turns = all || (port < 64 && (ports_[i] >> port & 1));
        // Scales are no numbers of the table's, whichever form the node has.
        if (!turns || (row && row->is_quantisation(port))) out[slot_of(n.inputs[port])] = false;
      }
    }
    return out;
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& readers_;
  std::vector<TensorId> shown_;      ///< by tensor: the one whose elements it has
  std::vector<uint64_t> ports_;      ///< by node: bit p: input p is cosines or sines
  std::map<Products, NodeId> sums_;  ///< of two products, by their operands
};

}  // namespace

std::vector<bool> find_rotary_tables(const Graph& graph,
                                     const std::vector<std::vector<NodeId>>& readers) {
  return RotaryTables(graph, readers).find_tables();
}

}  // namespace accsim::sim
