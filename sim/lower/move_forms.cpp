#include "sim/lower/move_forms.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/lower/kept_codes.h"
#include "sim/lower/nearest.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostEdges = 16;  ///< times that an edge is put beside a tensor, one by one

/// Adds the parts of one Pad.
class PadSpeller {
 public:
  PadSpeller(RebuiltGraph& graph, const Node& node, const Padding& padding)
      : graph_(graph),
        node_(node),
        padding_(padding),
        mode_(NodeView(graph.before(), node).attr("mode", "constant")) {}

  void add_all() {
    std::vector<size_t> dims;
    for (size_t d = 0; d < padding_.before.size(); ++d)
      if (padding_.before[d] + padding_.after[d] > 0) dims.push_back(d);
    TensorId x = node_.inputs[0];
    for (const size_t d : dims) x = put_together(x, d, d == dims.back());
  }

 private:
  std::string name_of(const char* part, size_t d) const {
    return node_.name + "/" + part + "_" + std::to_string(d);
  }

  TensorId put_together(TensorId x, size_t d, bool last) {
    std::vector<TensorId> parts = parts_beside(x, d, true);
    parts.push_back(x);
    const std::vector<TensorId> behind = parts_beside(x, d, false);
    parts.insert(parts.end(), behind.begin(), behind.end());
    const std::vector<Attribute> axis{{"axis", "", static_cast<int64_t>(d)}};
    Dims to = graph_.dims(x);
    to[d] += padding_.before[d] + padding_.after[d];
    if (!last)
      return graph_.add_operator(op::kConcat, kPlainOpset, name_of("padded", d), parts, to, axis);
    graph_.add_node(graph_.new_operator(op::kConcat, kPlainOpset, axis), node_.name, parts,
                    {node_.outputs[0]});
    return node_.outputs[0];
  }

  /// What is added at an end of dim d.
  std::vector<TensorId> parts_beside(TensorId x, size_t d, bool before) {
    const int64_t count = before ? padding_.before[d] : padding_.after[d];
    const int64_t n = graph_.dims(x)[d];
    if (count == 0) return {};
    const std::string name = name_of(before ? "before" : "after", d);
    if (mode_ == "edge")
      return std::vector<TensorId>(static_cast<size_t>(count),
                                   slice(x, d, before ? 0 : n - 1, 1, 1, name));
    if (mode_ == "wrap") return {slice(x, d, before ? n - count : 0, count, 1, name)};
    if (mode_ == "reflect") return {slice(x, d, before ? count : n - 2, count, -1, name)};
    return {constant_part(x, d, count, name)};
  }

  /// `count` elements of a dim from `from` on, by `step`.
  TensorId slice(TensorId x, size_t d, int64_t from, int64_t count, int64_t step,
                 const std::string& name) {
    const auto number = [&](const char* what, int64_t value) {
      return graph_.add_constant(name + what, DType::int64, {1},
                                 ConstData(std::vector<int64_t>{value}));
    };
    const int64_t end = from + count * step;
    Dims to = graph_.dims(x);
    to[d] = count;
    return graph_.add_operator(
        op::kSlice, kPlainOpset, name,
        {x, number("_first", from),
         number("_last", end < 0 ? std::numeric_limits<int64_t>::min() + 1 : end),
         number("_dim", static_cast<int64_t>(d)), number("_steps", step)},
        std::move(to), {});
  }

  TensorId constant_part(TensorId x, size_t d, int64_t count, const std::string& name) {
    Dims to = graph_.dims(x);
    to[d] = count;
    TensorId value = node_.inputs.size() > 2 ? node_.inputs[2] : kNoTensor;
    if (value == kNoTensor)
      value = graph_.add_constant(name + "_value", graph_.tensor(x).dtype, {},
                                  ConstData(std::vector<double>{0}));
    const TensorId shape =
        graph_.add_constant(name + "_shape", DType::int64, {std::ssize(to)},
                            ConstData(std::vector<int64_t>(to.begin(), to.end())));
    Node fill = graph_.new_operator(op::kExpand, kPlainOpset, {});
    if (node_.inputs.size() < 3 || node_.inputs[2] == kNoTensor) fill.written_as = node_.op_type;
    const TensorId out = graph_.add_tensor(graph_.tensor(x), name + "_output", std::move(to));
    graph_.add_node(fill, name, {value, shape}, {out});
    return out;
  }

  RebuiltGraph& graph_;
  const Node& node_;
  const Padding& padding_;
  const std::string mode_;
};

