#include "sim/lower/functions.h"

#include <algorithm>
#include <set>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Does the node have one result only, its first?
bool has_one_result(const Node& node) {
  return !node.outputs.empty() && node.outputs[0] != kNoTensor &&
         std::all_of(node.outputs.begin() + 1, node.outputs.end(),
                     [](TensorId id) { return id == kNoTensor; });
}

class FunctionFinder {
 public:
  FunctionFinder(const Graph& graph, const std::vector<std::vector<NodeId>>& readers)
      : graph_(graph),
        readers_(readers),
        taken_(graph.nodes.size(), false),
        barren_(graph.tensors.size(), false),
        is_output_(graph.tensors.size(), false) {
    for (TensorId id : graph.outputs) is_output_[index(id)] = true;
  }

  std::vector<UnaryFunction> run() {
    for (TensorId id : graph_.inputs) functions_of(id);
    for (const Node& node : graph_.nodes)
      for (TensorId id : node.outputs)
        if (id != kNoTensor) functions_of(id);
    std::sort(out_.begin(), out_.end(), [](const UnaryFunction& a, const UnaryFunction& b) {
      return a.nodes.back() < b.nodes.back();
    });
    return std::move(out_);
  }

 private:
  static size_t index(int32_t id) { return static_cast<size_t>(id); }
  const Node& node(NodeId id) const { return graph_.nodes[index(id)]; }

  void functions_of(TensorId argument) {
    const Tensor& x = graph_.tensor(argument);
    if (x.constant || !is_float(x.dtype) || barren_[index(argument)]) return;
    const std::set<NodeId> all = reachable(argument);
    bool any = false;
    for (auto last = all.rbegin(); last != all.rend(); ++last) {
      if (taken_[index(*last)] || !may_be_last(*last)) continue;
      take(argument, *last, all);
      any = true;
    }
    if (any) return;
    // What is a function of a value on the way is one of the argument.
    for (const NodeId id : all)
      if (const TensorId on_the_way = node(id).outputs[0]; !is_output_[index(on_the_way)])
        barren_[index(on_the_way)] = true;
  }

  /// Untaken nodes that compute functions of the argument alone.
  std::set<NodeId> reachable(TensorId argument) const {
    std::set<TensorId> values = {argument};
    std::set<NodeId> out, next(readers_[index(argument)].begin(), readers_[index(argument)].end());
    while (!next.empty()) {  // in the graph's order: what a node reads has been seen
      const NodeId id = *next.begin();
      next.erase(next.begin());
      if (taken_[index(id)] || !fits(node(id), values)) continue;
      out.insert(id);
      const TensorId result = node(id).outputs[0];
      if (is_output_[index(result)]) continue;
      values.insert(result);
      next.insert(readers_[index(result)].begin(), readers_[index(result)].end());
    }
    return out;
  }

  /// `values` are all of the argument's dims.
  bool fits(const Node& n, const std::set<TensorId>& values) const {
    const OpRow* row = find_op(n);
    if (!row || !row->pointwise || n.folded || !has_one_result(n)) return false;
    if (graph_.tensor(n.outputs[0]).dims != graph_.tensor(*values.begin()).dims) return false;
    return std::all_of(n.inputs.begin(), n.inputs.end(), [&](TensorId id) {
      if (id == kNoTensor || values.contains(id)) return true;
      const Tensor& t = graph_.tensor(id);
      return t.constant && elements(t.dims) == 1;
    });
  }

  bool may_be_last(NodeId id) const {
    const OpRow* row = find_op(node(id));
    return row->fate != Fate::view && is_float(graph_.tensor(node(id).outputs[0]).dtype);
  }

