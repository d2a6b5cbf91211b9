#include "sim/rewrite/tile.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "sim/elaborate/node_label.h"
#include "sim/graph/external_files.h"
#include "sim/graph/graph.h"
#include "sim/onnx/reader.h"
#include "sim/operators/names.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"
#include "sim/rewrite/product.h"
#include "sim/rewrite/restated.h"

namespace accsim::sim {
namespace {

using rewrite::Builder;
using rewrite::Value;

/// Every name that the graph and its subgraphs use.
void collect_names(const GraphDef& graph, std::set<std::string>& out) {
  for (const ValueDef& value : graph.inputs) out.insert(value.name);
  for (const StoredTensor& tensor : graph.initializers) out.insert(tensor.name);
  for (const NodeDef& node : graph.nodes) {
    out.insert(node.name);
    out.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute& attribute : node.attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<const GraphDef>>(&attribute.value))
        collect_names(**inner, out);
  }
}

/// A prefix that no name starts with; noted as used.
std::string fresh_prefix(const std::string& wanted, std::set<std::string>& names) {
  for (int attempt = 1;; ++attempt) {
    std::string prefix = attempt == 1 ? wanted : fmt::format("{}_{}", wanted, attempt);
    const auto next = names.lower_bound(prefix + "/");
    if (next != names.end() && next->starts_with(prefix + "/")) continue;
    names.insert(prefix + "/");
    return prefix;
  }
}

class Tiler {
 public:
  Tiler(const ModelDef& model, const Graph& graph, const TileOptions& options)
      : model_(model), graph_(graph), options_(options), cut_{options.tile, options.pad} {
    collect_names(model.graph, names_);
    for (const Node& node : graph.nodes)
      if (!node.outputs.empty() && node.outputs[0] != kNoTensor)
        nodes_.emplace(graph.tensor(node.outputs[0]).name, &node);
  }

  Result<ModelEdit> cut_layers(TiledModel& out);

 private:
  const Node* product_node(const NodeDef& def, const std::string& name, TiledModel& out) const;
  bool can_cut(std::string_view op_type) const {
    return op_type == op::kGemm || op_type == op::kMatMul ||
           (options_.convolutions && op_type == op::kConv);
  }
  void list_others(TiledModel& out) const;
  Status cut_layer(const Node& node, TiledFrom& from, Builder& builder) const;
  Status cut_gemm(const NodeView& view, Builder& builder) const;
  Value value_of(TensorId id) const {
    const Tensor& t = graph_.tensor(id);
    return {t.name, t.dtype, t.dims, t.constant};
  }

