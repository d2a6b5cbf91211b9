#include "sim/quantise/run_int8.h"

#include <fmt/format.h>

#include <map>

#include "sim/quantise/calibration.h"
#include "sim/quantise/quantised_layer.h"
#include "sim/quantise/value_machine.h"
#include "sim/ref/npy.h"
#include "sim/report/write_file.h"

namespace accsim::sim {
namespace {

/// The second run: products on the machine, the rest in float on what they give.
class QuantisedRun {
 public:
  QuantisedRun(const PreparedRun& prepared, const RunRequest& request, const hw::HwConfig& hw,
               const CostedNetwork& network, Calibration calibration)
      : graph_(prepared.graph),
        prepared_(prepared),
        request_(request),
        hw_(hw),
        network_(network),
        calibration_(std::move(calibration)),
        dumper_(request.output, request.dump),
        layers_(quantised_layers(prepared.graph, network)) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      by_node_[layers_[i].first] = i;
      if (layers_[i].residual != kNoTensor) ++residual_uses_[layers_[i].residual];
    }
    for (const TensorId id : graph_.inputs)
      if (residual_uses_.contains(id)) residuals_[id] = prepared.inputs.at(graph_.tensor(id).name);
    for (const QuantisedLayer& l : layers_)
      for (const Layer& merged : network.lowered.layers)
        if (merged.merged_into == static_cast<int>(l.layer) && merged.node > l.first)
          merged_[merged.node] = l.first;
  }

  Result<RunSummary> run_layers(bool layerwise) {
    if (Status s = prepare_output(graph_, request_); !s) return s.errors();
    ref::RunOptions options = run_options(prepared_, request_);
    options.progress = request_.progress;
    if (!layerwise)
      options.substitute = [this](NodeId node, const std::vector<ref::Array>& inputs,
                                  std::vector<ref::Array>& outputs) {
        return substitute_node(node, inputs, outputs);
      };
    options.observe = [this, layerwise](const ref::NodeRun& run) {
      return observe_node(run, layerwise);
    };
    Result<ref::RunResult> result = ref::run_graph(graph_, prepared_.inputs, options);
    if (!result) return result.errors();
    return finish_run(std::move(*result));
  }

 private:
  /// The int8 result of the product that starts at `node`.
  Result<ref::Array> compute_layer(const QuantisedLayer& layer,
                                   const std::vector<ref::Array>& inputs) {
    const Node& node = graph_.nodes[static_cast<size_t>(layer.first)];
    const Layer& lowered = network_.lowered.layers[layer.layer];
    LayerScales scales;
    scales.a = calibration_.symmetric_scale(node.inputs[0]);
    scales.out = calibration_.symmetric_scale(lowered.outputs[0]);
    if (!lowered.function.empty())
      scales.argument = calibration_.symmetric_scale(lowered.function.of);
    if (!graph_.tensor(node.inputs[1]).constant)
      scales.b = calibration_.symmetric_scale(node.inputs[1]);
    const Constants constants = [&](TensorId id) { return constant_value(id, node, inputs); };
    const ref::Array* residual = nullptr;
    if (layer.residual != kNoTensor) {
      scales.residual = calibration_.symmetric_scale(layer.residual);
      residual = &residuals_.at(layer.residual);
    }
    Result<ref::Array> out = run_quantised(graph_, network_, layer, hw_,
                                           {inputs[0], inputs[1], scales, constants, residual});
    if (residual && --residual_uses_.at(layer.residual) == 0) residuals_.erase(layer.residual);
    if (out) return out;
    Errors errors = out.errors();
    for (Error& e : errors)
      e.where =
          fmt::format("node '{}' (int8){}{}", node.name, e.where.empty() ? "" : ": ", e.where);
    return errors;
  }

