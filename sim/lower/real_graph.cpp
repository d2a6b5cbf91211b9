#include "sim/lower/real_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/lower/code_uses.h"
#include "sim/lower/measured_products.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class RealGraph {
 public:
  explicit RealGraph(Graph graph)
      : graph_(std::move(graph)),
        uses_(code_uses(graph_)),
        measured_(find_measured_products(graph_)),
        is_output_(graph_.tensors.size(), false),
        alias_(graph_.tensors.size(), kNoTensor) {
    for (const TensorId id : graph_.outputs) is_output_[index(id)] = true;
    for (const auto& [product, scale] : measured_.weight_scale)
      uses_[index(product)] = CodeUse::works;
  }

  Graph rewrite_graph() {
    for (size_t i = 0; i < uses_.size(); ++i) rewrite_node(static_cast<NodeId>(i));
    for (TensorId& id : graph_.outputs) id = name_output(id);
    spread_quantisation();
    return std::move(graph_);
  }

 private:
  static size_t index(int32_t id) { return static_cast<size_t>(id); }
  const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }
  const Node& node(NodeId id) const { return graph_.nodes[index(id)]; }

  TensorId alias_of(TensorId id) const {
    return id == kNoTensor || alias_[index(id)] == kNoTensor ? id : alias_[index(id)];
  }

  void rewrite_node(NodeId id) {
    Node& n = graph_.nodes[index(id)];
    if (n.folded) return;
    const OpRow* row = find_op(n);
    for (TensorId& in : n.inputs) in = alias_of(in);
    if (measured_.factors.contains(id)) return absorb_node(n);
    if (const auto passing = measured_.passing.find(id); passing != measured_.passing.end()) {
      alias_[index(n.outputs[0])] = n.inputs[passing->second];
      return absorb_node(n);
    }
    if (measured_.scaling.contains(id)) return take_reals(id, *row);
    const CodeUse use = uses_[index(id)];
    if (use == CodeUse::none) return;
    note_quantisation(id, *row);
    if (use == CodeUse::makes || use == CodeUse::takes) {
      make_real(n.inputs[0]);
      alias_[index(n.outputs[0])] = n.inputs[0];
      return absorb_node(n);
    }
    each_code(graph_, n, [&](TensorId code) { make_real(code); });  // inputs of the graph, too
    if (use != CodeUse::moves)  // another result of which says where something was
      for (const TensorId out : n.outputs) make_real(out);
    if (use == CodeUse::works) take_real_form(n, *row);
  }

  /// Its first input is reals now: a scale and a zero point that a run finds have gone.
  void take_reals(NodeId id, const OpRow& row) {
    Node& n = graph_.nodes[index(id)];
    note_quantisation(id, row);
    for (size_t port = 0; port < n.inputs.size(); ++port)
      if (row.is_quantisation(port) && !is_fixed_input(n, port, graph_)) n.inputs[port] = kNoTensor;
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
      if (!is_fixed_input(n, port, graph_)) continue;  // a run finds it anew each time
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
    if (const auto w = measured_.weight_scale.find(id); w != measured_.weight_scale.end())
      found[n.inputs[1]] = {w->second, n.inputs.size() > 3 ? n.inputs[3] : kNoTensor};
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
    if (to != id && !is_output_[index(to)] && tensor(to).producer != kNoNode) {
      std::swap(graph_.tensor(to).name, graph_.tensor(id).name);
      is_output_[index(to)] = true;
    }
    return to;
  }

  /// What is only moved stands for the same behind and before it.
  void spread_quantisation() {
    const auto give = [&](TensorId from, TensorId to) {
      if (from == kNoTensor || to == kNoTensor ||
          (!is_code(graph_, to) && !is_float(tensor(to).dtype)))
        return;
      if (tensor(from).quantisation && !tensor(to).quantisation)
        graph_.tensor(to).quantisation = tensor(from).quantisation;
    };
    for (size_t i = 0; i < uses_.size(); ++i)
      if (uses_[i] == CodeUse::moves)
        give(node(static_cast<NodeId>(i)).inputs[0], node(static_cast<NodeId>(i)).outputs[0]);
    for (size_t i = uses_.size(); i-- > 0;)
      if (uses_[i] == CodeUse::moves)
        give(node(static_cast<NodeId>(i)).outputs[0], node(static_cast<NodeId>(i)).inputs[0]);
  }

  Graph graph_;
  std::vector<CodeUse> uses_;  ///< by node
  const MeasuredProducts measured_;
  std::vector<bool> is_output_;  ///< by tensor
  std::vector<TensorId> alias_;  ///< by tensor: the one that is it now; kNoTensor: itself
};

}  // namespace

Graph real_graph(Graph graph) { return RealGraph(std::move(graph)).rewrite_graph(); }

}  // namespace accsim::sim