void plan_pad(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const Result<Padding> padding = padding_of(view);
  const std::string mode = view.attr("mode", "constant");
  if (!padding || !is_float(view.dtype(0)) || view.has_attr("value")) return;
  const bool has_value = view.has_input(2);
  if (has_value && (!view.input(2).constant || elements(view.dims(2)) != 1)) return;
  bool any = false;
  for (size_t d = 0; d < padding->before.size(); ++d) {
    const int64_t n = view.dims(0)[d], before = padding->before[d], after = padding->after[d];
    const int64_t most = std::max(before, after);
    any = any || most > 0;
    if (before < 0 || after < 0) return;
    if ((mode == "reflect" && most >= n) || (mode == "wrap" && most > n) ||
        (mode == "edge" && most > kMostEdges))
      return;
  }
  if (!any || elements(view.dims(0)) == 0) return;
  r.replace_nodes({r.id_of(node)},
                  [&node, p = *padding](RebuiltGraph& g) { PadSpeller(g, node, p).add_all(); });
}

void plan_triangle(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  if (!is_float(view.dtype(0))) return;
  int64_t k = 0;
  if (view.has_input(1)) {
    const ConstData* value = view.value(1);
    if (value == nullptr || !value->is_integer() || value->size() != 1) return;
    k = value->integers()[0];
  }
  const bool upper = view.attr("upper", int64_t{1}) != 0;
  r.replace_nodes({r.id_of(node)}, [&node, k, upper](RebuiltGraph& g) {
    const Dims& dims = g.dims(node.inputs[0]);
    const int64_t lines = dims[dims.size() - 2], columns = dims.back();
    std::vector<double> kept;
    for (int64_t i = 0; i < lines; ++i)
      for (int64_t j = 0; j < columns; ++j)
        kept.push_back((upper ? j - i >= k : j - i <= k) ? 1 : 0);
    const TensorId factor = g.add_constant(node.name + "/kept", g.tensor(node.inputs[0]).dtype,
                                           {lines, columns}, ConstData(std::move(kept)));
    Node product = g.new_operator(op::kMul, kPlainOpset, {});
    product.written_as = node.op_type;
    g.add_node(product, node.name, {node.inputs[0], factor}, {node.outputs[0]});
  });
}

/// Elements of each dim that changes, by the list of those that are nearest.
void add_gathers(RebuiltGraph& g, const Node& node) {
  const NodeView view(g.before(), node);
  std::vector<size_t> dims;
  for (size_t d = 0; d < view.dims(0).size(); ++d)
    if (view.dims(0)[d] != view.output(0).dims[d]) dims.push_back(d);
  TensorId x = node.inputs[0];
  for (const size_t d : dims) {
    const bool last = d == dims.back();
    const std::string name = node.name + "/dim_" + std::to_string(d);
    std::vector<int64_t> from = *nearest_elements(view, d);
    Dims to = g.dims(x);
    to[d] = std::ssize(from);
    const TensorId list =
        g.add_constant(name + "_elements", DType::int64, {to[d]}, ConstData(std::move(from)));
    const TensorId out =
        last ? node.outputs[0] : g.add_tensor(g.tensor(x), name + "_output", std::move(to));
    Node gather = g.new_operator(op::kGather, kPlainOpset, {{"axis", "", static_cast<int64_t>(d)}});
    gather.written_as = node.op_type;
    g.add_node(gather, last ? node.name : name, {x, list}, {out});
    x = out;
  }
}

/// A Resize to the size that it has, or to elements that are picked unevenly.
void plan_resize(NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  if (node.outputs.size() != 1 || elements(view.dims(0)) == 0 ||
      elements(view.output(0).dims) == 0 || !has_own_scales(view))
    return;
  if (view.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") return;
  if (view.dims(0) == view.output(0).dims &&
      have_same_codes(r.graph(), node.inputs[0], node.outputs[0]))
    r.replace_nodes({r.id_of(node)}, [&node](RebuiltGraph& g) {
      g.add_node(g.new_operator(op::kIdentity, kPlainOpset, {}), node.name, {node.inputs[0]},
                 node.outputs);
    });
  else if (is_float(view.dtype(0)) && is_made_of_moves(view) && !has_even_steps(view))
    r.replace_nodes({r.id_of(node)}, [&node](RebuiltGraph& g) { add_gathers(g, node); });
}

}  // namespace

void plan_move_forms(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || !node.domain.empty()) continue;
    if (node.inputs.empty() || node.inputs[0] == kNoTensor) continue;  // as RandomNormal has none
    if (node.op_type == op::kPad) plan_pad(rewrites, node);
    if (node.op_type == op::kTrilu) plan_triangle(rewrites, node);
    if (node.op_type == op::kResize || node.op_type == op::kUpsample) plan_resize(rewrites, node);
  }
}

}  // namespace accsim::sim
