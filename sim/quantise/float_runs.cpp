#include "sim/quantise/float_runs.h"

#include <fmt/format.h>

namespace accsim::sim {

FloatRuns::FloatRuns(const Graph& graph, ref::RunOptions options, double percentile,
                     std::set<TensorId> keep)
    : graph_(graph),
      options_(std::move(options)),
      calibration_(graph, percentile),
      keep_(std::move(keep)),
      constants_([this](TensorId id) { return constant_value(id); }) {}

Result<FloatRuns::Kept> FloatRuns::run_float(const ref::Arrays& inputs) {
  if (weights_.empty()) {
    auto loaded = ref::load_weights(graph_, options_.weight_seed, options_.memory);
    if (!loaded) return loaded.errors();
    weights_ = std::move(*loaded);
  }
  Kept out;
  for (const TensorId id : graph_.inputs) {
    const ref::Array& array = inputs.at(graph_.tensor(id).name);
    calibration_.observe_values(id, array);
    if (keep_.contains(id)) out.tensors[id] = array;
  }
  ref::RunOptions options = options_;
  options.loaded = &weights_;
  options.observe = [&](const ref::NodeRun& run) {
    calibration_.observe_values(run);
    const Node& node = graph_.nodes[static_cast<size_t>(run.node)];
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNoTensor || run.outputs[i].empty()) continue;
      if (graph_.tensor(id).constant) computed_[id] = run.outputs[i];
      if (keep_.contains(id)) out.tensors[id] = run.outputs[i];
    }
    return ok();
  };
  auto result = ref::run_graph(graph_, inputs, options);
  if (!result) return result.errors();
  out.result = std::move(*result);
  return out;
}

Result<ref::Array> FloatRuns::constant_value(TensorId id) const {
  if (const auto known = computed_.find(id); known != computed_.end()) return known->second;
  if (const auto at = static_cast<size_t>(id); at < weights_.size() && !weights_[at].empty())
    return weights_[at];
  const Tensor& tensor = graph_.tensor(id);
  if (auto stored = ref::stored_array(graph_, tensor, options_.memory)) return std::move(*stored);
  if (tensor.origin == Tensor::Origin::initializer && options_.weight_seed)
    return ref::random_weights(graph_, id, *options_.weight_seed, options_.memory);
  return Error{Errc::unsupported, fmt::format("constant '{}' isn't known", tensor.name), ""};
}

}  // namespace accsim::sim
