#include "sim/lower/real_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

size_t index_of_id(int32_t id) { return static_cast<size_t>(id); }

/// What a node does with integers that stand for reals.
enum class Use : uint8_t {
  none,  ///< nothing that is known
  makes,
  takes,
  works,  ///< an operator that has a form on reals
  moves,  ///< the same numbers elsewhere
};

class RealGraph {
 public:
  explicit RealGraph(Graph graph)
      : graph_(std::move(graph)),
        readers_(consumers_by_tensor(graph_)),
        uses_(graph_.nodes.size(), Use::none),
        stands_(graph_.tensors.size(), false),
        is_output_(graph_.tensors.size(), false),
        alias_(graph_.tensors.size(), kNoTensor) {
    for (const TensorId id : graph_.outputs) is_output_[index_of_id(id)] = true;
  }

  Graph rewrite_graph() {
    for (size_t i = 0; i < uses_.size(); ++i) uses_[i] = use_of(graph_.nodes[i]);
    find_integers();
    for (const Node& node : graph_.nodes) find_measured(node);
    for (size_t i = 0; i < uses_.size(); ++i) rewrite_node(static_cast<NodeId>(i));
    for (TensorId& id : graph_.outputs) id = name_output(id);
    spread_quantisation();
    return std::move(graph_);
  }