  const ModelDef& model_;
  const Graph& graph_;
  const TileOptions& options_;
  const rewrite::Cut cut_;
  std::set<std::string> names_;
  std::map<std::string, const Node*> nodes_;  ///< of the flat graph, by first output
};

/// The node of the flat graph when it is one to cut.
const Node* Tiler::product_node(const NodeDef& def, const std::string& name,
                                TiledModel& out) const {
  const bool product = can_cut(def.op_type) || def.op_type == op::kConv;
  if (!def.domain.empty() || !product || fnmatch(options_.layers.c_str(), name.c_str(), 0) != 0)
    return nullptr;
  const auto keep = [&](const std::string& why) {
    out.kept.push_back(fmt::format("{} ({}): {}", name, def.op_type, why));
    return nullptr;
  };
  const auto found = def.outputs.empty() ? nodes_.end() : nodes_.find(def.outputs[0]);
  if (found == nodes_.end() || found->second->op_type != def.op_type)
    return keep("its output isn't used");
  const Node& node = *found->second;
  if (node.folded) return keep("a constant");
  if (!can_cut(def.op_type)) return nullptr;  // list_others() says why
  for (const auto* side : {&node.inputs, &node.outputs})
    for (const TensorId id : *side)
      if (id != kNoTensor && elements(graph_.tensor(id).dims) == 0)
        return keep(fmt::format("'{}' has no elements", graph_.tensor(id).name));
  return &node;
}

/// Notes the products that can't be cut by any choice of layers, by operator.
void Tiler::list_others(TiledModel& out) const {
  std::map<std::string_view, const NodeDef*> main_graph;  // by first output
  for (const NodeDef& def : model_.graph.nodes)
    if (!def.outputs.empty()) main_graph.emplace(def.outputs[0], &def);
  std::map<std::pair<std::string, const char*>, int64_t> others;
  for (const auto& [output, node] : nodes_) {
    const OpRow* row = find_op(node->domain, node->op_type);
    if (node->folded || row == nullptr || row->cost == nullptr) continue;
    const auto def = main_graph.find(output);
    // The node that gives a call's output may belong to the called body.
    const bool inner = def == main_graph.end() || def->second->op_type != node->op_type ||
                       def->second->domain != node->domain;
    const bool known =
        node->domain.empty() && (can_cut(node->op_type) || node->op_type == op::kConv);
    if (known && !inner && can_cut(node->op_type)) continue;
    const Result<Work> work = row->cost(NodeView(graph_, *node));
    if (!work || std::ranges::none_of(
                     *work, [](const auto& item) { return std::holds_alternative<GemmOp>(item); }))
      continue;
    ++others[{node->op_type, !known  ? "has no equivalent in MatMuls here"
                             : inner ? "in bodies of functions, If, Loop or Scan, each time that "
                                       "they run, which aren't cut"
                                     : "--conv im2col cuts convolutions, too"}];
  }
  for (const auto& [which, count] : others)
    out.kept.push_back(fmt::format("{} {}: {}", count, which.first, which.second));
}

Status Tiler::cut_gemm(const NodeView& view, Builder& builder) const {
  rewrite::GemmTerms terms;
  terms.a_transposed = view.attr("transA", int64_t{0}) != 0;
  terms.b_transposed = view.attr("transB", int64_t{0}) != 0;
  terms.alpha = view.attr("alpha", 1.0);
  terms.beta = view.attr("beta", 1.0);
  if (!is_float(view.dtype(0)) && (terms.alpha != 1 || terms.beta != 1))
    return Error{
        Errc::unsupported,
        fmt::format("alpha and beta of {} would be rounded; leave the node out with --layers",
                    name(view.dtype(0))),
        ""};
  const auto& inputs = view.node().inputs;
  const Value c = view.has_input(2) ? value_of(inputs[2]) : Value{};
  tiled_gemm(builder, value_of(inputs[0]), value_of(inputs[1]), view.has_input(2) ? &c : nullptr,
             terms, cut_);
  return ok();
}

Status Tiler::cut_layer(const Node& node, TiledFrom& from, Builder& builder) const {
  const NodeView view(graph_, node);
  if (node.op_type == op::kGemm) return cut_gemm(view, builder);
  const Value a = value_of(node.inputs[0]), b = value_of(node.inputs[1]);
  if (node.op_type == op::kMatMul) {
    tiled_matmul(builder, a, b, view.output(0).dims, cut_);
    return ok();
  }
  const Value bias = view.has_input(2) ? value_of(node.inputs[2]) : Value{};
  tiled_conv(builder, a, b, view.has_input(2) ? &bias : nullptr, from.op, cut_);
  return ok();
}

/// Rows, reduction and columns of the products that the layer becomes.
int64_t product_rows(const Graph& graph, const Node& node, const GemmOp& op) {
  if (node.op_type != op::kMatMul) return op.m();
  // Batch dims stay as they are, even where the op takes them for rows.
  const Dims& a = graph.tensor(node.inputs[0]).dims;
  return a.size() == 1 ? 1 : a[a.size() - 2];
}

Result<ModelEdit> Tiler::cut_layers(TiledModel& out) {
  ModelEdit edit;
  Builder builder(graph_.opset, model_.ir_version, fresh_prefix("accsim/tile", names_), edit);
  Errors errors;
  int64_t products = 0;
  for (size_t i = 0; i < model_.graph.nodes.size(); ++i) {
    const NodeDef& def = model_.graph.nodes[i];
    TiledFrom from;
    from.layer = node_name(def, i);
    const Node* node = product_node(def, from.layer, out);
    if (node == nullptr) continue;
    const auto at = [&](const Errors& list) {
      for (const Error& e : list)
        errors.push_back(
            {e.code, e.message, fmt::format("{}: {}", model_.file, node_label(def, from.layer))});
    };
    const Result<Work> work = find_op("", def.op_type)->cost(NodeView(graph_, *node));
    if (!work) {
      at(work.errors());
      continue;
    }
    const auto* op = work->empty() ? nullptr : std::get_if<GemmOp>(&work->front());
    check(op != nullptr, "a product is a GemmOp");
    from.op = *op;
    from.op_type = def.op_type;
    from.tile = options_.tile;
    from.padded = options_.pad;
    const auto count =
        rewrite::tile_count(product_rows(graph_, *node, *op), op->k(), op->n(), options_.tile);
    products += count ? std::min(*count, kMostProducts + 1) : kMostProducts + 1;
    if (products > kMostProducts)
      return Error{
          Errc::capacity,
          fmt::format("more than {} products up to this node; use a larger --tile or choose "
                      "fewer nodes with --layers",
                      kMostProducts),
          fmt::format("{}: {}", model_.file, node_label(def, from.layer))};
    from.products = *count;
    from.prefix = fresh_prefix(from.layer + "/tile", names_);
    for (const TensorId id : node->inputs)
      from.inputs.push_back(id == kNoTensor ? "" : graph_.tensor(id).name);
    from.output = def.outputs[0];
    builder.begin_layer(from.prefix);
    if (const Status done = cut_layer(*node, from, builder); !done) {
      at(done.errors());
      continue;
    }
    edit.replaced.emplace(i, builder.finish_layer(def.outputs[0]));
    out.layers.push_back(std::move(from));
  }
  if (!errors.empty()) return errors;
  list_others(out);
  std::map<std::string_view, const Tensor*> tensors;
  for (const Tensor& tensor : graph_.tensors) tensors.emplace(tensor.name, &tensor);
  edit.restated = rewrite::restated_values(model_.graph, [&](const std::string& name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second;
  });
  return edit;
}

Errors nothing_to_cut(const ModelDef& model, const TileOptions& options, const TiledModel& out) {
  std::string why = fmt::format("no Gemm{} MatMul of the main graph matches --layers '{}'",
                                options.convolutions ? ", Conv or" : " or", options.layers);
  if (!options.convolutions) why += "; --conv im2col takes convolutions, too";
  for (const std::string& kept : out.kept) why += "; kept " + kept;
  return {{Errc::usage, why, model.file}};
}

}  // namespace

