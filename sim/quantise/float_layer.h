#pragma once
#include <functional>
#include <map>

#include "sim/lower/lower.h"
#include "sim/ref/executor.h"

namespace accsim::sim {

/// Computes what a layer's nodes, those merged into it too, give in float, from the values of the
/// tensors that they read; by tensor.
Result<std::map<TensorId, ref::Array>> run_layer(
    const Graph& graph, const Lowered& lowered, size_t layer,
    const std::function<Result<ref::Array>(TensorId)>& value, const ref::RunOptions& options);

/// The tensors that run_layer() asks for.
std::vector<TensorId> layer_reads(const Graph& graph, const Lowered& lowered, size_t layer);

}  // namespace accsim::sim
