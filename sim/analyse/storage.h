#pragma once
#include <cstdint>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Where activations lie while the nodes run one after the other, and which node may run when.
/// Constants (weights) aren't part of it, nor are nodes that are computed off line.
struct Storage {
  /// Memory of one or more tensors that show the same bytes. It is live from its writer to its last
  /// user; from before the first step when there is no writer, to the end when it is kept.
  struct Buffer {
    int64_t bytes = 0;
    int writer = -1;                ///< step; -1: a graph input
    bool kept = false;              ///< holds a graph output
    std::vector<int> users;         ///< steps that write or read it, each once, rising
    std::vector<TensorId> tensors;  ///< the one written first, then views and in-place results
  };
  struct Step {
    NodeId node = kNoNode;
    std::vector<int> before;   ///< steps whose results it reads, each once
    std::vector<int> buffers;  ///< what it touches, each once
  };
  std::vector<Buffer> buffers;
  std::vector<Step> steps;  ///< in the graph's order
  int64_t views = 0;        ///< tensors that only show another's bytes under another shape
  int64_t in_place = 0;     ///< tensors that overwrite their input
};

/// The storage of a graph's activations. Views always share their input's buffer. With `in_place`
/// so does the result of an elementwise node or BatchNormalization of the same size. The node must
/// be the only reader of that input and of all that the input is a view of, and the input may be no
/// graph input or output. Sizes must have been checked (analyse()).
Storage storage_of(const Graph& graph, const Lowered& lowered, bool in_place);

/// Does the node only show its first input's bytes under another shape?
bool is_view(const Graph& graph, const Layer& layer);

}  // namespace accsim::sim