  /// The region behind `last`, if nothing of it is read elsewhere.
  void take(TensorId argument, NodeId last, const std::set<NodeId>& all) {
    std::set<NodeId> region = {last};
    std::vector<NodeId> open = {last};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (TensorId input : node(id).inputs) {
        if (input == kNoTensor || input == argument || graph_.tensor(input).constant) continue;
        const NodeId producer = graph_.tensor(input).producer;
        if (!all.contains(producer)) return;
        if (region.insert(producer).second) open.push_back(producer);
      }
    }
    if (region.size() == 1 && clips_at_zero(graph_, node(last))) return;
    for (const NodeId id : region)
      if (id != last && is_read_outside(node(id).outputs[0], region)) return;
    UnaryFunction f;
    f.of = argument;
    f.nodes.assign(region.begin(), region.end());
    f.work = work_of(graph_, f);
    if (f.work.ops == VectorOp{}.ops) return;
    for (const NodeId id : region) taken_[index(id)] = true;
    out_.push_back(std::move(f));
  }

  bool is_read_outside(TensorId id, const std::set<NodeId>& region) const {
    return is_output_[index(id)] ||
           std::any_of(readers_[index(id)].begin(), readers_[index(id)].end(),
                       [&](NodeId reader) { return !region.contains(reader); });
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& readers_;
  std::vector<bool> taken_, barren_, is_output_;
  std::vector<UnaryFunction> out_;
};

}  // namespace

std::vector<UnaryFunction> find_functions(const Graph& graph,
                                          const std::vector<std::vector<NodeId>>& readers) {
  return FunctionFinder(graph, readers).run();
}

VectorOp work_of(const Graph& graph, const UnaryFunction& function) {
  VectorOp out;
  const int64_t count = elements(graph.tensor(function.of).dims);
  out.inputs = out.outputs = {{0, count, 0}};
  for (const NodeId id : function.nodes) {
    const Node& node = graph.nodes[static_cast<size_t>(id)];
    const OpRow* row = find_op(node);
    if (!row->cost) continue;
    const Result<Work> work = row->cost(NodeView(graph, node));
    if (!work) return {};
    for (const WorkItem& item : *work)
      if (const auto* op = std::get_if<VectorOp>(&item))
        for (size_t i = 0; i < kVectorClasses; ++i) out.ops[i] += op->ops[i];
  }
  return out;
}

bool clips_at_zero(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node);
  if (!row || row->fusion != Fusion::clip) return false;
  constexpr std::string_view kLow = "min";
  if (!row->has_attribute(kLow)) return true;
  const NodeView view(graph, node);
  if (const auto* given = view.attribute(kLow); given) return view.attr(kLow, 0.0) == 0;
  for (size_t port = 0; port < row->ports.size(); ++port) {
    if (row->ports[port].name != kLow || !view.has_input(port)) continue;
    const ConstData* value = view.value(port);
    return !value || value->size() != 1 || value->as_double(0) == 0;
  }
  return false;
}

bool is_affine(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node);
  if (!row || !is_float(graph.tensor(node.outputs[0]).dtype)) return false;
  std::vector<size_t> varying;
  for (size_t port = 0; port < node.inputs.size(); ++port)
    if (node.inputs[port] != kNoTensor && !graph.tensor(node.inputs[port]).constant)
      varying.push_back(port);
  return varying.size() == 1 && varying[0] < 8 * sizeof(row->affine_ports) &&
         (row->affine_ports >> varying[0] & 1) != 0 &&
         is_float(graph.tensor(node.inputs[varying[0]]).dtype);
}

bool is_rescaling(const Graph& graph, const UnaryFunction& function) {
  const auto is_factor = [&](const Tensor& t) {
    return !t.constant || (elements(t.dims) == 1 && t.value && t.value->as_double(0) > 0);
  };
  return std::ranges::all_of(function.nodes, [&](NodeId id) {
    const Node& node = graph.nodes[static_cast<size_t>(id)];
    const OpRow* row = find_op(node);
    const bool scales = row && (row->lane == LaneRule::mul || row->lane == LaneRule::div);
    return scales && is_affine(graph, node) && std::ranges::all_of(node.inputs, [&](TensorId in) {
             return is_factor(graph.tensor(in));
           });
  });
}

}  // namespace accsim::sim