  /// A constant: one of the node's inputs, stored, or computed off line by other nodes.
  Result<ref::Array> constant_value(TensorId id, const Node& node,
                                    const std::vector<ref::Array>& inputs) {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == id) return inputs[i];
    if (const auto known = constants_.find(id); known != constants_.end()) return known->second;
    const Tensor& tensor = graph_.tensor(id);
    if (auto stored = ref::stored_array(graph_, tensor)) return std::move(*stored);
    if (tensor.origin == Tensor::Origin::initializer && request_.weight_seed)
      return ref::random_weights(graph_, id, *request_.weight_seed);
    return Error{Errc::unsupported,
                 fmt::format("constant '{}' is computed after the product that it is folded into",
                             tensor.name),
                 ""};
  }

  Result<bool> substitute_node(NodeId id, const std::vector<ref::Array>& inputs,
                               std::vector<ref::Array>& outputs) {
    if (merged_.contains(id)) {  // its share of the work is done: the result passes through
      const auto& result = results_.at(merged_.at(id));
      outputs[0] = result;
      return true;
    }
    const auto found = by_node_.find(id);
    if (found == by_node_.end()) return false;
    Result<ref::Array> out = compute_layer(layers_[found->second], inputs);
    if (!out) return out.errors();
    outputs[0] = *out;
    results_[id] = std::move(*out);
    return true;
  }

  Status observe_node(const ref::NodeRun& run, bool layerwise) {
    const Node& node = graph_.nodes[static_cast<size_t>(run.node)];
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (residual_uses_.contains(node.outputs[i])) residuals_[node.outputs[i]] = run.outputs[i];
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoTensor && graph_.tensor(node.outputs[i]).constant &&
          run.outputs[i].size() <= 65536)
        constants_[node.outputs[i]] = run.outputs[i];
    if (merged_.contains(run.node)) {
      const NodeId first = merged_.at(run.node);
      if (layers_[by_node_.at(first)].last == run.node) results_.erase(first);
      return ok();
    }
    const auto found = by_node_.find(run.node);
    if (found == by_node_.end()) return dumper_.add_layer(run, "float");
    const QuantisedLayer& layer = layers_[found->second];
    if (!dumper_.is_wanted(node)) return ok();
    ref::Array out = run.outputs[0];
    if (layerwise) {
      Result<ref::Array> computed = compute_layer(layer, run.inputs);
      if (!computed) return computed.errors();
      out = std::move(*computed);
    }
    return dump_layer(layer, run, out);
  }

  Status dump_layer(const QuantisedLayer& layer, const ref::NodeRun& run, const ref::Array& out) {
    const Node& node = graph_.nodes[static_cast<size_t>(run.node)];
    DumpLayer entry{node.name, node.op_type, {}, {}, "int8"};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoTensor) continue;
      Result<DumpTensor> tensor = dumper_.write_tensor(graph_, node.inputs[i], run.inputs[i]);
      if (!tensor) return tensor.errors();
      entry.inputs.push_back(std::move(*tensor));
    }
    const TensorId id = network_.lowered.layers[layer.layer].outputs[0];
    Result<DumpTensor> tensor = dumper_.write_tensor(graph_, id, out, true);
    if (!tensor) return tensor.errors();
    entry.outputs.push_back(std::move(*tensor));
    dumper_.add_layer(std::move(entry));
    return ok();
  }

  Result<RunSummary> finish_run(ref::RunResult result) {
    RunSummary summary{std::move(result), {}};
    summary.quantised = layers_.size();
    if (Status s = write_outputs(graph_, request_.output, summary); !s) return s.errors();
    if (request_.output.empty()) return summary;
    if (Status s = dumper_.write_manifest(request_.model, "int8"); !s) return s.errors();
    if (!request_.dump.empty()) summary.written.push_back("manifest.json");
    return summary;
  }

  const Graph& graph_;
  const PreparedRun& prepared_;
  const RunRequest& request_;
  const hw::HwConfig& hw_;
  const CostedNetwork& network_;
  Calibration calibration_;
  Dumper dumper_;
  std::vector<QuantisedLayer> layers_;
  std::map<NodeId, size_t> by_node_;
  std::map<NodeId, NodeId> merged_;           ///< merged node -> the product's node
  std::map<NodeId, ref::Array> results_;      ///< by the product's node, until its last merged one
  std::map<TensorId, int> residual_uses_;     ///< products that haven't added it yet
  std::map<TensorId, ref::Array> residuals_;  ///< until all of them have
  std::map<TensorId, ref::Array> constants_;  ///< small ones that nodes have computed
};

}  // namespace

Result<RunSummary> run_quantised_network(const PreparedRun& given, const RunRequest& request,
                                         const hw::HwConfig& machine, bool layerwise) {
  const hw::HwConfig hw = value_machine(machine);
  const Result<CostedNetwork> network = cost_network(given.graph, hw, {});
  if (!network) return network.errors();
  const std::optional<PreparedRun> other = in_blocks(given, *network);
  const PreparedRun& prepared = other ? *other : given;
  const Graph& graph = prepared.graph;
  Calibration calibration(graph);
  ref::RunOptions options = run_options(prepared, request);
  options.progress = request.progress;
  options.observe = [&](const ref::NodeRun& run) {
    calibration.observe_values(run);
    return ok();
  };
  if (const auto reference = ref::run_graph(graph, prepared.inputs, options); !reference)
    return reference.errors();
  return QuantisedRun(prepared, request, hw, *network, std::move(calibration))
      .run_layers(layerwise);
}

}  // namespace accsim::sim
