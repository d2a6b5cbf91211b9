#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/analyse/live_set.h"
#include "sim/analyse/op_summary.h"
#include "sim/analyse/storage.h"
#include "sim/base/result.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// What counts as a MAC.
enum class MacConvention : uint8_t {
  pure,  ///< multiply-accumulates of products (Conv, Gemm, MatMul and operators that contain them)
  bias,  ///< and 1 per output of a product that has a bias: its own input, or a constant that an
         ///< Add adds to each column or channel of its results (counted at the Add)
  all,   ///< and 2 per element of normalisations, 1 per input element of poolings, 1 per output
         ///< element of activations and other elementwise nodes
};

/// What a node's reads are.
enum class ReadConvention : uint8_t {
  activations,  ///< inputs that differ from run to run
  all,          ///< weights and other constants too
};

/// How analyse() counts, and which memory plans it makes.
struct AnalyseOptions {
  MacConvention macs = MacConvention::pure;
  ReadConvention reads = ReadConvention::activations;
  bool in_place = false;  ///< elementwise nodes overwrite inputs that nobody else reads
  bool reorder = false;
};

/// One node of the graph. Nodes computed off line move nothing and have no MACs.
struct NodeAnalysis {
  NodeId node = kNoNode;
  bool constant = false;              ///< computed off line
  bool view = false;                  ///< moves nothing: the same bytes under another shape
  std::vector<Dims> inputs, outputs;  ///< of those present
  Dims kernel;                        ///< of convolutions and poolings; empty: none
  int64_t params = 0, buffers = 0;
  int64_t macs = 0;  ///< under the convention asked for
  int64_t activation_read_bytes = 0;
  int64_t weight_read_bytes = 0;  ///< constants
  int64_t read_bytes = 0;         ///< under the convention asked for
  int64_t write_bytes = 0;
  int64_t output_bytes = 0;  ///< of outputs that differ from run to run, views too

  int64_t total_bytes() const { return read_bytes + write_bytes; }
};

/// Activation memory of the nodes in one order.
struct MemoryPlan {
  StepOrder order;
  std::vector<Life> lives;  ///< by buffer
  LivePeak peak;            ///< what any plan needs at least
  Arena arena;
};

/// Bytes that nodes write, and how much memory they need at a time.
struct Activation {
  int64_t sum_bytes = 0;  ///< all outputs of nodes that run, views too
  int64_t largest_bytes = 0;
  TensorId largest = kNoTensor;
  Storage storage;
  MemoryPlan given;
  std::vector<MemoryPlan> reordered;  ///< one when asked for, else none
};

/// What analyse() finds: totals of the network, then one entry a node.
struct Analysis {
  AnalyseOptions options;
  int64_t params = 0, buffers = 0;
  int64_t weight_bytes = 0, weight_bytes_without_bias = 0;
  std::map<std::string, int64_t> bytes_by_type, params_by_type;  ///< of the parameters
  int64_t input_bytes = 0;  ///< graph inputs that aren't constant
  /// Twice the outputs of nodes that read parameters other than biases: torchinfo's size of the
  /// forward and backward pass, which are a value and a gradient for what such modules give.
  int64_t forward_backward_bytes = 0;
  int64_t macs = 0;
  std::map<std::string, int64_t> macs_by_op;  ///< operators that have some
  std::map<std::string, OpSummary> ops;
  int64_t read_bytes = 0, write_bytes = 0, weight_read_bytes = 0, activation_read_bytes = 0;
  NodeId peak_node = kNoNode;  ///< most bytes read and written; the first of equals
  Activation activation;
  std::vector<NodeAnalysis> nodes;  ///< in the graph's order

  int64_t total_bytes() const { return read_bytes + write_bytes; }
};

/// Everything that can be said of a network before a machine is known. Uses the parameters,
/// products and data movement of lower_each(); no weight is read. Errors: counts that leave 62
/// bits.
Result<Analysis> analyse(const Graph& graph, const Lowered& lowered, const AnalyseOptions& options);

/// MACs of one node under a convention.
int64_t macs_of(const Graph& graph, const Lowered& lowered, const Layer& layer,
                MacConvention convention);

/// Fills the byte counts of a node: each input and output is moved once, operators that touch only
/// a part (Gather, Slice) move that part. No buffer on chip keeps anything from one node to the
/// next.
void count_traffic(const Graph& graph, const Layer& layer, NodeAnalysis& node);

/// Which tensors only add: biases of products, shifts of normalisations. By tensor id.
std::vector<bool> find_biases(const Graph& graph, const Lowered& lowered);

}  // namespace accsim::sim
