#pragma once
#include <cstdint>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

/// The tensors that go from one iteration of a Loop or Scan to the next, and those of all
/// iterations.
struct IterationValues {
  TensorIds carried;               ///< of the last iteration
  std::vector<TensorIds> scanned;  ///< per output that is collected, one of each iteration

  /// Takes over the outputs of an iteration from number `first` on: the carried ones come before
  /// the collected ones.
  void take_outputs(const TensorIds& outputs, size_t first);
};

/// An output of a Loop or Scan that collects one tensor of each iteration.
struct CollectedOutput {
  size_t output = 0;  ///< of the call
  int64_t axis = 0;   ///< new axis that the iterations lie along; from the end when negative
  const ValueDef* declared = nullptr;  ///< what the body says of one iteration's tensor
};

/// `parts` as one tensor; its id, or kNoTensor when the model doesn't name that output. Without
/// parts it is empty, of the declared shape: Errc::unsupported when none is declared. Errc::invalid
/// when the axis is outside of the tensor.
Result<TensorId> stack_iterations(const NodeCall& call, const CollectedOutput& output,
                                  TensorIds parts, GraphBuilder& builder);

}  // namespace accsim::sim
