#include <algorithm>

#include "sim/lower/functions.h"
#include "sim/lower/lower.h"
#include "sim/lower/rotary_tables.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

bool is_running_statistic(PortRole role) {
  return role == PortRole::mean || role == PortRole::variance;
}

class ParameterCounter {
 public:
  ParameterCounter(const Graph& graph, Lowered& lowered)
      : graph_(graph),
        lowered_(lowered),
        readers_(lowered.readers),
        is_table_(find_rotary_tables(graph, readers_)),
        seen_(graph.tensors.size(), false),
        traced_(graph.tensors.size(), false),
        is_statistic_(graph.tensors.size(), false),
        largest_(graph.tensors.size()),
        makes_reals_(graph.nodes.size(), false) {}

  void count_all() {
    find_what_becomes_reals();
    find_statistics();
    find_sizes();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const OpRow* row = find_op(node.domain, node.op_type);
      const auto id = static_cast<NodeId>(i);
      for (size_t port = 0; port < node.inputs.size() && !stands_for_no_product(node); ++port)
        if (node.inputs[port] != kNoTensor) visit_input(id, port, row);
      for (const TensorId in : node.quantisation) add_parameter(id, in);
    }
  }

 private:
  /// Elements of the largest of all that a constant is computed from.
  struct Sizes {
    int64_t stored = 0;  ///< by the file
    int64_t any = 0;     ///< or made of nothing
  };

  void visit_input(NodeId at, size_t port, const OpRow* row) {
    const Node& node = graph_.nodes[static_cast<size_t>(at)];
    const TensorId id = node.inputs[port];
    const Tensor& t = graph_.tensor(id);
    const PortRole role = row ? row->role_of(port) : PortRole::data;
    if (!t.constant) return;
    const bool packed = row && row->packs_weights && role == PortRole::weight;
    const bool real =
        is_float(t.dtype) || stands_for_reals(t, port, row) || become_reals(node, port);
    if (t.origin == Tensor::Origin::initializer && real)
      packed ? add_packed(at, id, id) : add_parameter(at, id);
    if (holds_parameters(role) && !node.folded) add_sources(at, id, packed);
  }

  /// What a constant in a parameter's place is computed from.
  void add_sources(NodeId at, TensorId of, bool packed) {
    std::vector<TensorId> left{of};
    while (!left.empty()) {
      const TensorId id = left.back();
      left.pop_back();
      if (traced_[static_cast<size_t>(id)]) continue;
      traced_[static_cast<size_t>(id)] = true;
      const auto before = left.size();
      if (const Node* maker = producer_of(id))
        for (size_t port = maker->inputs.size(); port-- > 0;)
          if (is_content(*maker, port)) left.push_back(maker->inputs[port]);
      if (left.size() == before && is_source(id, of))
        packed ? add_packed(at, id, of) : add_parameter(at, id);
    }
  }

  const Node* producer_of(TensorId id) const {
    const NodeId node = graph_.tensor(id).producer;
    return node == kNoNode ? nullptr : &graph_.nodes[static_cast<size_t>(node)];
  }

  /// Are the numbers of a node's result made of those of this input? Not of places and shapes.
  bool is_content(const Node& node, size_t port) const {
    const TensorId id = node.inputs[port];
    if (id == kNoTensor || node.outputs[0] == kNoTensor) return false;
    const Tensor &t = graph_.tensor(id), &result = graph_.tensor(node.outputs[0]);
    const OpRow* row = find_op(node);
    if (!t.constant || t.dtype == DType::boolean || !row) return false;
    const PortRole role = row->role_of(port);
    if (role == PortRole::setting || role == PortRole::row_index) return false;
    if ((row->type_ports >> port & 1U) != 0 || row->reads_only_shapes) return false;
    return is_float(t.dtype) || !is_float(result.dtype) || row->algebra == Algebra::convert ||
           stands_for_reals(t, port, row);
  }

  /// Does a source of the constant `of` count? What the file stores does. What nodes make of
  /// nothing does where it is larger than all stored weights that it changes: else it is a mask,
  /// say. Single numbers are a formula's.
  bool is_source(TensorId id, TensorId of) const {
    const Tensor& t = graph_.tensor(id);
    if (t.origin != Tensor::Origin::node) return true;
    const Sizes& all = largest_[static_cast<size_t>(of)];
    const int64_t count = elements(t.dims);
    return count > all.stored && (count > 1 || all.any == 1);
  }

  void find_sizes() {
    for (size_t t = 0; t < largest_.size(); ++t)
      if (const Tensor& tensor = graph_.tensors[t]; tensor.origin == Tensor::Origin::initializer)
        largest_[t] = {elements(tensor.dims), elements(tensor.dims)};
    for (const Node& node : graph_.nodes) {
      if (node.outputs.empty() || node.outputs[0] == kNoTensor) continue;
      Sizes all;
      for (size_t port = 0; port < node.inputs.size(); ++port) {
        if (!is_content(node, port)) continue;
        const Sizes& of = largest_[static_cast<size_t>(node.inputs[port])];
        all = {std::max(all.stored, of.stored), std::max(all.any, of.any)};
      }
      for (const TensorId out : node.outputs) {
        if (out == kNoTensor) continue;
        largest_[static_cast<size_t>(out)] = all;
        if (all.any == 0)
          largest_[static_cast<size_t>(out)].any = elements(graph_.tensor(out).dims);
      }
    }
  }

  /// Constants that are read, maybe behind nodes that are computed off line, as running statistics
  /// and as nothing else. Readers before who makes what they read.
  void find_statistics() {
    std::vector<bool> otherwise(graph_.tensors.size(), false);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const OpRow* row = find_op(node);
      bool statistic = false, other = false;
      for (const TensorId out : node.outputs) {
        if (!node.folded || out == kNoTensor) continue;
        statistic = statistic || is_statistic_[static_cast<size_t>(out)];
        other = other || otherwise[static_cast<size_t>(out)];
      }
      for (size_t port = 0; port < node.inputs.size(); ++port) {
        if (node.inputs[port] == kNoTensor) continue;
        const auto in = static_cast<size_t>(node.inputs[port]);
        const bool here = !node.folded && row && is_running_statistic(row->role_of(port));
        if (here || (node.folded && statistic)) is_statistic_[in] = true;
        if (node.folded ? other : !here) otherwise[in] = true;
      }
    }
    for (size_t t = 0; t < otherwise.size(); ++t)
      is_statistic_[t] = is_statistic_[t] && !otherwise[t];
  }

  /// Integers that are changed to reals, or worked on as such, and what says how.
  static bool stands_for_reals(const Tensor& t, size_t port, const OpRow* row) {
    if (t.quantisation) return true;
    if (!row) return false;
    const bool is_taken = row->codes == Codes::takes && port == 0;
    return is_taken || row->is_quantisation(port) || has_scale(*row, port);
  }
  /// Is an input of the operator the scale of this one?
  static bool has_scale(const OpRow& row, size_t port) {
    const int behind = static_cast<int>(port) - row.triples_from;
    if (behind >= 0) return behind % 3 == 0;
    for (const Port& p : row.ports)
      if (states_quantisation(p.role) && p.of == static_cast<int>(port)) return true;
    return false;
  }

  /// Are integers, moved from the node's first input on, changed to reals in the end?
  bool become_reals(const Node& node, size_t port) const {
    return port == 0 && makes_reals_[static_cast<size_t>(&node - graph_.nodes.data())];
  }

  /// Readers before who makes what they read: nodes are in topological order.
  void find_what_becomes_reals() {
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const OpRow* row = find_op(node);
      if (!row || node.outputs.empty() || node.outputs[0] == kNoTensor) continue;
      if (row->fate != Fate::memory && row->fate != Fate::view) continue;
      const auto takes = [&](NodeId id) {
        const Node& reader = graph_.nodes[static_cast<size_t>(id)];
        const OpRow* of = find_op(reader);
        if (reader.inputs[0] != node.outputs[0]) return false;
        return (of && of->codes == Codes::takes) || makes_reals_[static_cast<size_t>(id)];
      };
      makes_reals_[i] = std::ranges::any_of(readers_[static_cast<size_t>(node.outputs[0])], takes);
    }
  }

  /// Running statistics and tables of rotary embeddings aren't learned: they are buffers.
  bool is_buffer(TensorId id) const {
    return is_statistic_[static_cast<size_t>(id)] || is_table_[static_cast<size_t>(id)];
  }

  void add_parameter(NodeId at, TensorId id) {
    const Tensor& t = graph_.tensor(id);
    const int64_t count = elements(t.dims);
    add_parameter(
        {id, static_cast<int>(at), is_buffer(id), t.dtype, count, storage_bytes(t.dtype, count)});
  }

  /// Weights of few bits in the bytes of a tensor, of which the node's weights `of` are made.
  void add_packed(NodeId at, TensorId id, TensorId of) {
    const Tensor& t = graph_.tensor(id);
    const NodeView node(graph_, graph_.nodes[static_cast<size_t>(at)]);
    if (is_packed(t.dtype)) return add_parameter(at, id);  // not packed
    const int64_t width = node.attr("bits", node.attr("expert_weight_bits", int64_t{4}));
    const bool all = node.has_attr("K") && elements(t.dims) == elements(graph_.tensor(of).dims);
    const int64_t count = all ? node.attr("K", int64_t{0}) * node.attr("N", int64_t{0})
                              : elements(t.dims) * (bits(t.dtype) / width);
    const DType type = width == 2 ? DType::uint2 : width == 4 ? DType::uint4 : DType::uint8;
    add_parameter(
        {id, static_cast<int>(at), false, type, count, storage_bytes(t.dtype, elements(t.dims))});
  }

  void add_parameter(Parameter p) {
    if (seen_[static_cast<size_t>(p.tensor)]) return;
    seen_[static_cast<size_t>(p.tensor)] = true;
    p.layer = reader_of(p.layer);
    lowered_.parameters.push_back(p);
    Layer& layer = lowered_.layers[static_cast<size_t>(p.layer)];
    (p.buffer ? layer.buffers : layer.params) += p.count;
    (p.buffer ? lowered_.buffers : lowered_.params) += p.count;
    if (!p.buffer) lowered_.weight_bytes += p.bytes;
  }

  /// Behind a change of constants to reals, the node that reads these.
  NodeId reader_of(NodeId id) const {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    const OpRow* row = find_op(node);
    if (!node.folded || !row || row->codes != Codes::takes || node.outputs[0] == kNoTensor)
      return id;
    const auto& readers = readers_[static_cast<size_t>(node.outputs[0])];
    return readers.empty() ? id : readers[0];
  }

  const Graph& graph_;
  Lowered& lowered_;
  const std::vector<std::vector<NodeId>>& readers_;
  const std::vector<bool> is_table_;  ///< by tensor: cosines and sines of rotary embeddings
  std::vector<bool> seen_;
  std::vector<bool> traced_;        ///< by tensor: its sources have been counted
  std::vector<bool> is_statistic_;  ///< by tensor: and nothing else
  std::vector<Sizes> largest_;      ///< by tensor
  std::vector<bool> makes_reals_;   ///< by node that moves: of integers, in the end
};

}  // namespace

void count_parameters(const Graph& graph, Lowered& lowered) {
  ParameterCounter(graph, lowered).count_all();
}

}  // namespace accsim::sim
