#include "sim/analyse/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/analyse/op_kinds.h"
#include "sim/analyse/op_summary.h"
#include "sim/base/check.h"
#include "sim/lower/parameter_sums.h"
#include "sim/operators/node_view.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostCount = int64_t{1} << 62;

/// Sums below can't leave 64 bits when this is good: no tensor has more than kTooMany, and all
/// that nodes read and write together, twice their elements and all MACs stay below 62 bits.
Status check_sizes(const Graph& graph, const Lowered& lowered) {
  for (const Tensor& t : graph.tensors)
    if (elements(t.dims) > kTooMany)
      return Error{
          Errc::overflow,
          fmt::format("tensor '{}' ({}) has more than 2^50 elements; give smaller sizes with "
                      "--bind or --input-shape",
                      t.name, to_string(t.dims)),
          graph.file};
  int64_t sum = 0;
  const auto add = [&sum](int64_t count) {
    return !__builtin_add_overflow(sum, count, &sum) && sum <= kMostCount;
  };
  bool good = true;
  const auto add_tensors = [&](const std::vector<TensorId>& ids) {
    for (TensorId id : ids) {
      if (id == kNoTensor) continue;
      const Tensor& t = graph.tensor(id);
      const int64_t count = elements(t.dims);
      good = good && add(storage_bytes(t.dtype, count)) && add(3 * count);
    }
  };
  add_tensors(graph.inputs);
  for (const Layer& layer : lowered.layers) {
    add_tensors(graph.nodes[static_cast<size_t>(layer.node)].inputs);
    add_tensors(graph.nodes[static_cast<size_t>(layer.node)].outputs);
    good = good && add(layer.macs);
    for (const WorkItem& item : layer.work)
      if (const auto* gemm = std::get_if<GemmOp>(&item)) good = good && add(gemm->macs());
  }
  if (good) return ok();
  return Error{Errc::overflow,
               "its tensors and MACs together leave 62 bits; give smaller sizes with --bind or "
               "--input-shape",
               graph.file};
}

Dims kernel_of(const Graph& graph, const Layer& layer) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.node)];
  const NodeView view(graph, node);
  if (const auto stated = view.attr_ints("kernel_shape")) return *stated;
  if (kind_of(node) != OpKind::convolution) return {};
  for (const WorkItem& item : layer.work)
    if (const auto* gemm = std::get_if<GemmOp>(&item)) {
      if (!view.has_input(gemm->b_port.index())) continue;
      const Dims& weights = view.dims(gemm->b_port.index());
      if (weights.size() > 2) return Dims(weights.begin() + 2, weights.end());
    }
  return {};
}

class Analyser {
 public:
  Analyser(const Graph& graph, const Lowered& lowered, const AnalyseOptions& options)
      : graph_(graph), lowered_(lowered), options_(options) {
    out_.options = options;
  }

  Analysis analyse_graph() {
    count_weights();
    for (TensorId id : graph_.inputs)
      if (!graph_.tensor(id).constant) out_.input_bytes += tensor_bytes(id);
    for (const Layer& layer : lowered_.layers) add_node(layer);
    out_.ops = summarise_ops(graph_);
    plan_memory();
    return std::move(out_);
  }

 private:
  int64_t tensor_bytes(TensorId id) const {
    const Tensor& t = graph_.tensor(id);
    return storage_bytes(t.dtype, elements(t.dims));
  }

  void count_weights() {
    out_.params = lowered_.params;
    out_.buffers = lowered_.buffers;
    out_.weight_bytes = lowered_.weight_bytes;
    const std::vector<bool> is_bias = find_biases(graph_, lowered_);
    counts_.assign(graph_.tensors.size(), false);
    for (const auto& [type, sum] : parameters_by_type(lowered_)) {
      out_.bytes_by_type[type] = sum.bytes;
      out_.params_by_type[type] = sum.count;
    }
    for (const Parameter& p : lowered_.parameters)
      if (!p.buffer && !is_bias[static_cast<size_t>(p.tensor)]) {
        out_.weight_bytes_without_bias += p.bytes;
        counts_[static_cast<size_t>(p.tensor)] = true;
      }
  }

