#include "sim/lower/functions.h"

#include <algorithm>
#include <set>
#include <utility>

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
        region_(graph.nodes.size(), kNoNode),
        taken_(graph.nodes.size(), false),
        is_output_(graph.tensors.size(), false) {
    for (TensorId id : graph.outputs) is_output_[index(id)] = true;
  }

  /// Last nodes from the last one on: of two that end at different nodes, one lies within the other
  /// or they have none in common.
  std::vector<UnaryFunction> find_all() {
    for (auto last = static_cast<NodeId>(graph_.nodes.size()); last-- > 0;)
      if (!taken_[index(last)] && may_be_last(last)) grow_region(last);
    std::reverse(out_.begin(), out_.end());
    return std::move(out_);
  }

 private:
  static size_t index(int32_t id) { return static_cast<size_t>(id); }
  const Node& node(NodeId id) const { return graph_.nodes[index(id)]; }

  bool may_be_last(NodeId id) const {
    return is_pointwise_node(node(id)) && find_op(node(id))->fate != Fate::view &&
           is_float(graph_.tensor(node(id).outputs[0]).dtype);
  }

  /// Is it pointwise, with constants of one element alone?
  bool is_pointwise_node(const Node& n) const {
    const OpRow* row = find_op(n);
    if (!row || !row->pointwise || n.folded || !has_one_result(n)) return false;
    return std::ranges::all_of(n.inputs, [&](TensorId id) {
      return id == kNoTensor || !graph_.tensor(id).constant ||
             elements(graph_.tensor(id).dims) == 1;
    });
  }

  /// A region as it grows back from its last node.
  struct Region {
    NodeId last;
    std::vector<NodeId> nodes{};  ///< the last one first
    /// What it reads, by producer: what may come to lie within it, and what never will.
    std::set<std::pair<NodeId, TensorId>> open{};
    std::set<TensorId> fixed{};
  };

  void add_to_region(NodeId id, Region& to) {
    to.nodes.push_back(id);
    region_[index(id)] = to.last;
    for (const TensorId input : node(id).inputs) {
      if (input == kNoTensor || graph_.tensor(input).constant) continue;
      const NodeId producer = graph_.tensor(input).producer;
      if (producer == kNoNode)
        to.fixed.insert(input);
      else
        to.open.emplace(producer, input);
    }
  }

  /// Nodes join in the graph's order, from the last: what reads a value has joined before, if ever.
  bool may_join(TensorId value, const Region& to) const {
    const Tensor& t = graph_.tensor(value);
    return !is_output_[index(value)] && is_pointwise_node(node(t.producer)) &&
           t.dims == dims_of(to) && node(t.producer).outputs[0] == value &&
           std::ranges::all_of(readers_[index(value)],
                               [&](NodeId n) { return region_[index(n)] == to.last; });
  }
  const Dims& dims_of(const Region& r) const { return graph_.tensor(node(r.last).outputs[0]).dims; }

  /// The one float of the region's dims that it is a function of; kNoTensor where there is none.
  TensorId argument_of(const Region& r) const {
    if (r.open.size() + r.fixed.size() != 1) return kNoTensor;
    const TensorId only = r.open.empty() ? *r.fixed.begin() : r.open.begin()->second;
    const Tensor& t = graph_.tensor(only);
    return is_float(t.dtype) && t.dims == dims_of(r) ? only : kNoTensor;
  }

  /// The largest region that ends at a node, if there is one.
  void grow_region(NodeId last) {
    Region region{last};
    add_to_region(last, region);
    UnaryFunction f;
    while (true) {
      if (const TensorId argument = argument_of(region); argument != kNoTensor) {
        f.of = argument;
        f.nodes = region.nodes;
      }
      if (region.open.empty() || region.fixed.size() > 1 ||
          region.nodes.size() == f.nodes.size() + kMostInVain)
        break;
      const auto next = std::prev(region.open.end());
      const auto [producer, value] = *next;
      region.open.erase(next);
      if (may_join(value, region))
        add_to_region(producer, region);
      else
        region.fixed.insert(value);
    }
    if (f.nodes.empty() || (f.nodes.size() == 1 && clips_at_zero(graph_, node(last)))) return;
    std::reverse(f.nodes.begin(), f.nodes.end());
    f.work = work_of(graph_, f);
    if (f.work.ops == VectorOp{}.ops) return;
    for (const NodeId id : f.nodes) taken_[index(id)] = true;
    out_.push_back(std::move(f));
  }

  /// Nodes that a region grows by without being a function, before it is given up.
  static constexpr size_t kMostInVain = 128;

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& readers_;
  std::vector<NodeId> region_;  ///< by node: the last node of the region that it has joined
  std::vector<bool> taken_, is_output_;
  std::vector<UnaryFunction> out_;
};

}  // namespace

std::vector<UnaryFunction> find_functions(const Graph& graph,
                                          const std::vector<std::vector<NodeId>>& readers) {
  return FunctionFinder(graph, readers).find_all();
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
  if (const auto* given = view.find_attribute(kLow); given) return view.attr(kLow, 0.0) == 0;
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

bool is_arithmetic(const Node& node) {
  const OpRow* row = find_op(node);
  if (!row || node.inputs.size() != 2) return false;
  return row->algebra == Algebra::add || row->algebra == Algebra::subtract ||
         row->algebra == Algebra::multiply || row->algebra == Algebra::divide;
}

bool stands_for_no_product(const Node& node) {
  const OpRow* written = node.written_as.empty() ? nullptr : find_op("", node.written_as);
  return written && written->fate != Fate::gemm;
}

bool is_rescaling(const Graph& graph, const UnaryFunction& function) {
  const auto is_factor = [&](const Tensor& t) {
    return !t.constant || (elements(t.dims) == 1 && t.value && t.value->as_double(0) > 0);
  };
  return std::ranges::all_of(function.nodes, [&](NodeId id) {
    const Node& node = graph.nodes[static_cast<size_t>(id)];
    const OpRow* row = find_op(node);
    const bool scales = row && row->arithmetic == LaneArithmetic::mul;
    return scales && is_affine(graph, node) && std::ranges::all_of(node.inputs, [&](TensorId in) {
             return is_factor(graph.tensor(in));
           });
  });
}

}  // namespace accsim::sim