 private:
  const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }
  bool is_code(TensorId id) const {
    const DType t = id == kNoTensor ? DType::undefined : tensor(id).dtype;
    return (bits(t) == 8 && t != DType::boolean) || t == DType::int16 || t == DType::uint16;
  }
  /// Integers of a run.
  bool is_varying_code(TensorId id) const { return is_code(id) && !tensor(id).constant; }

  // ---- which integers stand for reals -----------------------------------------------------------

  bool is_constant(const Node& node, size_t port) const {
    return port >= node.inputs.size() || node.inputs[port] == kNoTensor ||
           tensor(node.inputs[port]).constant;
  }
  /// Are all scales and zero points constants?
  bool is_static(const Node& node, const OpRow& row) const {
    for (size_t port = 0; port < node.inputs.size(); ++port)
      if (row.is_quantisation(port) && !is_constant(node, port)) return false;
    return true;
  }
  bool has_one_scale(const Node& node) const { return elements(tensor(node.inputs[1]).dims) == 1; }

  Use use_of(const Node& node) const {
    const OpRow* row = find_op(node);
    if (!row || node.folded || node.outputs.empty() || node.outputs[0] == kNoTensor)
      return Use::none;
    const TensorId in = node.inputs.empty() ? kNoTensor : node.inputs[0], out = node.outputs[0];
    if (!is_static(node, *row)) return Use::none;
    if (row->codes == Codes::makes)
      return is_code(out) && is_float(tensor(in).dtype) && has_one_scale(node) ? Use::makes
                                                                               : Use::none;
    if (row->codes == Codes::takes)
      return is_varying_code(in) && has_one_scale(node) ? Use::takes : Use::none;
    if (!row->real.empty() && !lies_otherwise(node))
      return is_code(out) || is_float(tensor(out).dtype) ? Use::works : Use::none;
    return is_move(node, *row) ? Use::moves : Use::none;
  }

  /// No operator on reals has the channels of pixels innermost.
  bool lies_otherwise(const Node& node) const {
    return NodeView(graph_, node).attr("channels_last", int64_t{0}) != 0;
  }

  /// What only moves or picks elements of input 0 and its kin.
  bool is_move(const Node& node, const OpRow& row) const {
    const bool picks = row.lane == LaneRule::pool_max || row.lane == LaneRule::reduce_max ||
                       row.lane == LaneRule::reduce_min || row.lane == LaneRule::nearest;
    if (!picks && row.fate != Fate::memory && row.fate != Fate::view) return false;
    // Sums and products of integers aren't those of the reals.
    if (NodeView(graph_, node).attr("reduction", "none") != "none") return false;
    return !node.inputs.empty() && is_code(node.inputs[0]) && is_code(node.outputs[0]) &&
           tensor(node.inputs[0]).dtype == tensor(node.outputs[0]).dtype;
  }

  template <class Visit>
  void each_code(const Node& node, Visit visit) const {
    const OpRow* row = find_op(node);
    for (size_t port = 0; port < node.inputs.size(); ++port)
      if (!(row && row->is_quantisation(port)) && is_varying_code(node.inputs[port]))
        visit(node.inputs[port]);
    for (const TensorId id : node.outputs)
      if (is_varying_code(id)) visit(id);
  }

  bool codes_stand_for_reals(const Node& node) const {
    bool all = true;
    each_code(node, [&](TensorId id) { all = all && stands_[index_of_id(id)]; });
    return all;
  }

  /// All integers of 8 bits but those that a node knows nothing of, and those that such ones share
  /// a node with.
  void find_integers() {
    for (size_t t = 0; t < stands_.size(); ++t)
      stands_[t] = is_varying_code(static_cast<TensorId>(t));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < uses_.size(); ++i) {
        const Node& node = graph_.nodes[i];
        if (uses_[i] != Use::none && codes_stand_for_reals(node)) continue;
        uses_[i] = Use::none;
        each_code(node, [&](TensorId id) {
          changed = changed || stands_[index_of_id(id)];
          stands_[index_of_id(id)] = false;
        });
      }
    }
  }

  // ---- scales of a run --------------------------------------------------------------------------

  /// What is behind integers that a node measures and makes: products, each with the change to
  /// floats and the factor behind it.
  struct Measured {
    std::vector<NodeId> products;
    std::map<NodeId, size_t> passing;         ///< node -> the input that its result is
    std::vector<NodeId> factors;              ///< what makes factors of the scale
    std::map<NodeId, TensorId> weight_scale;  ///< by product; kNoTensor: none
    std::vector<NodeId> scaling;  ///< products that scale their results to floats themselves
  };

  const Node& node(NodeId id) const { return graph_.nodes[index_of_id(id)]; }
  const std::vector<NodeId>& readers_of(TensorId id) const { return readers_[index_of_id(id)]; }

  void find_measured(const Node& from) {
    const OpRow* row = find_op(from);
    if (!row || row->codes != Codes::measures || from.folded || from.outputs.size() < 3) return;
    const bool kept = std::ranges::any_of(
        from.outputs, [&](TensorId id) { return id == kNoTensor || is_output_[index_of_id(id)]; });
    if (kept || from.outputs[0] == kNoTensor) return;
    Measured found;
    for (const NodeId id : readers_of(from.outputs[0]))
      if (!take_product(id, from, found)) return;
    if (found.products.empty() && found.scaling.empty()) return;
    if (!reads_nothing_else(from, found)) return;
    for (const NodeId id : found.products) {
      uses_[index_of_id(id)] = Use::works;
      Quantisation& q = weights_[id];
      q.scale = found.weight_scale.at(id);
    }
    passing_.merge(found.passing);
    passing_[tensor(from.outputs[0]).producer] = 0;
    for (const NodeId id : found.factors) gone_.push_back(id);
    scaling_.insert(scaling_.end(), found.scaling.begin(), found.scaling.end());
  }

  /// Are the scale and the zero point of its first input those that a node has found, and is its
  /// result floats? All else that says what integers stand for is constant.
  bool scales_itself(const Node& product, const OpRow& row, const Node& from) const {
    if (product.outputs[0] == kNoTensor || !is_float(tensor(product.outputs[0]).dtype))
      return false;
    bool found = false;
    for (size_t port = 0; port < product.inputs.size(); ++port) {
      if (!row.is_quantisation(port) || is_constant(product, port)) continue;
      const bool is_scale = product.inputs[port] == from.outputs[1];
      if (row.ports[port].of != 0 || (!is_scale && product.inputs[port] != from.outputs[2]))
        return false;
      found = found || is_scale;
    }
    return found;
  }

  /// product -> change to floats -> times a factor with the scale in it.
  bool take_product(NodeId id, const Node& from, Measured& found) const {
    const Node& product = node(id);
    const OpRow* row = find_op(product);
    if (!row || product.inputs[0] != from.outputs[0] ||
        std::ranges::count(product.inputs, from.outputs[0]) != 1)
      return false;
    if (scales_itself(product, *row, from)) return found.scaling.push_back(id), true;
    if (row->real.empty()) return false;
    if (tensor(product.outputs[0]).dtype != DType::int32 || !is_constant(product, 1)) return false;
    for (size_t port = 2; port < product.inputs.size(); ++port)
      if (product.inputs[port] != from.outputs[2] && !is_constant(product, port)) return false;
    const NodeId cast = only_reader(product.outputs[0], Algebra::convert);
    if (cast == kNoNode || !is_float(tensor(node(cast).outputs[0]).dtype)) return false;
    const NodeId times = only_reader(node(cast).outputs[0], Algebra::multiply);
    if (times == kNoNode) return false;
    const Node& factor = node(times);
    const size_t port = factor.inputs[0] == node(cast).outputs[0] ? 0 : 1;
    const TensorId scale = factor.inputs[1 - port];
    if (scale == factor.inputs[port] || !same_dims(factor, port)) return false;
    TensorId& weight_scale = found.weight_scale[id] = kNoTensor;
    if (scale != from.outputs[1]) {
      const NodeId maker = tensor(scale).producer;
      if (maker == kNoNode || !makes_factor(node(maker), from.outputs[1])) return false;
      const Node& m = node(maker);
      weight_scale = m.inputs[m.inputs[0] == from.outputs[1] ? 1 : 0];
      found.factors.push_back(maker);
    }
    found.products.push_back(id);
    found.passing[cast] = 0;
    found.passing[times] = port;
    return true;
  }

  bool same_dims(const Node& n, size_t port) const {
    return tensor(n.inputs[port]).dims == tensor(n.outputs[0]).dims;
  }

  /// A constant times the scale?
  bool makes_factor(const Node& n, TensorId scale) const {
    const OpRow* row = find_op(n);
    if (!row || row->algebra != Algebra::multiply || is_output_[index_of_id(n.outputs[0])])
      return false;
    return (n.inputs[0] == scale && is_constant(n, 1)) ||
           (n.inputs[1] == scale && is_constant(n, 0));
  }

  NodeId only_reader(TensorId id, Algebra wanted) const {
    if (is_output_[index_of_id(id)] || readers_of(id).size() != 1) return kNoNode;
    const OpRow* row = find_op(node(readers_of(id)[0]));
    return row && row->algebra == wanted ? readers_of(id)[0] : kNoNode;
  }

  /// Are scale and zero point read by those products and what is behind them alone?
  bool reads_nothing_else(const Node& from, const Measured& found) const {
    const auto known = [&](NodeId id) {
      return found.passing.contains(id) || std::ranges::count(found.factors, id) > 0 ||
             std::ranges::count(found.products, id) > 0 ||
             std::ranges::count(found.scaling, id) > 0;
    };
    const auto all_known = [&](TensorId id) { return std::ranges::all_of(readers_of(id), known); };
    return all_known(from.outputs[1]) && all_known(from.outputs[2]) &&
           std::ranges::all_of(found.factors,
                               [&](NodeId id) { return all_known(node(id).outputs[0]); });
  }

  // ---- the graph on reals -----------------------------------------------------------------------

  TensorId alias_of(TensorId id) const {
    return id == kNoTensor || alias_[index_of_id(id)] == kNoTensor ? id : alias_[index_of_id(id)];
  }

  void rewrite_node(NodeId id) {
    Node& n = graph_.nodes[index_of_id(id)];
    if (n.folded) return;
    const OpRow* row = find_op(n);
    for (TensorId& in : n.inputs) in = alias_of(in);
    const auto passing = passing_.find(id);
    if (std::ranges::count(gone_, id) > 0) return absorb_node(n);
    if (passing != passing_.end()) {
      alias_[index_of_id(n.outputs[0])] = n.inputs[passing->second];
      return absorb_node(n);
    }
    if (std::ranges::count(scaling_, id) > 0) return take_reals(id, *row);
    const Use use = uses_[index_of_id(id)];
    if (use == Use::none) return;
    note_quantisation(id, *row);
    if (use == Use::makes || use == Use::takes) {
      make_real(n.inputs[0]);
      alias_[index_of_id(n.outputs[0])] = n.inputs[0];
      return absorb_node(n);
    }
    each_code(n, [&](TensorId code) { make_real(code); });  // inputs of the graph, too
    if (use != Use::moves)  // another result of which says where something was
      for (const TensorId out : n.outputs) make_real(out);
    if (use == Use::works) take_real_form(n, *row);
  }

  /// Its first input is reals now: a scale and a zero point that a run finds have gone.
  void take_reals(NodeId id, const OpRow& row) {
    Node& n = graph_.nodes[index_of_id(id)];
    note_quantisation(id, row);
    for (size_t port = 0; port < n.inputs.size(); ++port)
      if (row.is_quantisation(port) && !is_constant(n, port)) n.inputs[port] = kNoTensor;
  }

  void make_real(TensorId id) {
    if (id != kNoTensor && !is_float(tensor(id).dtype)) graph_.tensor(id).dtype = DType::float32;
  }

  /// Its neighbours do what is to be done: it reads nothing of a run any more.
  void absorb_node(Node& n) {
    n.folded = n.absorbed = true;
    for (TensorId& in : n.inputs)
      if (in != kNoTensor && !tensor(in).constant) in = kNoTensor;
  }

  /// What the tensors of its ports stand for. A bias is in steps of both factors.
  void note_quantisation(NodeId id, const OpRow& row) {
    const Node& n = node(id);
    std::map<TensorId, Quantisation> found;
    const auto of_port = [&](int port) {
      return port == kResult ? n.outputs[0] : n.inputs[static_cast<size_t>(port)];
    };
    for (size_t port = 0; port < n.inputs.size(); ++port) {
      if (!row.is_quantisation(port) || n.inputs[port] == kNoTensor) continue;
      if (!is_constant(n, port)) continue;  // a run finds it anew each time
      const int behind = static_cast<int>(port) - row.triples_from;
      const int of = behind >= 0 ? static_cast<int>(port) - behind % 3 : row.ports[port].of;
      const bool is_scale = behind >= 0 ? behind % 3 == 1
                                        : row.role_of(port) == PortRole::scale ||
                                              row.role_of(port) == PortRole::weight_scale;
      if (of == kNoPort) continue;
      const bool makes = row.codes == Codes::makes;
      Quantisation& q = found[makes ? n.inputs[0] : of_port(of)];
      (is_scale ? q.scale : q.zero_point) = n.inputs[port];
    }
    if (const auto w = weights_.find(id); w != weights_.end())
      found[n.inputs[1]] = {w->second.scale, n.inputs.size() > 3 ? n.inputs[3] : kNoTensor};
    const int bias = row.port_of(PortRole::bias), weight = row.port_of(PortRole::weight);
    if (weight >= 0) found[of_port(weight)].axis = channel_axis(n, row, of_port(weight));
    if (bias >= 0 && weight >= 0 && bias < std::ssize(n.inputs) && of_port(bias) != kNoTensor &&
        !is_float(tensor(of_port(bias)).dtype))
      found[of_port(bias)] = {found[n.inputs[0]].scale, kNoTensor, found[of_port(weight)].scale};
    for (const auto& [t, q] : found)
      if (t != kNoTensor && !tensor(t).quantisation) graph_.tensor(t).quantisation = q;
  }

  /// The axis of weights along which their output channels are.
  int64_t channel_axis(const Node& n, const OpRow& row, TensorId weights) const {
    const auto rank = static_cast<int64_t>(tensor(weights).dims.size());
    if (row.weights == WeightLayout::oihw) return 0;
    return std::max<int64_t>(0, rank - (NodeView(graph_, n).attr("transB", int64_t{0}) ? 2 : 1));
  }

  void take_real_form(Node& n, const OpRow& row) {
    std::vector<TensorId> inputs;
    for (size_t port = 0; port < n.inputs.size(); ++port)
      if (!row.is_quantisation(port))
        inputs.push_back(n.inputs[port]);
      else if (n.inputs[port] != kNoTensor && tensor(n.inputs[port]).constant)
        n.quantisation.push_back(n.inputs[port]);
    while (!inputs.empty() && inputs.back() == kNoTensor) inputs.pop_back();
    const OpRow* real = find_op("", row.real);
    check(real != nullptr, "a row's form on reals has no row");
    n.opset = NodeView(graph_, n).attr("opset", n.domain.empty() ? n.opset : graph_.opset);
    std::erase_if(n.attributes, [&](const Attribute& a) { return !real->has_attribute(a.name); });
    n.written_as = std::exchange(n.op_type, std::string(row.real));
    n.domain.clear();
    n.inputs = std::move(inputs);
  }

  /// The tensor that is an output now has the output's name.
  TensorId name_output(TensorId id) {
    const TensorId to = alias_of(id);
    if (to != id && !is_output_[index_of_id(to)] && tensor(to).producer != kNoNode) {
      std::swap(graph_.tensor(to).name, graph_.tensor(id).name);
      is_output_[index_of_id(to)] = true;
    }
    return to;
  }

  /// What is only moved stands for the same behind and before it.
  void spread_quantisation() {
    const auto give = [&](TensorId from, TensorId to) {
      if (from == kNoTensor || to == kNoTensor || (!is_code(to) && !is_float(tensor(to).dtype)))
        return;
      if (tensor(from).quantisation && !tensor(to).quantisation)
        graph_.tensor(to).quantisation = tensor(from).quantisation;
    };
    for (size_t i = 0; i < uses_.size(); ++i)
      if (uses_[i] == Use::moves)
        give(node(static_cast<NodeId>(i)).inputs[0], node(static_cast<NodeId>(i)).outputs[0]);
    for (size_t i = uses_.size(); i-- > 0;)
      if (uses_[i] == Use::moves)
        give(node(static_cast<NodeId>(i)).outputs[0], node(static_cast<NodeId>(i)).inputs[0]);
  }

  Graph graph_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<Use> uses_;             ///< by node
  std::vector<bool> stands_;          ///< by tensor: integers that stand for reals everywhere
  std::vector<bool> is_output_;       ///< by tensor
  std::vector<TensorId> alias_;       ///< by tensor: the one that is it now; kNoTensor: itself
  std::map<NodeId, size_t> passing_;  ///< absorbed nodes: the input that their result is
  std::vector<NodeId> scaling_;       ///< products of measured integers, with float results
  std::vector<NodeId> gone_;          ///< absorbed ones whose result nothing reads any more
  std::map<NodeId, Quantisation> weights_;  ///< of integer products
};

}  // namespace

Graph real_graph(Graph graph) { return RealGraph(std::move(graph)).rewrite_graph(); }

}  // namespace accsim::sim
