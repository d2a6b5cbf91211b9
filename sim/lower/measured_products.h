#pragma once
#include <map>
#include <set>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// Products of integers whose scale and zero point a node measures in every run, with all that is
/// there for no other reason.
struct MeasuredProducts {
  std::map<NodeId, TensorId> weight_scale;  ///< by product; kNoTensor: its weights have none
  std::set<NodeId> scaling;  ///< products that scale their results to floats themselves
  /// Nodes that only change numbers: the input that their result stands for.
  std::map<NodeId, size_t> passing;
  std::set<NodeId> factors;  ///< what makes factors of the measured scale
};

/// Those behind each node that measures (Codes::measures), as far as nobody else reads what it
/// finds: product -> change to floats -> times a factor with the scale in it.
MeasuredProducts find_measured_products(const Graph& graph);

}  // namespace accsim::sim