  /// One that isn't a bias.
  bool reads_parameter(const Node& node) const {
    return std::ranges::any_of(node.inputs, [this](TensorId id) {
      return id != kNoTensor && counts_[static_cast<size_t>(id)];
    });
  }

  void add_node(const Layer& layer) {
    const Node& node = graph_.nodes[static_cast<size_t>(layer.node)];
    NodeAnalysis n;
    n.node = layer.node;
    n.constant = node.folded;
    n.view = is_view(graph_, layer);
    n.inputs = shapes_of(graph_, node.inputs);
    n.outputs = shapes_of(graph_, node.outputs);
    n.kernel = kernel_of(graph_, layer);
    n.params = layer.params;
    n.buffers = layer.buffers;
    n.macs = macs_of(graph_, lowered_, layer, options_.macs);
    count_traffic(graph_, layer, n);
    const bool with_weights = options_.reads == ReadConvention::all;
    n.read_bytes = n.activation_read_bytes + (with_weights ? n.weight_read_bytes : 0);
    if (!n.constant)
      for (const TensorId id : node.outputs)
        if (id != kNoTensor && !graph_.tensor(id).constant) n.output_bytes += tensor_bytes(id);
    add_to_totals(node, n);
    out_.nodes.push_back(std::move(n));
  }

  void add_to_totals(const Node& node, const NodeAnalysis& n) {
    out_.macs += n.macs;
    if (n.macs > 0) out_.macs_by_op[op_label(node)] += n.macs;
    out_.activation_read_bytes += n.activation_read_bytes;
    out_.weight_read_bytes += n.weight_read_bytes;
    out_.read_bytes += n.read_bytes;
    out_.write_bytes += n.write_bytes;
    if (n.total_bytes() > most_moved_) {
      most_moved_ = n.total_bytes();
      out_.peak_node = n.node;
    }
    if (reads_parameter(node)) {
      out_.forward_backward_bytes += 2 * n.output_bytes;
      // What is made of a parameter off line stands for it.
      for (const TensorId id : node.outputs)
        if (n.constant && id != kNoTensor) counts_[static_cast<size_t>(id)] = true;
    }
    if (n.constant) return;
    out_.activation.sum_bytes += n.output_bytes;
    for (TensorId id : node.outputs) {
      if (id == kNoTensor || graph_.tensor(id).constant) continue;
      const int64_t size = tensor_bytes(id);
      if (size <= out_.activation.largest_bytes) continue;
      out_.activation.largest_bytes = size;
      out_.activation.largest = id;
    }
  }

  void plan_memory() {
    Activation& a = out_.activation;
    a.storage = storage_of(graph_, lowered_, options_.in_place);
    a.given = plan_in_order(given_order(a.storage));
    if (options_.reorder) a.reordered.push_back(plan_in_order(reorder_steps(a.storage)));
  }

  MemoryPlan plan_in_order(StepOrder order) const {
    const Storage& storage = out_.activation.storage;
    MemoryPlan p;
    p.lives = lives_of_buffers(storage, order);
    p.peak = live_peak(storage, order);
    p.arena = plan_arena(storage, p.lives);
    p.order = std::move(order);
    return p;
  }

  const Graph& graph_;
  const Lowered& lowered_;
  const AnalyseOptions options_;
  int64_t most_moved_ = 0;
  std::vector<bool> counts_;  ///< by tensor: a parameter that isn't a bias, or made of one
  Analysis out_;
};

}  // namespace

Result<Analysis> analyse(const Graph& graph, const Lowered& lowered,
                         const AnalyseOptions& options) {
  check(std::ranges::all_of(lowered.layers, [](const Layer& l) { return l.merged_into < 0; }),
        "analyse() wants nodes that aren't merged: lower_each()");
  if (Status good = check_sizes(graph, lowered); !good) return good.errors();
  return Analyser(graph, lowered, options).analyse_graph();
}

}  // namespace accsim::sim