Result<TiledModel> tile_model(const std::string& path, const ElaborateOptions& elaborate_options,
                              const TileOptions& options) {
  const Result<ModelDef> model = read_model(path);
  if (!model) return model.errors();
  ElaborateOptions own = elaborate_options;
  own.as_written = true;  // what an operator stands for isn't in the file
  const Result<Graph> graph = elaborate(*model, own);
  if (!graph) return graph.errors();
  if (const Status good = verify_graph(*graph); !good) return good.errors();
  TiledModel out;
  Result<ModelEdit> edit = Tiler(*model, *graph, options).cut_layers(out);
  if (!edit) return edit.errors();
  if (out.layers.empty()) return nothing_to_cut(*model, options, out);
  const auto before = model->metadata.find(kTiledFrom);
  std::string lines = before == model->metadata.end() ? "" : before->second;
  for (const TiledFrom& layer : out.layers) {
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    lines += to_line(layer);
  }
  edit->metadata[kTiledFrom] = lines;
  Result<std::string> bytes = edit_model(path, *edit);
  if (!bytes) return bytes.errors();
  out.bytes = std::move(*bytes);
  const std::set<std::string> external = external_files(*model);
  out.external.assign(external.begin(), external.end());
  out.bindings = graph->bindings;
  return out;
}

}  // namespace accsim::sim
