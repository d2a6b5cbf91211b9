#pragma once
#include <map>
#include <string>
#include <tuple>

#include "sim/elaborate/budget.h"
#include "sim/elaborate/graph_builder.h"

namespace accsim::sim {

/// Is the call one of a rotary embedding, of ai.onnx or com.microsoft?
bool is_rotary(const NodeCall& call);

/// Angles of tokens that have been gathered, by cache, positions and shape, with the names of their
/// tensors: who turns by the same ones shares them.
using RotaryAngles =
    std::map<std::tuple<TensorId, TensorId, Dims>, std::pair<TensorId, std::string>>;

/// Adds what the operator stands for, spelled out: the tensor times the cosines, plus the tensor
/// with its halves (or neighbours) in each other's place, the second one negated, times the sines.
/// Rows of the caches are gathered by the positions, once (`known`). Gives the result; kNoTensor,
/// and nothing added, for a form that isn't spelled out: caches wider than the part that turns, one
/// position for many tokens, packed batches, scaled positions, and what the operator's rule
/// refuses.
Result<TensorId> spell_out_rotary(const NodeCall& call, GraphBuilder& builder, Budget& budget,
                                  RotaryAngles& known);

}  // namespace accsim::sim
