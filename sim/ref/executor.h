#pragma once
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/onnx/weights.h"
#include "sim/ref/array.h"

namespace accsim::sim::ref {

/// Arrays by tensor name.
using Arrays = std::map<std::string, Array>;

/// What an observer sees of a node that has just run. Absent inputs and unused outputs are empty.
struct NodeRun {
  const Graph& graph;
  NodeId node;
  const std::vector<Array>& inputs;
  const std::vector<Array>& outputs;
};

/// Computes a node in the kernel's stead: fills `outputs` (as the node's, of the graph's types and
/// dims) and gives true, or gives false for the kernel to do it.
using Substitute = std::function<Result<bool>(NodeId node, const std::vector<Array>& inputs,
                                              std::vector<Array>& outputs)>;

/// How run_graph() goes about a graph, and who watches.
struct RunOptions {
  int threads = 1;
  /// Weights that the file doesn't have are drawn from this; without it they are an error.
  std::optional<uint64_t> weight_seed;
  /// Counts what arrays hold, weights included, and says how much that may be; beyond it the run is
  /// an error of capacity. Arrays of the caller count where they were made with it. Null: no limit.
  std::shared_ptr<MemoryCount> memory = nullptr;
  /// Operations that nodes may take because of values (RunState::most_operations).
  double operations = std::numeric_limits<double>::infinity();
  /// Elements of stored tensors by tensor id, as load_weights() gives them, for graphs that run
  /// more than once. Empty or absent ones are read when first needed, and freed after use.
  const std::vector<Array>* loaded = nullptr;
  Substitute substitute;
  /// Called after every node, in order, from the calling thread. An error ends the run.
  std::function<Status(const NodeRun&)> observe;
  /// Called before every node with how many are done; false ends the run with an error.
  std::function<bool(size_t done, size_t of)> progress;
};

/// What run_graph() computed and what it took.
struct RunResult {
  Arrays outputs;             ///< by name, as the graph lists them
  int64_t peak_bytes = 0;     ///< most bytes that arrays held at a time, weights included
  size_t random_weights = 0;  ///< stored tensors whose elements were drawn
};

/// Runs a graph in its order. `inputs` must have every graph input with the graph's type and dims.
/// Weights are read when first needed; every array is freed after its last reader, inputs, too,
/// where nobody else has them. Results don't
/// depend on the number of threads. Errors name the node or the tensor.
/// Too little memory is std::bad_alloc: it says nothing of the graph.
Result<RunResult> run_graph(const Graph& graph, Arrays inputs, const RunOptions& options);

/// The error of arrays beyond a limit of memory: how much, and the option.
Error beyond_memory(const BeyondMemory& e, int64_t most, std::string where);

/// All stored tensors that nodes read, by tensor id (the others empty). Errors as run_graph()'s;
/// beyond what `memory` allows it throws BeyondMemory.
Result<std::vector<Array>> load_weights(const Graph& graph, std::optional<uint64_t> weight_seed,
                                        const std::shared_ptr<MemoryCount>& memory = nullptr);

/// Everything in the graph that run_graph() would refuse without looking at numbers: operators
/// without a kernel, element types that aren't kept. Good when there is nothing.
Status check_runnable(const Graph& graph);

/// A tensor for graph input `id`: what the user states (--value), or else a random one: reals from
/// [-1, 1), and integers that index an embedding below its length. Other integers, booleans and
/// strings are 0 or 1. The same name, shape and seed give the same tensor.
Array random_input(const Graph& graph, TensorId id, uint64_t seed,
                   std::shared_ptr<MemoryCount> count = nullptr);

/// Errc::invalid where a tensor of a run has other elements than the user states (--value), or than
/// follow from what he states.
Status check_given(const Tensor& tensor, const Array& array);

/// The elements of a stored tensor from the model's file (or beside it); nullopt when they aren't
/// there.
std::optional<Array> stored_array(const Graph& graph, const Tensor& tensor,
                                  std::shared_ptr<MemoryCount> count = nullptr);
/// Elements as read from a file; nullopt for types that aren't kept.
std::optional<Array> array_of(DType dtype, const Dims& dims, const RawElements& raw);
/// The same for the tensor in a Constant node's attribute.
std::optional<Array> stored_array(const Graph& graph, const StoredTensor& tensor,
                                  std::shared_ptr<MemoryCount> count = nullptr);
/// Random elements for tensor `id` that the file lacks, scaled by what its readers do with it so
/// that values neither vanish nor explode over many layers.
Array random_weights(const Graph& graph, TensorId id, uint64_t seed,
                     std::shared_ptr<MemoryCount> count = nullptr);

}  // namespace accsim::sim::ref
